"""Handle one connection of a loopback server: answer its requests, read by read.

Each read is one chunk of the transfer encoding and one write, so that a client that reads chunks
gets the same reads. Each wait for the client has a limit.
Source: RFC 9112, sections 6 and 7.
"""

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from http.client import responses
from socketserver import BaseRequestHandler
from threading import Event
from typing import Any, ClassVar, Final, TypeAlias

from harness.playback.request_head import RefusedError, RequestHead
from harness.playback.request_reader import RequestMemory, RequestReader, Reservation
from harness.playback.session_answers import answer_session
from harness.playback.transports import Answer, RawHeaders, headers_to_send
from harness.playback.websocket import (
    INSTALL_HINT,
    WebSocketConnection,
    is_available,
    is_upgrade,
)
from harness.turns.exact_json import encode_json
from harness.wire.interaction import BROKEN, Ended, Interaction, Request

# Returns the answer to a request. It gets a function that sleeps for some seconds, see `wait`.
AnswerRequest: TypeAlias = Callable[[Request, Callable[[float], object]], Answer]

BODILESS: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})

_CHUNKED: Final = ((b"transfer-encoding", b"chunked"),)
_CLOSE: Final = ((b"connection", b"close"),)
_AT_ONCE: Final = struct.pack("ii", 1, 0)  # struct linger: closing the socket resets the connection
_COPIED_BYTES: Final = 65_536
_LINGER_SECONDS: Final = 1.0
_MOST_LINGER_SECONDS: Final = 5.0
_LINGERING_READ_BYTES: Final = 65_536
_WRITE_SECONDS: Final = 60.0
# How long a wait takes at most to notice that the client left or that the server stops.
_NOTICE_SECONDS: Final = 0.02
REFUSAL_SECONDS: Final = 2.0


class LoopbackHandler(BaseRequestHandler):
    """Reads the requests of one connection, one after the other; a subclass answers them.

    Attributes:
        linked: paths of this server that web pages of other sites may link to.
        head: the head of the last request; None until it was read.
    """

    request: socket.socket
    linked: ClassVar[frozenset[str]] = frozenset()

    def setup(self) -> None:
        """Disable the delay of small writes, so that each read is sent at once."""
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head: RequestHead | None = None
        self._reader = RequestReader(self.request, self.linked)
        self._closing = False

    def handle(self) -> None:
        """Answer requests until the client or the server closes the connection."""
        while not self._closing:
            self._handle_next()
        linger(self.request)

    def _handle_next(self) -> None:
        """Answer the next request. Its body is freed before the connection waits for another."""
        memory: RequestMemory = self.server.request_memory  # type: ignore[attr-defined]
        self.head = None
        with Reservation(memory) as reserved:
            request = self._read_request(reserved)
            if request is not None:
                self.respond(request)

    def _read_request(self, reserved: Reservation) -> Request | None:
        """Return the next request; None if it was refused, or if the client sent none."""
        try:
            self.head = head = self._reader.read_head()
            if head is None:
                self._closing = True
                return None
            body = self._reader.read_body(reserved.add)
        except RefusedError as error:
            self.refuse(error.status, str(error))
            return None
        except TimeoutError:
            self._closing = True
            if self._reader.begun:
                most = f"expected the complete request within {self._reader.seconds:.0f} seconds"
                self.refuse(HTTPStatus.REQUEST_TIMEOUT, most)
            return None
        self._closing = self._reader.is_last
        return Request(head.method, head.uri, head.headers, body)

    def respond(self, request: Request) -> None:
        """Send the response to `request`; each server defines which response that is."""
        raise NotImplementedError

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Reject the request and close the connection, as the next request's start is unknown."""
        self._closing = True
        self.request.settimeout(_WRITE_SECONDS)
        self.request.sendall(refusal(status, message, is_head=self._is_head))

    @property
    def _is_head(self) -> bool:
        return self.head is not None and self.head.method == "HEAD"

    def play(self, answer: Interaction, reads: Iterator[bytes]) -> None:
        """Send `answer` with the body in `reads`, and end the body as the recording did."""
        headers = headers_to_send(answer)
        has_body = answer.status not in BODILESS
        self.send(answer.status, headers, reads if has_body else None, lambda: answer.ended)

    def send(
        self,
        status: int,
        headers: RawHeaders,
        reads: Iterator[bytes] | None,
        ended: Callable[[], Ended] = lambda: "complete",
    ) -> None:
        """Send a response. A client of HTTP/1.0 gets no chunks, and reads until the end.

        Args:
            status: the status code.
            headers: the headers, without those that state the length or encoding of the body.
            reads: the body; each read becomes one chunk and one write; None without a body.
            ended: returns how the body ended; called after the last read.
        """
        if self._is_head:
            reads = None
        chunked = self.head is not None and self.head.version == "1.1"
        self._closing = self._closing or not chunked
        framing = _CHUNKED if chunked and reads is not None else ()
        self.request.settimeout(_WRITE_SECONDS)
        closing = _CLOSE if self._closing else ()
        self.request.sendall(response_head(status, (*headers, *framing, *closing)))
        for read in reads or ():
            if not chunked:
                self.request.sendall(read)
            elif len(read) <= _COPIED_BYTES:
                self.request.sendall(b"%x\r\n%b\r\n" % (len(read), read))
            else:  # without a copy for each connection
                self.request.sendall(b"%x\r\n" % len(read))
                self.request.sendall(read)
                self.request.sendall(b"\r\n")
        how = ended()
        if how in BROKEN:
            self._break_off(reset=how == "reset")
        elif framing:
            self.request.sendall(b"0\r\n\r\n")

    def _break_off(self, *, reset: bool) -> None:
        """Close the connection in the middle of the body, as the recorded server did."""
        self._closing = True
        if reset:  # closed without a shutdown, which would look like the end of the body
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            os.close(self.request.detach())


class PeerLeftError(ConnectionError):
    """The client closed the connection before it got the complete answer."""


class AnswerHandler(LoopbackHandler):
    """Sends to each request the answer that a function returns.

    Args:
        answer: the function.
        stopping: set when the server stops.
        closes: whether a session ends after its first response.
        connection: what `socketserver` passes.
    """

    def __init__(
        self,
        answer: AnswerRequest,
        stopping: Event,
        closes: bool,  # noqa: FBT001
        *connection: Any,  # noqa: ANN401
    ) -> None:
        self._answer = answer
        self._stopping = stopping
        self._closes = closes
        super().__init__(*connection)

    def respond(self, request: Request) -> None:
        """Send the answer to `request`, read by read, and end the body as the answer specifies.

        A request for a WebSocket connection opens a session, in which each message that asks for a
        response gets the next answer.
        """
        if self.head is None or not is_upgrade(self.head):
            self.play(*self._answer(request, self.wait))
        elif is_available():
            self._open_session(request, self.head)
        else:
            self.refuse(HTTPStatus.NOT_IMPLEMENTED, INSTALL_HINT)

    def _open_session(self, request: Request, head: RequestHead) -> None:
        self._closing = True
        connection = WebSocketConnection(self.request, head, self._reader.rest)

        def answer(asked: Request) -> Answer:
            return self._answer(asked, self.wait)

        answer_session(connection, answer, request.uri, request.headers, closes=self._closes)

    def wait(self, seconds: float) -> None:
        """Sleep for some seconds, or until the server stops.

        Raises:
            PeerLeftError: the client left. The wait notices it within 50 milliseconds.
        """
        end = time.monotonic() + seconds
        while not self._stopping.is_set():
            if has_left(self.request):
                raise PeerLeftError("the client closed the connection")
            left = end - time.monotonic()
            if left <= 0:
                return
            self._stopping.wait(min(left, _NOTICE_SECONDS))


def has_left(connection: socket.socket) -> bool:
    """Return whether the peer of `connection` closed it, without reading what it sent."""
    before = connection.gettimeout()
    connection.setblocking(False)  # noqa: FBT003 - the parameter of the standard library
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.settimeout(before)


def linger(connection: socket.socket) -> None:
    """Read the rest of the client's data, because otherwise the client would lose the answer."""
    deadline = time.monotonic() + _MOST_LINGER_SECONDS
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(_LINGER_SECONDS)
        while time.monotonic() < deadline and connection.recv(_LINGERING_READ_BYTES):
            pass


def refuse_connection(connection: socket.socket, message: str, seconds: float) -> None:
    """Answer the first request of a connection beyond the limit with status 503.

    A client that sends no request within `seconds` gets the answer too.
    """
    connection.settimeout(seconds)
    with suppress(TimeoutError):
        connection.recv(_LINGERING_READ_BYTES)
    retry = ((b"retry-after", b"1"),)
    connection.sendall(refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, retry))


def refusal(
    status: HTTPStatus, message: str, headers: RawHeaders = (), *, is_head: bool = False
) -> bytes:
    """Return a response with an error and its reason, after which the connection is closed."""
    error = {"code": status.name.lower(), "message": message, "type": "replay_server"}
    body = encode_json({"error": error})
    length = b"%d" % len(body)
    framing = ((b"content-type", b"application/json"), (b"content-length", length), *_CLOSE)
    head = response_head(status, (*framing, (b"x-content-type-options", b"nosniff"), *headers))
    return head if is_head else head + body


def response_head(status: int, headers: RawHeaders) -> bytes:
    """Return the status line and the headers of a response as bytes."""
    lines = [f"HTTP/1.1 {status:d} {responses.get(status, '')}".encode()]
    lines += [name + b": " + value for name, value in headers]
    return b"\r\n".join([*lines, b"", b""])
