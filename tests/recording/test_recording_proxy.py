"""The proxy passes on what is meant for the upstream, and says so where there is no answer."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from harness.errors import UsageError
from harness.recording.proxy import RecordingProxy, outside_reason, parse_upstream
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
        answer = answer_to(proxy, f"GET {PATH} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
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


@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/v1",
        "//evil.example/v1",
        "/%2fevil.example",
        "/\\evil.example",
        "/%5Cevil.example",
        "/..",
        "/v1/../../admin",
        "/v1/..?a=b",
        "/v1/%2e%2e/admin",
        "/v1/.%2E/admin",
        "/v1/%252e%252e/admin",
        "/v1/%25252525252e%252e/admin",
        "/v1%2f..%2fadmin",
        "/v1/..%5cadmin",
        "/v1\\..\\admin",
        "/v1/..;a=b/admin",
        "/v1/..%00/admin",
        "/v1/..%20/admin",
    ],
)
def test_a_path_that_may_leave_the_upstream_is_refused(target: str) -> None:
    assert outside_reason(target).startswith("expected a path")


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/v1/models/gemini-2.5:streamGenerateContent?alt=sse&next=../a",
        "/model/arn%3Aaws%3Abedrock%3Aa%2Fb/converse",
        "/v1/a..b/..c/...",
        "/v1/%E6%98%A5/%25",
    ],
)
def test_a_path_below_the_upstream_is_forwarded(target: str) -> None:
    assert outside_reason(target) == ""


def test_a_foreign_or_malformed_request_does_not_reach_the_upstream(tmp_path: Path) -> None:
    server = PacedServer(EVENTS, gated=False)
    path = tmp_path / "a.yaml"
    with server.running(), proxy_to(server.url + "/base", path) as proxy:
        host = proxy.base_url.removeprefix("http://")
        for line, header, status in (
            (PATH, "Origin: http://evil.example", 403),
            (PATH, "Sec-Fetch-Site: cross-site", 403),
            (PATH, "A : b", 400),
            (PATH, "A: b\r\n c", 400),
            ("/v1/%2e%2e/%2e%2e/admin", "A: b", 400),
        ):
            request = f"GET {line} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n\r\n"
            assert answer_to(proxy, request.encode()).split()[1] == str(status).encode()
    assert server.requests == []
    assert not path.exists()


def test_a_folded_header_of_the_upstream_becomes_one_line(tmp_path: Path) -> None:
    server = PacedServer(EVENTS, gated=False, headers=["x-folded: a\r\n b", "x bad: 1"])
    with server.running(), proxy_to(server.url, tmp_path / "a.yaml") as proxy:
        head = answer_to(proxy, f"GET {PATH} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
    assert b"\r\nx-folded: a b\r\n" in head
    assert b"x bad" not in head


def answer_to(proxy: RecordingProxy, request: bytes) -> bytes:
    host, _, port = proxy.base_url[7:].partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


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
