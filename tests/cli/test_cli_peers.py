"""`harness peers`: what a user sees without any environment."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.peers.locks import read_lock
from harness.peers.table import peers
from tests.cli.cli_samples import command
from tests.cli.conftest import Harness


@pytest.fixture(autouse=True)
def _no_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_PEERS", str(tmp_path / "environments"))


def test_the_list_has_all_peers_and_their_keys(harness: Harness, tmp_path: Path) -> None:
    left = harness("peers", "list", "--format", "json")
    assert left.code == 0
    assert [row["name"] for row in left.json] == list(peers())
    keys = {
        "name",
        "kind",
        "language",
        "package",
        "version",
        "dialects",
        "state",
        "installed",
        "folder",
    }
    assert all(set(row) == keys for row in left.json)
    assert all(row["state"] == "missing" and not row["installed"] for row in left.json)
    assert all(row["folder"].startswith(str(tmp_path)) for row in left.json)
    assert len(harness("peers", "list").out.splitlines()) == len(peers()) + 1


def test_peers_without_an_environment_are_in_the_matrix_as_not_judged(
    harness: Harness, tmp_path: Path
) -> None:
    results, page = str(tmp_path / "results"), tmp_path / "matrix.md"
    left = harness("peers", "run", "groq", "openai-node", "-o", results, "--today", "2026-11-01")
    assert left.code == 1
    assert "groq" in left.out
    assert left.out.count("not judged: its environment is missing") == 2
    assert harness("peers", "matrix", results, "-o", str(page)).code == 0
    text = page.read_text(encoding="utf-8")
    assert f"0 of {len(peers())} peers judged, 2026-11-01" in text
    assert text.count("its environment is missing") == 2


def test_a_peer_does_not_outlive_the_command(tmp_path: Path) -> None:
    """SIGTERM ends the command at once, with the process of the peer that it waits for."""
    environment = tmp_path / "environments" / "groq"
    package = environment / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    package.mkdir(parents=True)
    (environment / "bin").mkdir()
    # `link_harness` writes bin/harness, which starts this.
    python = environment / "bin" / "python"
    python.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/peer\nexec sleep 60\n", encoding="utf-8")
    python.chmod(0o755)
    (environment / "installed.lock").write_bytes(read_lock("groq"))
    process = subprocess.Popen(command("peers", "run", "groq", "-o", str(tmp_path / "results")))
    wait_until((tmp_path / "peer").exists)
    process.terminate()
    assert process.wait(20) == 130
    peer = (tmp_path / "peer").read_text(encoding="utf-8").strip()
    wait_until(lambda: not Path(f"/proc/{peer}/fd/0").exists())
    record = (tmp_path / "results" / "groq" / "peer.json").read_text(encoding="utf-8")
    assert '"not_judged": "interrupted"' in record


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("not within 30 s")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("install",), "expected either names or --all"),
        (("install", "groq", "--all"), "expected either names or --all"),
        (("install", "grok"), "did you mean 'groq'?"),
        (("run", "grok"), "did you mean 'groq'?"),
        (("exec", "groq", "list", "rules"), "Run `harness peers install groq`"),
        (("matrix", "no-such-folder"), "harness peers run"),
        (("lock",), "expected either names or --all"),
    ],
)
def test_a_usage_error_says_what_to_do(
    harness: Harness, arguments: tuple[str, ...], problem: str
) -> None:
    left = harness("peers", *arguments)
    assert left.code == 2
    assert problem in left.err
