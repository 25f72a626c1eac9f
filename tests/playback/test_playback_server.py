"""The loopback server: each read is a chunk on the wire, requests are bounded, nothing leaks."""

import http.client
import json
import resource
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness.playback.server
from harness.errors import UsageError
from harness.playback.delivery import CUTS, paced
from harness.playback.playback import Playback
from harness.playback.request_head import MAX_REQUEST_BYTES, RefusedError
from harness.playback.request_reader import MAX_HEAD_BYTES, RequestMemory, RequestReader
from harness.playback.server import (
    MOST_REFUSALS,
    AnswerServer,
    PlaybackServer,
    allowed_connections,
)
from harness.wire.cassette import Cassette
from harness.wire.cuts import each_byte, split
from harness.wire.interaction import Interaction, Read
from tests.playback.playback_samples import (
    CASSETTES,
    NEVER_CLAIMED,
    PATH,
    cassette,
    interaction,
    interactions,
    reads_of,
)
from tests.tables import each_row

HEAD = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
ASK = f"{HEAD}\r\n".encode()


def talk(server: AnswerServer, sent: bytes) -> bytes:
    """Send bytes, and nothing after them; return all that the server sends."""
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=30) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def talk_or_nothing(server: AnswerServer, sent: bytes) -> bytes:
    """Do as `talk`; a connection that the server drops gives nothing."""
    try:
        return talk(server, sent)
    except OSError:
        return b""


def connected(server: AnswerServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(server)), timeout=30)


def port_of(server: AnswerServer) -> int:
    return int(server.base_url.rpartition(":")[2])


def chunks(wire: bytes) -> list[bytes]:
    """Return the chunks of one whole response."""
    rest = wire.partition(b"\r\n\r\n")[2]
    found: list[bytes] = []
    while True:
        size, _, rest = rest.partition(b"\r\n")
        data, end, rest = (
            rest[: int(size, 16)],
            rest[int(size, 16) :][:2],
            rest[int(size, 16) + 2 :],
        )
        assert end == b"\r\n"
        if not data:
            assert rest == b""
            return found
        found.append(data)


def status_of(wire: bytes) -> int:
    return int(wire.split(b" ", 2)[1])


@given(CASSETTES)
def test_each_read_is_a_chunk_on_the_wire(played: Cassette) -> None:
    with PlaybackServer(Playback(played)) as server:
        for answer in played.interactions:
            wire = talk(server, f"{HEAD}Content-Length: 2\r\n\r\n{{}}".encode())
            assert chunks(wire) == reads_of(answer)
            assert status_of(wire) == answer.status


@given(CASSETTES)
def test_a_client_reads_every_body_over_one_connection(played: Cassette) -> None:
    with PlaybackServer(Playback(played)) as server, httpx.Client(trust_env=False) as client:
        for answer in played.interactions:
            with client.stream("POST", server.base_url + PATH, content=b"{}") as response:
                assert b"".join(response.iter_raw()) == answer.body
                assert response.status_code == answer.status
                assert response.headers["x-request-id"] == "é-1"
                assert not [name for name in NEVER_CLAIMED if name in response.headers]
    assert server.playback.unplayed() == ()


def test_a_read_arrives_before_the_next_one_is_sent() -> None:
    arrived = threading.Semaphore(0)

    class Slow(Playback):
        def reads(self, interaction: Interaction) -> Iterator[bytes]:
            for read in super().reads(interaction):
                yield read
                assert arrived.acquire(timeout=30)

    playback = Slow(cassette(interaction(b"abc")), cuts=CUTS["each-byte"])
    with (
        PlaybackServer(playback) as server,
        httpx.Client(trust_env=False) as client,
        client.stream("POST", server.base_url, content=b"{}") as response,
    ):
        for read in response.iter_raw():
            assert len(read) == 1
            arrived.release()


def test_the_standard_library_reads_it_too_and_the_request_is_kept() -> None:
    playback = Playback(cassette(interaction(b"abc", cuts=(1,)), interaction(b"")))
    with PlaybackServer(playback) as server:
        connection = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=30)
        for wanted in (b"abc", b""):
            connection.request("POST", PATH, body=iter([b'{"a"', b": 1}"]), headers={"X-A": "b"})
            assert connection.getresponse().read() == wanted
        connection.close()
    kept = playback.requests[0].request
    assert (kept.method, kept.uri) == ("POST", server.base_url + PATH)
    assert kept.body == b'{"a": 1}'
    assert ("X-A", "b") in kept.headers


def test_a_client_of_http_1_0_reads_to_the_end() -> None:
    with PlaybackServer(Playback(cassette(interaction(b"a\r\nb")))) as server:
        wire = talk(server, b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
    head, _, body = wire.partition(b"\r\n\r\n")
    assert (body, b"transfer-encoding" in head) == (b"a\r\nb", False)


@each_row(
    ("request_head", "status"),
    [
        ("GET / HTTP/1.1\r\nHost: attacker.example\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1.attacker.example\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:80@attacker.example\r\n\r\n", 421),
        ("GET http://attacker.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 421),
        ("GET / HTTP/1.0\r\n\r\n", 421),
        (f"{HEAD}Origin: http://attacker.example\r\n\r\n", 403),
        (f"{HEAD}Origin: http://127.0.0.1:9\r\n\r\n", 403),
        (f"{HEAD}Origin: null\r\n\r\n", 403),
        (f"{HEAD}Origin: http://127.0.0.1\r\nOrigin: http://attacker.example\r\n\r\n", 403),
        (f"{HEAD}Sec-Fetch-Site: cross-site\r\n\r\n", 403),
        (f"{HEAD}Sec-Fetch-Site: same-site\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        (f"{HEAD}Host: localhost\r\n\r\n", 400),
        ("GET /\r\n\r\n", 400),
        ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET /a#b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (f"{HEAD}A : b\r\n\r\n", 400),
        (f"{HEAD}Content-Length : 2\r\n\r\n{{}}", 400),
        (f"{HEAD}A: b\r\n c\r\n\r\n", 400),
        (f"{HEAD}A: b\rc\r\n\r\n", 400),
        (f"{HEAD}A: b\rContent-Length: 2\r\n\r\n", 400),
        (f"{HEAD}A: b\x00c\r\n\r\n", 400),
        (f"{HEAD}: b\r\n\r\n", 400),
        (f"{HEAD}A\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: localhost\n\n", 400),
        (f"{HEAD}Content-Length: {MAX_REQUEST_BYTES + 1}\r\n\r\n", 413),
        (f"{HEAD}Content-Length: x\r\n\r\n", 400),
        (f"{HEAD}Content-Length: -1\r\n\r\n", 400),
        (f"{HEAD}Content-Length: +2\r\n\r\n{{}}", 400),
        (f"{HEAD}Content-Length: 0x2\r\n\r\n{{}}", 400),
        (f"{HEAD}Content-Length: {'9' * 30}\r\n\r\n", 400),
        (f"{HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}", 400),
        (f"{HEAD}Content-Length: 2, 3\r\n\r\n{{}}", 400),
        (f"{HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{{}}", 400),
        (f"{HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (f"{HEAD}Transfer-Encoding: xchunked\r\n\r\n", 501),
        ("POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (f"{HEAD}Content-Length: 9\r\n\r\n{{}}", 400),
        (f"{HEAD}Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", 400),
        (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n-2\r\n{{}}\r\n", 400),
        (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}x\r\n", 400),
        (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n2\n{{}}\n0\n\n", 400),
        ("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        ("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        ("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 505),
        ("nonsense\r\n\r\n", 400),
        (f"GET /{'x' * 70_000} HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
        (HEAD + f"A: {'b' * 100}\r\n" * 700 + "\r\n", 431),
    ],
)
def test_a_malformed_or_foreign_request_is_refused(request_head: str, status: int) -> None:
    playback = Playback(cassette(interaction(b"secret")))
    with PlaybackServer(playback) as server:
        wire = talk(server, request_head.encode())
    assert status_of(wire) == status
    assert b"secret" not in wire
    assert b"bytearray" not in wire
    assert playback.requests == ()


@each_row(
    "request_head",
    [
        f"{HEAD}Origin: http://127.0.0.1\r\n\r\n",
        f"{HEAD}Sec-Fetch-Site: same-origin\r\n\r\n",
        f"{HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{{}}",
        f"{HEAD}Upgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        "GET http://localhost:1/a HTTP/1.1\r\nHost: localhost:1\r\n\r\n",
        HEAD + "A: b\r\n" * 200 + "\r\n",
    ],
)
def test_an_unusual_but_valid_request_is_answered(request_head: str) -> None:
    with PlaybackServer(Playback(cassette(interaction(b"1")))) as server:
        assert chunks(talk(server, request_head.encode())) == [b"1"]


def test_a_client_that_waits_for_100_continue_gets_it() -> None:
    with PlaybackServer(Playback(cassette(interaction(b"1")))) as server, connected(server) as own:
        own.sendall(f"{HEAD}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode())
        assert own.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        own.sendall(b"{}")
        assert status_of(own.recv(65_536)) == 200


def test_a_client_gets_503_if_the_system_allows_no_further_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_self: threading.Thread) -> None:
        raise RuntimeError

    with answering(9) as server:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", fail)
            wire = talk(server, ASK)
        assert (status_of(wire), b"no further thread" in wire) == (503, True)
        assert chunks(talk(server, ASK)) == [b"1"]


@pytest.mark.parametrize(
    ("soft", "hard", "allowed", "set_to"),
    [
        (10_000, 10_000, 600, None),
        (256, 10_000, 600, 1_328),
        (256, 1_128, 500, 1_128),
        (256, 256, 64, 256),
        (10, 10, 1, 10),
    ],
)
def test_the_limit_of_open_files_is_raised_or_bounds_the_connections(
    soft: int, hard: int, allowed: int, set_to: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    assert allowed_connections(600, 2) == allowed
    assert raised == ([] if set_to is None else [(set_to, hard)])


def test_a_server_says_that_the_limit_of_open_files_bounds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(harness.playback.server, "allowed_connections", lambda *_: 1)
    with answering(9) as server, connected(server):
        assert server.limit_note == (
            "the limit of open files allows 1 open connections, not 9: raise it with `ulimit -n`"
        )
        assert b"1 open connections, its limit" in talk(server, ASK)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered_or_dropped(sent: bytes) -> None:
    with PlaybackServer(Playback(cassette(interaction(b"1")))) as server:
        wire = talk_or_nothing(server, sent + b"\r\n\r\n")
    assert wire == b"" or wire.startswith(b"HTTP/1.1 ")


@given(st.binary(max_size=60), st.sets(st.integers(1, 59)), st.binary(max_size=9))
def test_a_chunked_request_is_read_to_its_end_and_not_beyond(
    body: bytes, cuts: set[int], after: bytes
) -> None:
    pieces = split(body, tuple(sorted(cut for cut in cuts if cut < len(body))))
    framed = b"".join(b"%X;a=b\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
    sent = b"%bTransfer-Encoding: Chunked\r\n\r\n%b0\r\nTrailer: x\r\n\r\n" % (ASK[:-2], framed)
    following = b"%bContent-Length: %d\r\n\r\n%b" % (ASK[:-2], len(after), after)
    assert bodies(sent + following) == [body, after]


@pytest.mark.parametrize(
    "body", [b"1" * MAX_HEAD_BYTES * 2, b"0\r\n" + b"a: b\r\n" * MAX_HEAD_BYTES, b"2\r\n", b"0\r\n"]
)
def test_a_chunked_request_is_bounded(body: bytes) -> None:
    with pytest.raises(RefusedError):
        bodies(b"%bTransfer-Encoding: chunked\r\n\r\n%b" % (ASK[:-2], body))


def bodies(sent: bytes) -> list[bytes]:
    """Return the bodies of the requests that a reader finds in `sent`."""
    found = []
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        near, far = map(stack.enter_context, socket.socketpair())
        pool.submit(send_all, far, sent)
        reader = RequestReader(near)
        try:
            while reader.read_head():
                found.append(reader.read_body())
        finally:
            near.shutdown(socket.SHUT_RDWR)
    return found


def send_all(connection: socket.socket, sent: bytes) -> None:
    with suppress(OSError):
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)


def test_head_and_204_have_no_body() -> None:
    played = cassette(interaction(b"abc"), interaction(b"", status=204), interaction(b"abc"))
    with (
        PlaybackServer(Playback(played)) as server,
        httpx.Client(base_url=server.base_url, trust_env=False) as client,
    ):
        assert client.head("/").content == b""
        assert client.post("/").status_code == 204
        assert client.get("/").text == "abc"


@pytest.mark.parametrize(("status", "body"), [(0, b""), (100, b""), (204, b"x"), (304, b"x")])
def test_what_http_cannot_carry_is_refused_before_it_is_served(status: int, body: bytes) -> None:
    with pytest.raises(UsageError, match="interaction 1 cannot be sent"):
        PlaybackServer(Playback(cassette(interaction(b""), interaction(body, status=status))))


def test_a_taken_port_is_refused() -> None:
    with (
        PlaybackServer(Playback(cassette())) as server,
        pytest.raises(UsageError, match="cannot listen on 127"),
        PlaybackServer(Playback(cassette()), port=port_of(server)),
    ):
        pass


def test_it_ends_while_connections_are_open_and_waiting() -> None:
    threads = threading.active_count()
    body = b"abc"
    slow = Interaction(interaction(body).request, 200, (), body, (Read(1), Read(2, 50_000)))
    started = time.monotonic()
    with (
        socket.socket() as idle,
        PlaybackServer(Playback(cassette(slow)), delays=True) as server,
    ):
        idle.connect(("127.0.0.1", port_of(server)))
        with socket.create_connection(("127.0.0.1", port_of(server))) as waiting:
            waiting.sendall(ASK)
            assert waiting.recv(12) == b"HTTP/1.1 200"
    assert time.monotonic() - started < 30  # far less than the delay that was recorded
    assert threading.active_count() == threads


def answering(most_connections: int) -> AnswerServer:
    """Return a server that answers each request with the same body."""
    answer = interaction(b"1")
    return AnswerServer(
        lambda _request, _wait: (answer, iter(reads_of(answer))), most_connections=most_connections
    )


def test_a_client_beyond_the_limit_gets_503_and_not_a_closed_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.playback.server.REFUSAL_SECONDS", 0.3)
    with answering(3) as server, ExitStack() as stack:
        held = [stack.enter_context(connected(server)) for _ in range(3)]
        beyond = [talk(server, f"{HEAD}Content-Length: 2\r\n\r\n{{}}".encode()) for _ in range(9)]
        silent = stack.enter_context(connected(server))
        assert [status_of(wire) for wire in beyond] == [503] * 9
        error = json.loads(beyond[0].partition(b"\r\n\r\n")[2])["error"]
        assert "3 open connections, its limit" in error["message"]
        assert status_of(silent.recv(65_536)) == 503  # one that sends nothing is told too
        held.pop().close()
        deadline = time.monotonic() + 30
        while status_of(wire := talk(server, ASK)) == 503 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert chunks(wire) == [b"1"]


def test_each_of_200_clients_at_once_is_served() -> None:
    with answering(200) as server, ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(200)]
        for each in clients:
            each.sendall(ASK)
        assert [status_of(each.recv(65_536)) for each in clients] == [200] * 200


def test_more_clients_than_can_be_refused_at_once_wait_for_their_503() -> None:
    count = MOST_REFUSALS + 20
    with answering(1) as server, ExitStack() as stack:
        stack.enter_context(connected(server))
        beyond = [stack.enter_context(connected(server)) for _ in range(count)]
        for each in beyond:
            each.sendall(ASK)
        assert [status_of(each.recv(65_536)) for each in beyond] == [503] * count


def test_a_request_that_does_not_become_complete_gets_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.playback.request_reader._REQUEST_SECONDS", 0.3)
    with answering(9) as server, connected(server) as slow, connected(server) as slower:
        slow.sendall(f"{HEAD}Content-Length: 2\r\n\r\n{{".encode())
        slower.sendall(HEAD.encode())
        assert status_of(slow.recv(65_536)) == 408
        for byte in b"A: b\r\n" * 10:  # each byte comes in time, the head does not
            slower.sendall(bytes([byte]))
            time.sleep(0.01)
        assert status_of(slower.recv(65_536)) == 408


def test_an_idle_connection_is_closed_and_one_that_reads_nothing_is_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.playback.request_reader._IDLE_SECONDS", 0.2)
    monkeypatch.setattr("harness.playback.handler._WRITE_SECONDS", 0.2)
    large = interaction(b"x" * 32_000_000)
    with (
        AnswerServer(lambda _request, _wait: (large, iter([large.body]))) as server,
        connected(server) as idle,
        connected(server) as stalled,
    ):
        stalled.sendall(ASK)
        assert idle.recv(1) == b""
        deadline = time.monotonic() + 30
        while server.open_connections and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.open_connections == 0


class CountedMemory(RequestMemory):
    """The memory for requests, which tells how much of it is held."""

    held = 0

    def take(self, size: int) -> bool:
        taken = super().take(size)
        self.held += size * taken
        return taken


def test_the_bodies_of_all_requests_share_a_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = CountedMemory(100_000)
    monkeypatch.setattr(harness.playback.server, "RequestMemory", lambda: memory)
    body = b"1" * 150_000
    begun = f"{HEAD}Content-Length: {len(body) + 1}\r\n\r\n".encode() + body
    complete = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body
    small = f"{HEAD}Content-Length: 2\r\n\r\n{{}}".encode()
    deadline = time.monotonic() + 30
    with answering(9) as server, connected(server) as holding:
        holding.sendall(begun)
        # Otherwise a request that is read faster would take what this one still needs.
        while memory.held < 65_536 and time.monotonic() < deadline:
            time.sleep(0.01)
        wire = talk(server, complete)
        assert (status_of(wire), b"memory for requests" in wire) == (503, True)
        assert status_of(talk(server, small)) == 200  # each request has a little of its own
        holding.sendall(b"1")
        assert status_of(holding.recv(65_536)) == 200
        while memory.held and time.monotonic() < deadline:
            time.sleep(0.01)
        assert chunks(talk(server, complete)) == [b"1"]


def test_a_surplus_request_is_answered_with_what_was_expected() -> None:
    with PlaybackServer(Playback(cassette(interaction(b"1")), ("path",))) as server:
        wire = talk(server, b"GET /other HTTP/1.1\r\nHost: localhost:1\r\n\r\n")
    error = json.loads(b"".join(chunks(wire)))["error"]
    assert (status_of(wire), error["code"]) == (410, "no_interaction_matches")
    assert server.playback.unplayed() == (0,)


@given(interactions(), st.lists(st.integers(0, 100_000), min_size=9, max_size=9))
def test_paced_reads_wait_for_all_that_began_in_them(
    answer: Interaction, delays: list[int]
) -> None:
    reads = tuple(Read(read.size, delay) for read, delay in zip(answer.reads, delays, strict=False))
    slow = Interaction(answer.request, 200, (), answer.body, reads)
    waited: list[float] = []
    assert list(paced(slow, iter(reads_of(slow)), waited.append)) == reads_of(slow)
    assert waited == [min(read.delay_ms / 1_000, 60) for read in reads if read.delay_ms]
    waited.clear()
    list(paced(slow, split(slow.body, each_byte(slow.body)), waited.append))
    assert waited == [min(read.delay_ms / 1_000, 60) for read in reads if read.delay_ms]
    waited.clear()
    list(paced(slow, iter([slow.body] if slow.body else []), waited.append))
    assert sum(waited) == min(sum(read.delay_ms for read in reads) / 1_000, 60)
