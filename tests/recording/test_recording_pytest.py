"""The plugin's options and fixtures, in a project that only has harness installed."""

import httpx
import httpx2
import pytest

from harness.wire.cassette_file import load_cassette
from tests.recording.paced_server import EVENTS, PacedServer

pytest_plugins = ("pytester",)

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


@pytest.fixture(scope="module", autouse=True)
def _loaded_modules() -> None:
    # Both libraries import their core on first use. pytester forgets modules that its tests import,
    # and a second copy of a core would raise exceptions that the library does not recognize.
    httpx.Client().close()
    httpx2.Client().close()


@pytest.fixture(autouse=True)
def _own_configuration(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\n")


def test_records_once_then_plays_with_the_network_blocked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    server = PacedServer(EVENTS, gated=False)
    sizes = [len(piece) for piece in EVENTS]
    pytester.makepyfile(test_it=TEST.format(url=server.url, sizes=sizes))
    with server.running():
        run(pytester, "-k", "streams", "--harness-record=once").assert_outcomes(passed=2)
    kept = load_cassette(pytester.path / "cassettes" / "test_it" / "test_streams-httpx2.yaml")
    assert kept.interactions[0].body == b"".join(EVENTS)
    run(pytester, "--harness-block-network").assert_outcomes(passed=4)


def test_without_a_cassette_nothing_is_asked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_it=TEST.format(url="http://127.0.0.1:9", sizes=[]))
    blocked = run(pytester, "-k", "streams")
    blocked.assert_outcomes(failed=2)
    blocked.stdout.fnmatch_lines("*sends no requests*")
    monkeypatch.setenv("CI", "1")
    refused = run(pytester, "-k", "streams", "--harness-record=all")
    refused.assert_outcomes(errors=2)
    refused.stdout.fnmatch_lines("*CI is set*")


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    """Run the project's tests in this process, without what it has no use for."""
    left_out = ("cacheprovider", "hypothesispytest", "xdist")
    without = [part for name in left_out for part in ("-p", f"no:{name}")]
    return pytester.runpytest_inprocess(*without, *options)
