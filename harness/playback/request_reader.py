"""Read the requests of one connection, one after the other.

Each wait for the client has a time limit, so that a client that stalls frees its connection. The
requests of all connections share a bounded memory.
"""

import re
import socket
import time
from collections.abc import Callable, Collection
from http import HTTPStatus
from threading import Lock
from typing import Final, Self, TypeAlias

import h11

from harness.playback.request_head import (
    RefusedError,
    RequestHead,
    check_size,
    checked_head,
)

# Of all requests together, without those up to the size that each connection may hold.
MAX_SHARED_BYTES: Final = 64 * 1024 * 1024
# Of a head, and of each line in a chunked body.
MAX_HEAD_BYTES: Final = 65_536

_OWN_BYTES: Final = 65_536
_READ_BYTES: Final = 65_536
_MOST_REASON_CHARS: Final = 200
_IDLE_SECONDS: Final = 300.0  # an agent may wait long between two requests
_REQUEST_SECONDS: Final = 60.0
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_PARSED: Final = re.compile(r"bytearray\(b(.*)\)")

_Event: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class RequestMemory:
    """Counts the bytes that the requests of all connections use, and enforces a limit.

    Args:
        most: the maximum, without the first 64 KiB of each request.
    """

    def __init__(self, most: int = MAX_SHARED_BYTES) -> None:
        self._left = most
        self._lock = Lock()

    def take(self, size: int) -> bool:
        """Reserve `size` bytes, and return whether they were free; a negative size frees bytes."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True


class Reservation:
    """The part of the shared memory that one request uses; it is freed when the request ends."""

    def __init__(self, memory: RequestMemory) -> None:
        self._memory = memory
        self._received = self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._memory.take(-self._taken)

    def add(self, size: int) -> None:
        """Reserve memory for `size` received bytes.

        Raises:
            RefusedError: the requests of all connections use too much memory.
        """
        self._received += size
        more = max(0, self._received - _OWN_BYTES) - self._taken
        if not self._memory.take(more):
            raise RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "the bodies of other requests fill the memory for requests: try again later",
            )
        self._taken += more


class RequestReader:
    """Reads the requests of a connection; a request that has begun must be complete in time.

    Args:
        connection: the connection; it sends `100 Continue` to a client that waits for it.
        linked: paths of this server that web pages of other sites may link to.

    Attributes:
        is_last: whether the client sends no further request after the one that was read.
        seconds: the time that a request may take from its first byte.
    """

    def __init__(self, connection: socket.socket, linked: Collection[str] = frozenset()) -> None:
        self.is_last = False
        self.seconds = _REQUEST_SECONDS
        self._connection = connection
        self._linked = linked
        self._left = b""  # the beginning of the next request
        self._begin()

    def _begin(self) -> None:
        self._parser = h11.Connection(h11.SERVER, MAX_HEAD_BYTES)
        self._deadline = time.monotonic() + self.seconds if self._left else None

    def read_head(self) -> RequestHead | None:
        """Return the head of the next request; None if the client closed the connection.

        Raises:
            RefusedError: the head is malformed, too large, or not for this server.
            TimeoutError: the head was not complete in time; `begun` tells whether any byte arrived.
        """
        self._begin()
        received = bytearray(self._left)
        if received:
            self._parser.receive_data(self._left)
        while (event := self._next_event()) is h11.NEED_DATA:
            piece = self._receive()
            received += piece
            self._parser.receive_data(piece)
        if not isinstance(event, h11.Request):
            return None
        size = len(received) - len(self._parser.trailing_data[0])
        if size > MAX_HEAD_BYTES:
            raise _too_large()
        return checked_head(event, bytes(received[:size]), self._linked)

    @property
    def begun(self) -> bool:
        """Whether any byte of the next request arrived."""
        return self._deadline is not None

    @property
    def rest(self) -> bytes:
        """The bytes that the client sent after the request that was read."""
        return self._left

    def read_body(self, count: Callable[[int], None] = lambda _: None) -> bytes:
        """Return the body of the request whose head was read.

        Args:
            count: called with the number of bytes after each read; may raise `RefusedError`.

        Raises:
            RefusedError: the body is too large, truncated, or not framed as HTTP requires.
            TimeoutError: the body was not complete in time.
        """
        if self._parser.they_are_waiting_for_100_continue:
            self._connection.sendall(_CONTINUE)
        body = bytearray()
        while not isinstance(event := self._next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                count(len(event.data))
                body += event.data
                check_size(len(body))
            else:
                self._parser.receive_data(self._receive())
        self.is_last = self._parser.their_state is h11.MUST_CLOSE
        self._left = self._parser.trailing_data[0]
        return bytes(body)

    def _next_event(self) -> _Event:
        try:
            return self._parser.next_event()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
                raise _too_large() from None
            reason = _PARSED.sub(r"\1", str(error)[:_MOST_REASON_CHARS])
            raise RefusedError(HTTPStatus(error.error_status_hint), reason) from None

    def _receive(self) -> bytes:
        """Return the next bytes of the client; b"" at the end."""
        if self._deadline is None:
            self._connection.settimeout(_IDLE_SECONDS)
            piece = self._connection.recv(_READ_BYTES)
            self._deadline = time.monotonic() + self.seconds
            return piece
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv(_READ_BYTES)


def _too_large() -> RefusedError:
    return RefusedError(
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        f"expected at most {MAX_HEAD_BYTES} bytes of head, or of a line between chunks",
    )
