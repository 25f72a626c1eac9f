"""The live page: one page for all who ask, made anew when the run grew, for this machine alone."""

import gzip
import random
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path

import msgspec
import pytest

from harness.cli.live_server import Live, LiveServer
from harness.errors import UnreadableError
from harness.files.write import partial_path
from harness.reporting.page import render_page
from harness.reporting.report import ReportContext
from harness.results.run import Run
from harness.results.store import RunWriter
from tests.reporting.conftest import build


@pytest.fixture(scope="module")
def sample() -> Run:
    return build()


def _start(path: Path, run: Run) -> None:
    with RunWriter(path) as writer:
        writer.header(run.header)
        for result in run.results[:2]:
            writer.add(result)


def _page(live: Live) -> str:
    return gzip.decompress(live.newest()[1]).decode()


def test_the_page_is_made_anew_only_when_the_run_grew(sample: Run, tmp_path: Path) -> None:
    made: list[int] = []
    path = tmp_path / "run.jsonl"

    def render(run: Run) -> str:
        made.append(len(run.results))
        return str(len(run.results))

    live = Live(path, render)
    with RunWriter(path) as writer:
        writer.header(sample.header)
        writer.add(sample.results[0])
        first = live.newest()
        assert live.newest() == first
        writer.add(sample.results[1])
        assert live.newest()[0] != first[0]
        writer.finish()
    assert _page(live) == "2"
    assert made == [1, 2, 2]


def test_no_run_and_a_run_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live(tmp_path / "run.jsonl", str)
    with pytest.raises(UnreadableError, match="no such run"):
        live.newest()
    monkeypatch.setattr("harness.cli.live_server.MAX_BYTES", 3)
    (tmp_path / "run.jsonl").write_bytes(b"long")
    with pytest.raises(UnreadableError, match="larger than 3 bytes"):
        live.newest()


@pytest.fixture
def server(sample: Run, tmp_path: Path) -> Iterator[LiveServer]:
    path = tmp_path / "run.jsonl"
    _start(path, sample)
    assert partial_path(path).exists()
    with LiveServer(Live(path, lambda run: f"{len(run.results)} cells")) as started:
        yield started


def _ask(server: LiveServer, path: str = "/", **headers: str) -> tuple[int, bytes]:
    connection = HTTPConnection(server.base_url.removeprefix("http://"), timeout=5)
    connection.putrequest("GET", path, skip_host=True)
    named = {"Host": server.base_url.removeprefix("http://")} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    for name, value in named.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    connection.close()
    return answer.status, body


def test_it_serves_the_run_that_goes_on(server: LiveServer) -> None:
    status, body = _ask(server)
    assert (status, gzip.decompress(body)) == (200, b"2 cells")
    assert _ask(server, "/version")[0] == 200
    assert _ask(server, "/etc/passwd")[0] == 404


def test_each_of_200_clients_at_once_is_served(server: LiveServer) -> None:
    address = server.base_url.removeprefix("http://")
    with ExitStack() as stack:
        clients = [stack.enter_context(closing(HTTPConnection(address))) for _ in range(200)]
        for each in clients:
            each.request("GET", "/version")
        assert [each.getresponse().status for each in clients] == [200] * 200


def test_a_tab_that_closes_leaves_no_traceback(
    sample: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    _start(path, sample)
    # More than the buffers of a connection; gzip halves it.
    page = random.Random(0).randbytes(8 << 20).hex()  # noqa: S311 - not a secret
    with LiveServer(Live(path, lambda _: page)) as started:
        host, _, port = started.base_url.removeprefix("http://").partition(":")
        for _ in range(3):
            with socket.create_connection((host, int(port)), timeout=5) as tab:
                tab.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
                assert tab.recv(100).startswith(b"HTTP/1.1 200")
                linger = struct.pack("ii", 1, 0)  # closing resets the connection
                tab.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        assert _ask(started, "/version")[0] == 200
    assert capfd.readouterr() == ("", "")


def test_the_page_of_a_run_in_progress_has_the_number_of_planned_cells(sample: Run) -> None:
    header = msgspec.structs.replace(sample.header, cell_count=90)
    run = msgspec.structs.replace(sample, header=header, footer=None)
    page = render_page(run, ReportContext(live=True))
    assert "Cells so far: 84 of 90 <progress" in page


def test_a_request_from_another_site_is_refused(server: LiveServer) -> None:
    port = server.base_url.rpartition(":")[2]
    assert _ask(server, Host=f"localhost:{port}")[0] == 200
    assert _ask(server, Host=f"evil.example:{port}")[0] == 421
    assert _ask(server, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert _ask(server, Origin="http://127.0.0.1:1")[0] == 403
    assert _ask(server, Origin="http://evil.example")[0] == 403
    assert _ask(server, Origin="null")[0] == 403
    assert _ask(server, "/version", Sec_Fetch_Site="cross-site")[0] == 403
    assert _ask(server, Sec_Fetch_Site="cross-site")[0] == 200  # a link to the page
