"""The proxy passes on what is meant for the upstream, and says so where there is no answer."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from harness.errors import UsageError
from harness.recording.proxy import RecordingProxy, parse_upstream
from harness.recording.recorder import Recorder
from harness.wire.cassette_file import load_cassette
from tests.recording.paced_server import EVENTS, PacedServer

PATH = "/v1/chat/completions"


@contextmanager
def proxy_to(url: str, path: Path, mode: str = "all") -> Iterator[RecordingProxy]:
    with (
        Recorder(path, mode=mode, allow_in_ci=True) as recorder,
        RecordingProxy(recorder, url) as proxy,
    ):
        yield proxy


def test_headers_of_one_connection_stay_on_it(tmp_path: Path) -> None:
    headers = ["connection: x-hop", "x-hop: 1", "keep-alive: timeout=9", "x-end: 2"]
    server = PacedServer(EVENTS, gated=False, headers=headers)
    with server.running(), proxy_to(server.url + "/base/", tmp_path / "a.yaml") as proxy:
        sent = {
            "connection": "x-mine, keep-alive",
            "x-mine": "1",
            "x-key": "2",
            "te": "trailers",
            "accept-encoding": "br;q=0.5, lzma, gzip",
        }
        answer = httpx.post(f"{proxy.base_url}{PATH}?q=a%20b", content=b"{}", headers=sent)
    head = server.requests[0][0].lower()
    assert head.startswith(b"post /base/v1/chat/completions?q=a%20b http/1.1\r\n")
    for there in (b"x-key: 2", b"accept-encoding: gzip, br\r\n", server.url[7:].encode()):
        assert there in head
    for gone in (b"x-mine", b"\r\nte:", b"connection:", b"lzma"):
        assert gone not in head
    assert answer.headers["x-end"] == "2"
    assert not {"x-hop", "keep-alive"} & set(answer.headers)


def test_a_client_of_http_1_0_reads_to_the_end(tmp_path: Path) -> None:
    server = PacedServer(EVENTS, gated=False)
    with server.running(), proxy_to(server.url, tmp_path / "a.yaml") as proxy:
        host, _, port = proxy.base_url[7:].partition(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(f"GET {PATH} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.endswith(b"\r\n\r\n" + b"".join(EVENTS))
    assert load_cassette(tmp_path / "a.yaml").interactions[0].request.method == "GET"


def test_no_upstream_is_a_bad_gateway(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with proxy_to(f"http://127.0.0.1:{port}", tmp_path / "a.yaml") as proxy:
        answer = httpx.post(proxy.base_url + PATH, content=b"{}")
    assert answer.status_code == 502
    assert "no response from the upstream" in answer.json()["error"]["message"]
    assert not list(tmp_path.iterdir())


def test_it_plays_what_is_recorded_and_blocks_the_rest(tmp_path: Path) -> None:
    server = PacedServer(EVENTS, gated=False)
    path = tmp_path / "a.yaml"
    with server.running(), proxy_to(server.url, path) as proxy:
        httpx.post(proxy.base_url + PATH, content=b"{}")
    with proxy_to(server.url, path, "none") as proxy:
        answers = [httpx.post(proxy.base_url + PATH, content=b"{}") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 410]
    assert answers[0].content == b"".join(EVENTS)
    assert "sends no requests" in answers[1].json()["error"]["message"]


def test_it_is_no_forward_proxy(tmp_path: Path) -> None:
    with proxy_to("http://127.0.0.1:9", tmp_path / "a.yaml") as proxy:
        host, _, port = proxy.base_url[7:].partition(":")
        for line, status in (
            (f"GET http://{host}/x HTTP/1.1\r\nHost: {host}\r\n\r\n", b"400"),
            ("GET /x HTTP/1.1\r\nHost: api.example.com\r\n\r\n", b"421"),
        ):
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(line.encode())
                assert connection.recv(65_536).split()[1] == status


@pytest.mark.parametrize("address", ["", "localhost:1", "http://", "http://h:x", "http://h?a=1"])
def test_an_upstream_is_an_address(address: str) -> None:
    with pytest.raises(UsageError, match="expected an"):
        parse_upstream(address)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def test_a_silent_upstream_does_not_delay_the_end(tmp_path: Path) -> None:
    path, event = tmp_path / "a.yaml", EVENTS[0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        with proxy_to(f"http://127.0.0.1:{server.getsockname()[1]}", path) as proxy:
            host, port = proxy.base_url.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port))) as client:
                client.sendall(f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
                upstream, _ = server.accept()
                upstream.sendall(HEAD + b"%x\r\n%b\r\n" % (len(event), event))
                received = b""
                while event not in received:
                    received += client.recv(65_536)
            start = time.monotonic()
        took = time.monotonic() - start
        upstream.close()
    assert took < 3
    kept = load_cassette(path).interactions[0]
    assert (kept.ended, kept.body) == ("aborted", event)
