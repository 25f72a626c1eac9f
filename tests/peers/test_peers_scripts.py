"""Scripts run in the environment of their peer, or else with this Python, without a network."""

from pathlib import Path

import pytest

from harness.peers.locks import read_lock
from harness.peers.scripts import packages_of, run_script
from harness.peers.table import peers

SHOWS = "print('WRONG  calls'); raise SystemExit(1)"


def installed(folder: Path, name: str) -> Path:
    path = folder / name
    (path / "bin").mkdir(parents=True)
    (path / "installed.lock").write_bytes(read_lock(name))
    return path


@pytest.mark.parametrize(
    ("code", "state", "shows_failure"),
    [
        (SHOWS, "fails", True),
        ("print('ok     calls')", "passes", False),
        ("import a_library_that_nobody_installed", "broken", False),
        ("print('WRONG  calls'); raise SystemExit(2)", "broken", False),
    ],
)
def test_the_exit_code_and_the_output_tell_how_a_script_ended(
    tmp_path: Path, code: str, state: str, *, shows_failure: bool
) -> None:
    script = tmp_path / "script.py"
    script.write_text(code, encoding="utf-8")
    ended = run_script(script, "openai-sdk", tmp_path / "environments")
    assert (ended.state, ended.shows_failure) == (state, shows_failure)


@pytest.mark.parametrize("lock", [b"", b"outdated"])
def test_a_script_runs_in_the_environment_of_its_peer(tmp_path: Path, lock: bytes) -> None:
    environments = tmp_path / "environments"
    python = installed(environments, "openai-sdk") / "bin" / "python"
    python.write_text("#!/bin/sh\necho 'WRONG  '; echo $0 $@; exit 1\n", encoding="utf-8")
    python.chmod(0o755)
    if lock:
        (environments / "openai-sdk" / "installed.lock").write_bytes(lock)
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(0)", encoding="utf-8")
    shared = run_script(script, "openai-sdk-responses", environments)
    assert shared.state == "fails"
    assert shared.output.split()[1:] == [str(python), "-I", str(script)]
    assert run_script(script, "groq", environments).state == "passes"


def test_a_script_does_not_see_the_keys_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    script = tmp_path / "script.py"
    text = "import os; print(os.environ.get('OPENAI_API_KEY'), os.environ['HTTPS_PROXY'])"
    script.write_text(text, encoding="utf-8")
    ended = run_script(script, "groq", tmp_path)
    assert ended.output.split() == ["None", "http://127.0.0.1:9"]


def test_a_script_in_javascript_finds_the_packages_of_its_environment(tmp_path: Path) -> None:
    environments = tmp_path / "environments"
    package = installed(environments, "openai-node") / "node_modules" / "openai"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"main": "index.mjs"}', encoding="utf-8")
    (package / "index.mjs").write_text("export default 'WRONG  calls';", encoding="utf-8")
    script = tmp_path / "script.mjs"
    script.write_text(
        "import it from 'openai'; console.log(it); process.exit(1);", encoding="utf-8"
    )
    assert run_script(script, "openai-node", environments).state == "fails"
    assert run_script(script, "openai-node", tmp_path / "elsewhere").state == "not run"
    assert sorted(path.name for path in package.parents[1].iterdir()) == [
        "bin",
        "installed.lock",
        "node_modules",
    ]


@pytest.mark.parametrize("name", peers())
def test_the_packages_are_pins_and_begin_with_the_library(name: str) -> None:
    found = packages_of(name)
    assert found[0] == peers()[name].packages[0]
    assert set(found) <= set(peers()[name].packages)
