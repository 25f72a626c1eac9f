"""Handle one connection of a loopback server: parse requests, send answers read by read.

Each read is one chunk of the transfer encoding and one write, so that a client that reads chunks
gets the same reads. Only requests for this host are answered. A request that states its length in
two ways is rejected, because the next request of the connection would begin in the middle of it.
Each wait for the client has a limit, so that one that stalls frees its connection.
Source: RFC 9112, sections 6 and 7.
"""

import os
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.message import Message
from http import HTTPStatus
from http.client import responses
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase, BufferedReader, RawIOBase
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from harness.playback.transports import Answer, RawHeaders, headers_to_send
from harness.turns.exact_json import encode_json
from harness.wire.interaction import BROKEN, Ended, Interaction, Request

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# More than providers accept, but not enough to fill the memory.
MAX_REQUEST_BYTES: Final = 32 * 1024 * 1024
# Of all requests together, without those up to the size that each connection may hold.
MAX_SHARED_BYTES: Final = 64 * 1024 * 1024

_OWN_BYTES: Final = 65_536
_PIECE_BYTES: Final = 65_536
_MOST_LINE_BYTES: Final = 4_096
_MOST_TRAILERS: Final = 100
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)


class RefusedError(Exception):
    """A request that is not read to its end, so that its connection must be closed.

    Args:
        status: of the response.
        message: the reason.
    """

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class RequestMemory:
    """The bytes that the requests of all connections may hold at the same time.

    Args:
        most: how many, without the first 64 KiB of each request.
    """

    def __init__(self, most: int = MAX_SHARED_BYTES) -> None:
        self._left = most
        self._lock = Lock()

    def take(self, size: int) -> bool:
        """Return whether `size` bytes more are free, and take them; a negative size frees them."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True


class _Reservation:
    """What one request holds of the shared memory; its end frees that."""

    def __init__(self, memory: RequestMemory) -> None:
        self._memory = memory
        self._received = self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._memory.take(-self._taken)

    def add(self, size: int) -> None:
        """Count received bytes.

        Raises:
            RefusedError: the requests of all connections hold too much.
        """
        self._received += size
        more = max(0, self._received - _OWN_BYTES) - self._taken
        if not self._memory.take(more):
            raise RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "the bodies of other requests fill the memory for requests: try again later",
            )
        self._taken += more


def read_body(
    file: BufferedIOBase, headers: Message, count: Callable[[int], None] = lambda _: None
) -> bytes:
    """Return the body of the request whose head was read from `file`.

    Args:
        file: contains the body next.
        headers: of the request.
        count: called with the size of each piece that was read; may raise `RefusedError`.

    Raises:
        RefusedError: it is too large, truncated, or not framed as HTTP requires.
    """
    lengths = {value.strip() for value in headers.get_all("content-length", ())}
    codings = [value.strip().lower() for value in headers.get_all("transfer-encoding", ())]
    if codings:
        if codings != ["chunked"] or lengths:
            raise _bad_request(
                "expected a transfer-encoding of 'chunked' and no content-length with it"
            )
        return b"".join(_chunks(file, count))
    if not lengths:
        return b""
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise _bad_request("expected one content-length in digits")
    return b"".join(_pieces(file, _bounded(int(length)), count))


def _chunks(file: BufferedIOBase, count: Callable[[int], None]) -> Iterator[bytes]:
    total = 0
    while size := _chunk_size(file):
        total = _bounded(total + size)
        yield from _pieces(file, size, count)
        if _line(file).strip():
            raise _bad_request("expected a line end after a chunk")
    for _ in range(_MOST_TRAILERS):
        if not _line(file).strip():
            return
    raise _bad_request(f"expected at most {_MOST_TRAILERS} trailers")


def _chunk_size(file: BufferedIOBase) -> int:
    found = _CHUNK_SIZE.fullmatch(_line(file))
    if not found:
        raise _bad_request("expected the size of a chunk")
    return int(found[1], 16)


def _line(file: BufferedIOBase) -> bytes:
    line = file.readline(_MOST_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise _bad_request(f"expected a line of at most {_MOST_LINE_BYTES} bytes in a chunked body")
    return line


def _pieces(file: BufferedIOBase, size: int, count: Callable[[int], None]) -> Iterator[bytes]:
    """Yield `size` bytes, piece by piece, so that only what has come takes memory."""
    left = size
    while left:
        piece = file.read(min(left, _PIECE_BYTES))
        if not piece:
            raise _bad_request(f"expected {size} bytes of body, found {size - left}")
        count(len(piece))
        left -= len(piece)
        yield piece


def _bounded(size: int) -> int:
    if size > MAX_REQUEST_BYTES:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"expected at most {MAX_REQUEST_BYTES} bytes of body",
        )
    return size


def _bad_request(message: str) -> RefusedError:
    return RefusedError(HTTPStatus.BAD_REQUEST, message)


AnswerRequest: TypeAlias = Callable[[Request], Answer]

BODILESS: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})

_CHUNKED: Final = ((b"transfer-encoding", b"chunked"),)
_CLOSE: Final = ((b"connection", b"close"),)
_JSON: Final = ((b"content-type", b"application/json"),)
_AT_ONCE: Final = struct.pack("ii", 1, 0)  # struct linger: closing the socket resets the connection
_LINGER_SECONDS: Final = 1.0
_MOST_LINGER_SECONDS: Final = 5.0
_LINGERING_READ_BYTES: Final = 65_536
_IDLE_SECONDS: Final = 300.0  # an agent may wait long between two requests
_REQUEST_SECONDS: Final = 60.0
_WRITE_SECONDS: Final = 60.0
_REFUSAL_SECONDS: Final = 2.0
_LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})


class _TimedReader(RawIOBase):
    """Reads a connection: a request may begin late, and must then be complete in time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline: float | None = None

    def readable(self) -> bool:
        return True

    def expect_request(self) -> None:
        """Wait for the first bytes of the next request."""
        self._deadline = None

    def readinto(self, buffer: "WriteableBuffer") -> int:
        if self._deadline is None:
            self._connection.settimeout(_IDLE_SECONDS)
            size = self._connection.recv_into(buffer)
            self._deadline = time.monotonic() + _REQUEST_SECONDS
            return size
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class LoopbackHandler(BaseHTTPRequestHandler):
    """Reads the requests of one connection, one after the other; a subclass answers them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Limit the time of each request."""
        super().setup()
        self.rfile.close()
        self._reader = _TimedReader(self.connection)
        self.rfile = BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        """Handle the next request of the connection."""
        self._reader.expect_request()
        super().handle_one_request()

    def respond(self, request: Request) -> None:
        """Send the answer to `request`."""
        raise NotImplementedError

    def handle_request(self) -> None:
        """Read one request and answer it."""
        memory: RequestMemory = self.server.request_memory  # type: ignore[attr-defined]
        with _Reservation(memory) as reserved:
            try:
                request = self._request(reserved.add)
            except RefusedError as error:
                self.send_error(error.status, str(error))
                return
            except TimeoutError:
                most = f"expected the complete request within {_REQUEST_SECONDS:.0f} seconds"
                self.send_error(HTTPStatus.REQUEST_TIMEOUT, most)
                return
            self.respond(request)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_request  # noqa: N815 - the names that http.server looks for

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Reject the request and close the connection, because the next one's start is unknown."""
        del explain
        status = HTTPStatus(code)
        self.close_connection = True
        self.send(status, _JSON, iter([_error_document(status, message or status.phrase)]))
        linger(self.connection)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the name and types of http.server
        """Log nothing, because the playback keeps all requests."""

    def _request(self, count: Callable[[int], None]) -> Request:
        host = self.headers.get("host", "")
        name, _, port = host.partition(":")
        if name.lower() not in _LOCAL_HOSTS or (port and not port.isdecimal()):
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST, "expected the Host 127.0.0.1 or localhost"
            )
        body = read_body(self.rfile, self.headers, count)
        uri = f"http://{host}{self.path}" if self.path.startswith("/") else self.path
        return Request(self.command, uri, tuple(self.headers.items()), body)

    def play(self, answer: Interaction, reads: Iterator[bytes]) -> None:
        """Send `answer` with its body in `reads`, and end the body as recorded."""
        has_body = self.command != "HEAD" and answer.status not in BODILESS
        headers = headers_to_send(answer)
        self.send(answer.status, headers, reads if has_body else None, lambda: answer.ended)

    def send(
        self,
        status: int,
        headers: RawHeaders,
        reads: Iterator[bytes] | None,
        ended: Callable[[], Ended] = lambda: "complete",
    ) -> None:
        """Send a response; a client of HTTP/1.0 gets no chunks and reads until the end.

        Args:
            status: its code.
            headers: without those of the framing.
            reads: its body, each of them one chunk and one write; None if it has none.
            ended: returns how the body ended; called after the last read.
        """
        chunked = self.request_version == self.protocol_version
        self.close_connection = self.close_connection or not chunked
        framing = _CHUNKED if chunked and reads is not None else ()
        self.connection.settimeout(_WRITE_SECONDS)
        self.send_head(status, (*headers, *framing, *(_CLOSE if self.close_connection else ())))
        for read in reads or ():
            if not chunked:
                self.wfile.write(read)
            elif len(read) <= _PIECE_BYTES:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(read), read))
            else:  # without a copy for each connection
                self.wfile.write(b"%x\r\n" % len(read))
                self.wfile.write(read)
                self.wfile.write(b"\r\n")
        how = ended()
        if how in BROKEN:
            self._break_off(reset=how == "reset")
        elif framing:
            self.wfile.write(b"0\r\n\r\n")

    def _break_off(self, *, reset: bool) -> None:
        """Close the connection in the middle of the body, as the recorded server did."""
        self.close_connection = True
        if reset:  # closed without a shutdown, which would look like the end of the body
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            os.close(self.connection.detach())

    def send_head(self, status: int, headers: RawHeaders) -> None:
        """Send the head of a response."""
        lines = [f"{self.protocol_version} {status} {responses.get(status, '')}".encode()]
        lines += [name + b": " + value for name, value in headers]
        self.wfile.write(b"\r\n".join([*lines, b"", b""]))


class AnswerHandler(LoopbackHandler):
    """Sends the answer that a function returns."""

    def __init__(self, answer: AnswerRequest, *connection: Any) -> None:  # noqa: ANN401 - the arguments of socketserver
        self._answer = answer
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Send the answer to `request`, read by read, and end the body as it says."""
        self.play(*self._answer(request))


def linger(connection: socket.socket) -> None:
    """Read what the client still sends; otherwise it would lose the answer."""
    deadline = time.monotonic() + _MOST_LINGER_SECONDS
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(_LINGER_SECONDS)
        while time.monotonic() < deadline and connection.recv(_LINGERING_READ_BYTES):
            pass


def refuse_connection(connection: socket.socket, message: str) -> None:
    """Answer the first request of a connection that the server cannot keep: status 503.

    A client that sends nothing gets the answer too.
    """
    connection.settimeout(_REFUSAL_SECONDS)
    with suppress(TimeoutError):
        connection.recv(_LINGERING_READ_BYTES)
    status = HTTPStatus.SERVICE_UNAVAILABLE
    body = _error_document(status, message)
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    linger(connection)


def _error_document(status: HTTPStatus, message: str) -> bytes:
    error = {"code": status.name.lower(), "message": message, "type": "replay_server"}
    return encode_json({"error": error})
