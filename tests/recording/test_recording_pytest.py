"""The plugin's options and fixtures, in a project that only has harness installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.wire.cassette_file import load
from tests.recording.paced_server import EVENTS, PacedServer

TEST = """
import socket
import httpx, httpx2, pytest

@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_streams(harness_client, library):
    client = harness_client(library)
    with client.stream("POST", "{url}/v1/chat/completions", json={{"model": "m"}}) as response:
        assert [len(piece) for piece in response.iter_raw()] == {sizes}

def test_other_machines():
    for ask in (lambda: socket.create_connection(("192.0.2.1", 9), timeout=0.01),
                lambda: socket.getaddrinfo("api.example.com", 443)):
        with pytest.raises(Exception, match="blocked"):
            ask()

def test_this_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in `folder`, without this repository's own configuration."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    left_out = ("cacheprovider", "hypothesispytest", "xdist")
    without = [part for name in left_out for part in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", "-q", *without, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_records_once_then_plays_with_the_network_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    server = PacedServer(EVENTS, gated=False)
    sizes = [len(piece) for piece in EVENTS]
    (tmp_path / "test_it.py").write_text(TEST.format(url=server.url, sizes=sizes))
    with server.running():
        recorded = run(tmp_path, "-k", "streams", "--harness-record=once")
    assert recorded.returncode == 0, recorded.stdout
    kept = load(tmp_path / "cassettes" / "test_it" / "test_streams-httpx2.yaml")
    assert kept.interactions[0].body == b"".join(EVENTS)
    played = run(tmp_path, "--harness-block-network")
    assert played.returncode == 0, played.stdout
    assert "4 passed" in played.stdout


def test_without_a_cassette_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_it.py").write_text(TEST.format(url="http://127.0.0.1:9", sizes=[]))
    blocked = run(tmp_path, "-k", "streams")
    assert blocked.returncode == 1
    assert "asks no server" in blocked.stdout
    monkeypatch.setenv("CI", "1")
    refused = run(tmp_path, "-k", "streams", "--harness-record=all")
    assert refused.returncode == 1
    assert "CI is set" in refused.stdout
