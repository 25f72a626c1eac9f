"""Handle one connection of a loopback server: parse requests, send answers read by read.

Each read is one chunk of the transfer encoding and one write, so that a client that reads chunks
gets the same reads. Only requests for this host are answered. A request that states its length in
two ways is rejected, because the next request of the connection would begin in the middle of it.
Source: RFC 9112, sections 6 and 7.
"""

import os
import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.message import Message
from http import HTTPStatus
from http.client import responses
from http.server import BaseHTTPRequestHandler
from io import BufferedIOBase
from typing import Any, Final, TypeAlias

from harness.playback.playback import Playback
from harness.playback.transports import RawHeaders, headers_to_send
from harness.turns.exact_json import encode_json
from harness.wire.interaction import BROKEN, Ended, Interaction, Request

# More than providers accept, but not enough to fill the memory.
MAX_REQUEST_BYTES: Final = 32 * 1024 * 1024

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


def read_body(file: BufferedIOBase, headers: Message) -> bytes:
    """Return the body of the request whose head was read from `file`.

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
        return b"".join(_chunks(file))
    if not lengths:
        return b""
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise _bad_request("expected one content-length in digits")
    return _exactly(file, _bounded(int(length)))


def _chunks(file: BufferedIOBase) -> Iterator[bytes]:
    total = 0
    while size := _chunk_size(file):
        total = _bounded(total + size)
        yield _exactly(file, size)
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


def _exactly(file: BufferedIOBase, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise _bad_request(f"expected {size} bytes of body, found {len(data)}")
    return data


def _bounded(size: int) -> int:
    if size > MAX_REQUEST_BYTES:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"expected at most {MAX_REQUEST_BYTES} bytes of body",
        )
    return size


def _bad_request(message: str) -> RefusedError:
    return RefusedError(HTTPStatus.BAD_REQUEST, message)


Pace: TypeAlias = Callable[[Interaction, Iterator[bytes]], Iterator[bytes]]

BODILESS: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})

_CHUNKED: Final = ((b"transfer-encoding", b"chunked"),)
_CLOSE: Final = ((b"connection", b"close"),)
_JSON: Final = ((b"content-type", b"application/json"),)
_AT_ONCE: Final = struct.pack("ii", 1, 0)  # struct linger: closing the socket resets the connection
_LINGER_SECONDS: Final = 1.0
_LINGERING_READ_BYTES: Final = 65_536
_MOST_LINGERING_READS: Final = 1_024
_LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})


class LoopbackHandler(BaseHTTPRequestHandler):
    """Reads the requests of one connection, one after the other; a subclass answers them."""

    protocol_version = "HTTP/1.1"
    timeout = 300.0  # an agent may wait long between two requests
    disable_nagle_algorithm = True

    def respond(self, request: Request) -> None:
        """Send the answer to `request`."""
        raise NotImplementedError

    def handle_request(self) -> None:
        """Read one request and answer it."""
        try:
            request = self._request()
        except RefusedError as error:
            self.send_error(error.status, str(error))
            return
        self.respond(request)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_request  # noqa: N815 - the names that http.server looks for

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Reject the request and close the connection, because the next one's start is unknown."""
        del explain
        status = HTTPStatus(code)
        self.close_connection = True
        error = {"code": status.name.lower(), "message": message or status.phrase}
        self.send(status, _JSON, iter([encode_json({"error": error | {"type": "replay_server"}})]))
        self._linger()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the name and types of http.server
        """Log nothing, because the playback keeps all requests."""

    def _request(self) -> Request:
        host = self.headers.get("host", "")
        name, _, port = host.partition(":")
        if name.lower() not in _LOCAL_HOSTS or (port and not port.isdecimal()):
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST, "expected the Host 127.0.0.1 or localhost"
            )
        body = read_body(self.rfile, self.headers)
        uri = f"http://{host}{self.path}" if self.path.startswith("/") else self.path
        return Request(self.command, uri, tuple(self.headers.items()), body)

    def play(self, answer: Interaction, reads: Iterator[bytes]) -> None:
        """Send `answer` with its body in `reads`, and end the body as recorded."""
        has_body = self.command != "HEAD" and answer.status not in BODILESS
        headers = headers_to_send(answer.headers)
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
        self.send_head(status, (*headers, *framing, *(_CLOSE if self.close_connection else ())))
        for read in reads or ():
            self.wfile.write(b"%x\r\n%b\r\n" % (len(read), read) if chunked else read)
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

    def _linger(self) -> None:
        """Read what the client still sends; otherwise it would lose the answer."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_LINGER_SECONDS)
            for _ in range(_MOST_LINGERING_READS):
                if not self.connection.recv(_LINGERING_READ_BYTES):
                    return

    def send_head(self, status: int, headers: RawHeaders) -> None:
        """Send the head of a response."""
        lines = [f"{self.protocol_version} {status} {responses.get(status, '')}".encode()]
        lines += [name + b": " + value for name, value in headers]
        self.wfile.write(b"\r\n".join([*lines, b"", b""]))


class Handler(LoopbackHandler):
    """Answers from a playback."""

    def __init__(self, playback: Playback, pace: Pace, *connection: Any) -> None:  # noqa: ANN401 - the arguments of socketserver
        self._playback = playback
        self._pace = pace
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Send the recorded answer to `request`, read by read, and end the body as recorded."""
        answer = self._playback.answer(request)
        self.play(answer, self._pace(answer, self._playback.reads(answer)))
