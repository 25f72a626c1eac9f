"""`harness init` and `harness doctor` in the project of a user."""

import shutil
from pathlib import Path

import pytest

from harness.project import project
from harness.starters import starters
from tests.cli.conftest import Harness

WRITTEN = (
    "pyproject.toml",
    "conformance_client.py",
    "tests/test_conformance.py",
    ".github/workflows/conformance.yml",
    "cassettes/dashscope/qwen-plus/first.yaml",
    "scenarios/first.yaml",
)
ONE = ("--cuts", "quick", "--no-report")


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_init_writes_a_project_that_runs(harness: Harness) -> None:
    left = harness("init", "harness.normalizers.reference:normalizer")
    assert left.code == 0
    assert "wrote  pyproject.toml: [tool.harness]" in left.out
    assert [name for name in WRITTEN if not Path(name).exists()] == ["conformance_client.py"]
    assert list(project().table.normalizers) == ["ours"]
    found = harness("run", "scenarios", *ONE)
    assert (found.code, found.out) == (0, "ok    ours: 1 cell conforms\n")
    test = Path("tests/test_conformance.py").read_text()
    assert 'conformance_suite("ours")' in test


def test_without_a_client_init_writes_one_to_complete(harness: Harness) -> None:
    left = harness("init")
    assert all(Path(name).exists() for name in WRITTEN)
    assert "Complete the function in conformance_client.py" in left.err
    red = harness("run", "scenarios", *ONE)
    assert red.code == 1
    assert "NotImplementedError: call your client here" in red.out
    assert 'File "conformance_client.py", line 12, in call_my_client' in red.out
    # A client that crashes in each cell tests nothing, so its failures are not accepted.
    assert harness("run", "scenarios", *ONE, "--accept-new").code == 1


def test_init_overwrites_nothing(harness: Harness) -> None:
    Path("pyproject.toml").write_text('[project]\nname = "mine"')
    Path("tests").mkdir()
    Path("tests/test_conformance.py").write_text("kept = True\n")
    left = harness("init", "openai-sdk", "--name", "installed")
    assert "kept   tests/test_conformance.py: it exists" in left.out
    assert Path("tests/test_conformance.py").read_text() == "kept = True\n"
    table = Path("pyproject.toml").read_text()
    assert table.startswith('[project]\nname = "mine"\n\n[tool.harness]\n')
    assert 'target = "harness.normalizers.sdk.adapters:openai_sdk"' in table
    workflow = Path(".github/workflows/conformance.yml").read_text()
    assert "pytest -e .\n" in workflow
    assert "path: reports/runs" in workflow  # the history, with which the next run is compared
    assert "key: conformance-${{ github.ref }}-${{ github.run_id }}" in workflow
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    again = harness("init", "openai-sdk")
    assert "wrote" not in again.out
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_init_refuses_an_unknown_client_and_accepts_one_to_be_written(harness: Harness) -> None:
    unknown = harness("init", "openai-skd")
    assert (unknown.code, "unknown client" in unknown.err) == (2, True)
    assert not Path("pyproject.toml").exists()
    later = harness("init", "not_written_yet:normalize")
    assert later.code == 0
    assert "Fix the import of the client" in later.err


def test_doctor_plays_plain_responses_to_the_client_of_the_project(harness: Harness) -> None:
    harness("init")
    unfinished = harness("doctor")
    assert unfinished.code == 1
    assert "FAIL  ours reads plain responses of openai-chat (10)" in unfinished.out
    assert "one call: NO-CRASH" in unfinished.out
    table = Path("pyproject.toml").read_text().splitlines()
    kept = [line for line in table if not line.startswith("target")]
    right = 'target = "harness.normalizers.reference:normalizer"'
    Path("pyproject.toml").write_text("\n".join([*kept, right, ""]))
    ready = harness("doctor")
    assert "ok    ours reads plain responses of openai-chat (10)" in ready.out


def test_doctor_checks_the_project_of_a_user(harness: Harness) -> None:
    harness("init", "harness.normalizers.reference:normalizer")
    well = harness("doctor")
    assert (well.code, "FAIL" in well.out) == (0, False)
    assert len(harness("doctor", "--format", "json").json) == len(well.out.splitlines())
    first = Path("scenarios/first.yaml").read_text()
    Path("scenarios/second.yaml").write_text(first.replace("/first", "/second"))
    Path("pyproject.toml").write_text(
        '[tool.harness]\npaths = ["nowhere"]\n[tool.harness.normalizers.other]\n'
        'target = "not_written_yet:normalize"\n'
    )
    ill = harness("doctor")
    assert ill.code == 1
    for text in (
        "other: not_written_yet:normalize: ModuleNotFoundError",
        "nowhere: no such file or folder",
        "scenarios: paths in [tool.harness] does not list this folder",
        "there is no cassette 'dashscope/qwen-plus/second'",
    ):
        assert text in ill.out


def test_init_declares_a_command_in_the_table_of_a_python_project(harness: Harness) -> None:
    Path("pyproject.toml").write_text("[project]\nname = 'mine'\n")
    harness("init", "client:node client.mjs")
    assert project().table.normalizers["ours"].target == "client:node client.mjs"
    assert not Path("harness.toml").exists()


@pytest.mark.parametrize("language", starters())
def test_init_writes_a_driver_in_the_language_of_the_repository(
    language: str, harness: Harness
) -> None:
    starter = starters()[language]
    Path(starter.markers[0].replace("*", "app")).write_text("{}")
    left = harness("init")
    assert left.code == 0
    assert not Path("pyproject.toml").exists()
    assert not Path("tests").exists()
    assert project().table.normalizers["ours"].target == f"client:{starter.command}"
    assert project().table.requirement_set == "smoke"
    workflow = Path(".github/workflows/conformance.yml").read_text()
    assert starter.toolchain in workflow
    assert "pytest" not in workflow
    for path, text in starter.texts.items():
        assert Path(path).read_text() == text


@pytest.mark.parametrize(
    ("language", "manifest", "unfinished"),
    [
        ("node", "{}", "complete readTurn"),
        ("rust", '[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n', "read_turn"),
        ("java", "", "complete readTurn"),
        ("go", "module mine\n", "complete readTurn"),
    ],
)
def test_written_driver_speaks_the_protocol(
    language: str, manifest: str, unfinished: str, harness: Harness
) -> None:
    starter = starters()[language]
    if shutil.which(starter.command.split()[0]) is None:
        pytest.skip(f"{language} is not installed")
    Path(starter.markers[0]).write_text(manifest)
    Path("src").mkdir()
    Path("src/lib.rs").touch()  # what cargo expects of a package
    harness("init")
    found = harness("doctor", "--client", starter.command)
    assert found.code == 1
    assert found.out.startswith("ok    hello: my-client")
    assert unfinished in found.out
