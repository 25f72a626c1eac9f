"""Environments: their state follows the lock, and they contain this harness. No network."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.peers import environment as environments
from harness.peers.environment import environment_of, install, link_harness
from harness.peers.table import default_folder, peers
from harness.project import project


@pytest.fixture(name="tools")
def _tools(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Replace package managers by a list of their command lines; venvs are real and empty."""
    called: list[tuple[str, ...]] = []
    real: Callable[[tuple[str, ...], Path], str] = environments.run_tool

    def record(command: tuple[str, ...], folder: Path) -> str:
        called.append(command)
        return real((*command, "--without-pip"), folder) if "venv" in command else ""

    monkeypatch.setattr(environments, "run_tool", record)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    return called


def test_the_state_follows_the_lock(
    tmp_path: Path, tools: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_of(peers()["openai-node"], tmp_path)
    states = [environment.state]
    install(environment)
    states.append(environment.state)
    assert states == ["missing", "installed"]
    assert tools == [("npm", "ci", *tools[0][2:])]
    monkeypatch.setattr(environments, "read_lock", lambda _name: b"openai@99")
    assert environment_of(peers()["openai-node"], tmp_path).state == "outdated"


def test_a_failed_installation_keeps_the_older_environment(
    tmp_path: Path, tools: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_command: tuple[str, ...], _folder: Path) -> str:
        raise UsageError("no network")

    environment = environment_of(peers()["openai-node"], tmp_path)
    install(environment)
    monkeypatch.setattr(environments, "run_tool", fail)
    with pytest.raises(UsageError, match="no network"):
        install(environment)
    assert environment.state == "installed"
    assert len(tools) == 1
    assert [each.name for each in tmp_path.iterdir()] == [environment.name]


def test_a_folder_of_the_user_is_never_an_environment(
    tmp_path: Path, tools: list[tuple[str, ...]]
) -> None:
    environment = environment_of(peers()["openai-node"], tmp_path)
    environment.path.mkdir()
    (environment.path / "work.py").write_text("mine")
    with pytest.raises(UsageError, match="the harness did not make"):
        install(environment)
    assert (environment.path / "work.py").read_text() == "mine"
    assert not tools


def test_a_python_environment_has_the_lock_and_this_harness(
    tmp_path: Path, tools: list[tuple[str, ...]]
) -> None:
    environment = environment_of(peers()["openai-sdk-responses"], tmp_path)
    assert environment.path == tmp_path / "openai-sdk"
    install(environment)
    link_harness(environment)  # as each run does
    assert tools[0][:3] == (sys.executable, "-m", "venv")
    assert tools[1][-3:-1] == ("--no-deps", "-r")
    assert tools[1][-1].endswith("locks/openai-sdk.txt")
    (package,) = environment.path.glob("lib/python*/site-packages/harness")
    assert package.resolve() == Path(environments.__file__).parents[1].resolve()
    (points,) = environment.path.glob("lib/python*/site-packages/*.dist-info/entry_points.txt")
    assert "openai-sdk = " in points.read_text(encoding="utf-8")


def test_a_driver_is_known_by_the_name_of_its_peer(
    tmp_path: Path, tools: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = peers()["openai-node"]
    install(environment_of(peer, tmp_path))
    monkeypatch.chdir(tmp_path / peer.environment)
    target = project().table.normalizers[peer.name].target
    assert target == f"client:node run-driver.mjs {peer.name}"
    assert Path(f"{peer.name}.mjs").is_file()
    assert Path("run-driver.mjs").is_file()
    assert tools


def test_the_default_folder_is_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "harness" / "peers"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification says to ignore
    assert default_folder() == Path.home() / ".cache" / "harness" / "peers"


def test_a_tool_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"false in .*failed with exit code 1"):
        environments.run_tool(("false",), tmp_path)
    with pytest.raises(UsageError, match="cannot start"):
        environments.run_tool(("no-such-tool",), tmp_path)
