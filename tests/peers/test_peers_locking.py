"""Locks are written from what package managers resolve. No network."""

from pathlib import Path

import msgspec
import pytest

from harness.peers import locking, locks
from harness.peers.locks import locked_versions, read_lock
from harness.peers.table import peers

FREEZE = """\
WARNING: a mirror==slow is not available
openai==3.54.0
typing_extensions==4.16.0
PyYAML==6.0.3
local @ file:///tmp/local
"""
NPM_LOCK = {
    "name": "openai-node",
    "packages": {
        "": {"dependencies": {"openai": "6.49.0"}},
        "node_modules/openai": {
            "version": "6.49.0",
            "resolved": "https://example.org/openai.tgz",
            "integrity": "sha512-x",
        },
        "node_modules/openai/node_modules/ws": {"version": "1.0.0"},
    },
}


@pytest.fixture(autouse=True)
def _folder_of_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_LOCKS", tmp_path / "locks")


def test_a_python_lock_is_what_was_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []

    def pip(_folder: Path, action: str, *options: str) -> str:
        installed.extend(options)
        return FREEZE if action == "freeze" else ""

    monkeypatch.setattr(locking, "create_venv", lambda _folder: None)
    monkeypatch.setattr(locking, "pip", pip)
    (path,) = locking.write_lock(peers()["openai-sdk-responses"])
    assert path.name == "openai-sdk.txt"
    assert path.read_text() == "openai==3.54.0\npyyaml==6.0.3\ntyping-extensions==4.16.0\n"
    assert installed[:1] == ["openai==3.54.0"]
    assert any(each.startswith("msgspec") for each in installed)  # of the harness itself
    assert not any("pytest" in each for each in installed)  # of an extra


def test_an_npm_lock_has_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def npm(_command: tuple[str, ...], folder: Path) -> str:
        (folder / "package-lock.json").write_bytes(msgspec.json.encode(NPM_LOCK))
        return ""

    monkeypatch.setattr(locking, "run_tool", npm)
    package, _ = locking.write_lock(peers()["openai-node"])
    assert msgspec.json.decode(package.read_bytes())["dependencies"] == {"openai": "6.49.0"}
    assert locked_versions("openai-node") == {"openai": "6.49.0"}
    assert b"example.org" not in read_lock("openai-node")
    assert b"sha512-x" in read_lock("openai-node")
