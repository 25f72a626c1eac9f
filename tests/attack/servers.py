"""Malformed and hostile requests, sent to the server of `serve` and to the recording proxy.

Each request gets an answer in time: an error that closes the connection if it is malformed, and
the exact chunks of its stream if it is valid. Another client, whose connection is open at the same
time, gets its own stream. The upstream of the proxy gets what was answered, below its base.
"""

import posixpath
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from typing import ClassVar
from urllib.parse import unquote

from harness.playback.selection import Recording, SelectionServer
from harness.recording.proxy import RecordingProxy
from harness.recording.recorder import Recorder
from harness.wire.cassette import Cassette, Origin
from harness.wire.cuts import split
from harness.wire.interaction import Interaction, Read, Request
from tests.attack.attack import Attack
from tests.attack.http_requests import (
    ENDS_EARLY,
    PATH,
    REFUSED,
    REFUSED_BY_PROXY,
    Sent,
    changed,
    plain,
    unusual,
)

_STREAMS = 6
_SECONDS = 20
_BASE = "/base"
_HEADERS = (("Content-Type", "text/event-stream"),)
_REFUSALS = {*range(400, 500), 501, 505}
_MARKER = re.compile(rb"stream-(\d+)-")
# Attempts that one set of servers gets, so that the proxy does not keep all recordings.
_ATTEMPTS_EACH = 500


def _reads(stream: int) -> list[bytes]:
    """Return the body of a stream, which no other stream has, read by read."""
    return [b"data: stream-%d-%d%b\n\n" % (stream, n, b"." * (n * 7 % 5)) for n in range(1, 6)]


@dataclass(frozen=True)
class _Answer:
    """A response; `chunks` is None if its body has none."""

    status: int
    body: bytes
    chunks: list[bytes] | None = None

    def is_stream(self, stream: int) -> bool:
        """Return whether it is a stream, chunk for chunk."""
        reads = _reads(stream)
        return self.body == b"".join(reads) and self.chunks in (None, reads)


class _Upstream(BaseHTTPRequestHandler):
    """A lenient server that notes the targets of its requests."""

    protocol_version = "HTTP/1.1"
    targets: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.targets.append(self.path)
        self.rfile.read(int(self.headers.get("content-length", 0)))
        found = re.search(rf"{PATH.decode()}(\d)", self.path)
        self.send_response(200)
        self.send_header(*_HEADERS[0])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for read in _reads(int(found[1])) if found else ():
            self.wfile.write(b"%x\r\n%b\r\n" % (len(read), read))
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST  # noqa: N815 - the names of http.server

    def log_message(self, *_arguments: object) -> None:
        pass


@dataclass(frozen=True)
class _Server:
    """A server under attack.

    Fields:
        targets: of the requests that its upstream got; grows. Empty if it has none.
    """

    port: int
    targets: list[str]
    is_proxy: bool


@lru_cache(1)
def _servers(_block: int) -> tuple[_Server, _Server]:
    """Start the servers of some attempts, and stop those of the attempts before."""
    _STARTED.close()
    served = SelectionServer(map(_recording, range(_STREAMS)))
    _Upstream.targets.clear()
    upstream = _STARTED.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), _Upstream))
    Thread(target=upstream.serve_forever, args=(0.01,), daemon=True).start()
    _STARTED.callback(upstream.shutdown)
    folder = _STARTED.enter_context(TemporaryDirectory())
    recorder = Recorder(Path(folder) / "a.yaml", mode="all", allow_in_ci=True)
    _STARTED.enter_context(recorder)
    base = f"http://127.0.0.1:{upstream.server_port}{_BASE}/"
    proxy = RecordingProxy(recorder, base)
    for each in (served, proxy):
        each._daemon = True  # the process ends without a last attempt that could stop them
        _STARTED.enter_context(each)
    ports = (int(each.base_url.rpartition(":")[2]) for each in (served, proxy))
    return _Server(next(ports), [], is_proxy=False), _Server(
        next(ports), _Upstream.targets, is_proxy=True
    )


_STARTED = ExitStack()


def _recording(stream: int) -> Recording:
    reads = _reads(stream)
    answer = Interaction(
        Request("POST", "https://api.example.com/v1/chat/completions"),
        200,
        _HEADERS,
        b"".join(reads),
        tuple(Read(len(read)) for read in reads),
    )
    return Recording(f"s{stream}", Cassette(f"s{stream}", (answer,), Origin("emulated")))


def _attempt(number: int) -> Iterator[str]:
    random = Random(number)  # noqa: S311 - no secrets
    server = random.choice(_servers(number // _ATTEMPTS_EACH))
    own, other = random.sample(range(_STREAMS), 2)
    host = random.choice([b"127.0.0.1:%d", b"localhost:%d"]) % server.port
    request = plain(random, host, own)
    before = len(server.targets)
    with _connected(server) as beside:
        beside.sendall(plain(random, host, other).joined())
        kind, sent, expected = _hostile(random, server, request)
        try:
            answers = list(_answers(_talk(server, random, sent)))
            beside.shutdown(socket.SHUT_WR)
            others = list(_answers(_received(beside)))
        except (OSError, ValueError) as error:
            yield f"{kind}: {type(error).__name__}: {error} after {sent[:200]!r}"
            return
    what = f"{kind}: {sent[:300]!r} was answered with {[each.status for each in answers]}"
    if [(each.status, each.chunks) for each in others] != [(HTTPStatus.OK, _reads(other))]:
        yield f"{what}: the other client got {others}"
    yield from (f"{what}: {each}" for each in _wrong(answers, expected, own, sent))
    if server.is_proxy:
        new = server.targets[before:]
        yield from (f"{what}: the upstream got {each!r}" for each in new if not _is_below(each))
        answered = sum(each.status == HTTPStatus.OK for each in answers) + 1
        if len(new) != answered:
            yield f"{what}: {answered} answers, but the upstream got {new}"


def _hostile(
    random: Random, server: _Server, request: Sent
) -> tuple[str, bytes, list[bool] | None]:
    """Return the kind of attack, its bytes, and whether each request in it must be answered.

    None instead: any of them may be.
    """
    draw = random.random()
    if draw < 0.6:
        form = random.choice(REFUSED_BY_PROXY if server.is_proxy else REFUSED)
        first = [request.joined()] if random.random() < 0.2 else []
        sent = form(random, request)
        if random.random() < 0.5 and form not in ENDS_EARLY:
            sent += request.joined()
        return form.__name__, b"".join([*first, sent]), [*(True for _ in first), False]
    if draw < 0.8:
        count = random.choice([1, 1, 2, 3])
        sent = b"".join(unusual(random, request).joined() for _ in range(count))
        if random.random() < 0.2:  # the server closes the connection before the last one
            closing = request.with_header(random, b"Connection", b"close").joined()
            return "unusual, then closed", sent + closing + sent, [True] * (count + 1)
        if random.random() < 0.2:
            last = replace(request, version=b"HTTP/1.0")
            return "unusual, HTTP/1.0 last", sent + last.joined(), [True] * (count + 1)
        return "unusual", sent, [True] * count
    sent = unusual(random, request).joined() + request.joined() * random.choice([0, 1])
    return "changed", changed(random, sent), None


def _wrong(
    answers: Sequence[_Answer], expected: list[bool] | None, own: int, sent: bytes
) -> Iterator[str]:
    """Yield what is wrong with the answers to one connection."""
    if not answers:
        yield "no answer"
    named = {int(each) for each in re.findall(rb"%b(\d)" % PATH, sent)}
    for answer in answers:
        streams = {int(each) for each in _MARKER.findall(answer.body)}
        if answer.status != HTTPStatus.OK:
            if answer.status not in _REFUSALS or streams:
                yield f"expected an error, found {answer}"
        elif expected is not None or streams:
            allowed = named if expected is None else {own}
            if not any(answer.is_stream(each) for each in allowed):
                yield f"expected a stream of {allowed}, found {answer}"
    if expected is not None and [each.status == HTTPStatus.OK for each in answers] != expected:
        yield f"expected answered requests {expected}"


def _is_below(target: str) -> bool:
    """Return whether a server that decodes and resolves `target` stays below the base."""
    path = target.partition("?")[0]
    for _ in range(9):
        path = unquote(path)
    path = path.replace("\\", "/").replace("\0", "/").replace(";", "/")
    words = "/".join(each.strip() for each in path.split("/"))
    return posixpath.normpath(words).startswith(f"{_BASE}/") and not words.startswith("//")


def _connected(server: _Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=_SECONDS)


def _talk(server: _Server, random: Random, sent: bytes) -> bytes:
    """Send bytes in pieces, and return all that comes back."""
    cuts = sorted(random.sample(range(1, len(sent)), min(len(sent) - 1, random.choice([0, 1, 3]))))
    with _connected(server) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError):  # the server has answered, and closed the connection
            for piece in split(sent, tuple(cuts)):
                connection.sendall(piece)
            connection.shutdown(socket.SHUT_WR)
        return _received(connection)


def _received(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def _answers(wire: bytes) -> Iterator[_Answer]:
    """Yield each response in `wire`.

    Raises:
        ValueError: it is not a sequence of complete responses.
    """
    while wire:
        head, end, wire = wire.partition(b"\r\n\r\n")
        found = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [^\r\n]*((?:\r\n[^\r\n:]+: [^\r\n]*)*)", head)
        if not found or not end:
            raise ValueError(f"expected a response, found {head[:200]!r}")
        status, headers = int(found[1]), found[2].lower()
        if status == HTTPStatus.CONTINUE:
            continue
        length = re.search(rb"\r\ncontent-length: (\d+)", headers)
        if b"\r\ntransfer-encoding: chunked" in headers:
            chunks, wire = _chunks(wire)
            yield _Answer(status, b"".join(chunks), chunks)
        else:
            size = int(length[1]) if length else len(wire)
            yield _Answer(status, wire[:size])
            wire = wire[size:]


def _chunks(wire: bytes) -> tuple[list[bytes], bytes]:
    """Return the chunks of a body, and what follows it."""
    chunks: list[bytes] = []
    while True:
        size, _, wire = wire.partition(b"\r\n")
        chunk, wire = wire[: int(size, 16)], wire[int(size, 16) :]
        if not wire.startswith(b"\r\n"):
            raise ValueError(f"expected a chunk of {size!r} bytes, found {chunk[:80]!r}")
        wire = wire[2:]
        if not chunk:
            return chunks, wire
        chunks.append(chunk)


ATTACK = Attack(lambda number: list(_attempt(number)), full=200_000, part=150, block=50)
