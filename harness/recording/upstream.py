"""Send a request to a real server and record its response, read by read.

The proxy and the command line use only this module to connect to servers. It needs the standard
library only. A read is the result of one read of the connection, within one chunk if the body has
chunks.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from socket import SHUT_RDWR, socket
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from harness.errors import RecordingError, UsageError
from harness.playback.handler import BODILESS
from harness.recording.recorder import Recorder
from harness.recording.recorder.response import ResponseRecorder
from harness.recording.secrets.credentials import scrub_address
from harness.wire.interaction import Ended, Request

# A model may need this long before the next byte.
TIMEOUT_SECONDS: Final = 600.0

_READ_BYTES: Final = 65_536
_INTERIM: Final = 100
_SWITCHING: Final = 101
_FIRST_ANSWER: Final = 200
_MOST_INTERIM: Final = 20
_MOST_LINES: Final = 200  # of interim responses and trailers
_LONGEST_LINE: Final = 65_537
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_CONNECTIONS: Final = {"http": HTTPConnection, "https": HTTPSConnection}


class UpstreamError(RecordingError):
    """The server did not send the status and headers of a response."""


def check_address(address: str) -> None:
    """Reject an invalid address of an HTTP server.

    Raises:
        UsageError: the address is invalid, or contains credentials.
    """
    try:
        parts = urlsplit(address)
        known = parts.scheme in _CONNECTIONS and parts.hostname and (parts.port or 1)
        known = known and not parts.username and not parts.fragment
    except ValueError:
        known = False
    if not known:
        shown = scrub_address(address)[:200]
        raise UsageError(
            f"expected an address such as https://api.example.com, found {shown!r}",
            hint="Give scheme, host and port. Put credentials into headers.",
        )


class Connections:
    """The open connections to servers, so that another thread can end all that wait for them.

    Attributes:
        closed: whether `close` was called; after that, the end of a body shows nothing about its
            server.
    """

    def __init__(self) -> None:
        self._open: set[HTTPConnection] = set()
        self._lock = Lock()
        self.closed = False

    def add(self, connection: HTTPConnection) -> None:
        """Add a connection that begins."""
        with self._lock:
            self._open.add(connection)
        if self.closed:
            _shut_down(connection)

    def remove(self, connection: HTTPConnection) -> None:
        """Remove a connection that ended."""
        with self._lock:
            self._open.discard(connection)

    def close(self) -> None:
        """Close all connections, and from now on each new connection at once."""
        self.closed = True
        with self._lock:
            for connection in self._open:
                _shut_down(connection)


def _shut_down(connection: HTTPConnection) -> None:
    sock: socket | None = connection.sock
    if sock is not None:
        with suppress(OSError):  # it is closed already
            sock.shutdown(SHUT_RDWR)


class _StrictLines:
    """The bytes of a response, whose lines must not contain a single CR: parsers disagree on it."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a buffered reader of `http.client`
        self._file = file

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line."""
        line: bytes = self._file.readline(limit)
        if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
            raise HTTPException("a carriage return inside a line")
        return line

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of the reader
        return getattr(self._file, name)


class _StrictResponse(HTTPResponse):
    """A response without what `http.client` accepts although its meaning is unclear."""

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401 - as the class
        super().__init__(*args, **more)
        self.fp: Any = _StrictLines(self.fp)

    def _read_status(self) -> tuple[str, int, str]:
        """Return the status line of the answer, after the interim responses before it."""
        for _ in range(_MOST_INTERIM):
            version, status, reason = super()._read_status()  # type: ignore[misc]  # not in its stub
            if not _INTERIM <= status < _FIRST_ANSWER or status == _SWITCHING:
                return version, status, reason
            for _ in range(_MOST_LINES):
                if self.fp.readline(_LONGEST_LINE) in (b"\r\n", b"\n", b""):
                    break
        raise HTTPException("too many interim responses")

    def _read_and_discard_trailer(self) -> None:
        for _ in range(_MOST_LINES):
            if self.fp.readline(_LONGEST_LINE) in (b"\r\n", b"\n", b""):
                return
        raise HTTPException("too many trailers")


def _check_lengths(head: HTTPResponse) -> None:
    """Check that a response does not state contradictory lengths.

    Raises:
        HTTPException: it does, so nothing tells where its body ends.
    """
    lengths = {
        part.strip() for it in head.headers.get_all("content-length", []) for part in it.split(",")
    }
    if len(lengths) > 1 or (lengths and "transfer-encoding" in head.headers):
        raise HTTPException("contradictory lengths of the body")
    if not all(each.isascii() and each.isdigit() for each in lengths):
        raise HTTPException("the length of the body is not a number")


class UpstreamResponse:
    """A response of the server while it arrives.

    Attributes:
        head: status and headers.
        has_body: whether a body follows.
        recorder: the recorder of this response.
    """

    def __init__(
        self,
        head: HTTPResponse,
        recorder: ResponseRecorder,
        connections: Connections,
        *,
        has_body: bool,
    ) -> None:
        self.head = head
        self.recorder = recorder
        self.has_body = has_body
        self._connections = connections

    def reads(self) -> Iterator[bytes]:
        """Yield the bytes of each read as soon as they arrive, and record how the body ends."""
        ended: Ended
        try:
            while piece := self.head.read1(_READ_BYTES):
                self.recorder.add(piece)
                yield piece
        except ConnectionResetError:
            ended = "reset"
        except IncompleteRead:
            ended = "truncated"
        except (OSError, HTTPException):  # the server was silent for too long
            ended = "aborted"
        else:
            ended = "truncated" if self.head.length else "complete"
        self.recorder.end("aborted" if self._connections.closed else ended)


@contextmanager
def upstream_response(
    recorder: Recorder,
    request: Request,
    timeout: float = TIMEOUT_SECONDS,
    connections: Connections | None = None,
) -> Iterator[UpstreamResponse]:
    """Send `request` to the server in its address; the connection ends with the block.

    Args:
        recorder: records the response.
        request: the request, with a complete address; its headers are sent unchanged.
        timeout: seconds without data after which the connection is closed.
        connections: the open connections, to which this one is added.

    Raises:
        UpstreamError: no status and headers of a response arrived.
    """
    parts = urlsplit(request.uri)
    connection = _CONNECTIONS[parts.scheme](parts.netloc, timeout=timeout)
    connection.response_class = _StrictResponse
    response = recorder.record(request)
    connections = connections or Connections()
    try:
        head = _head(connection, request, connections)
        response.head(head.status, tuple(head.getheaders()))
        has_body = request.method != "HEAD" and head.status not in BODILESS
        if not has_body:
            response.end("complete")
        yield UpstreamResponse(head, response, connections, has_body=has_body)
    finally:
        response.end("aborted")  # without an earlier end, the client closed the connection
        connections.remove(connection)
        connection.close()


def _head(connection: HTTPConnection, request: Request, connections: Connections) -> HTTPResponse:
    parts = urlsplit(request.uri)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    try:
        connection.connect()
        connections.add(connection)
        connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in (("Host", parts.netloc), *request.headers):
            connection.putheader(name, value.encode("latin-1", "replace"))
        if request.body or request.method in _WITH_BODY:
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body or None)
        head = connection.getresponse()
        _check_lengths(head)
    except (OSError, HTTPException, ValueError) as error:
        raise UpstreamError(
            f"expected a response, found {type(error).__name__}: {error}",
            where=f"{parts.scheme}://{parts.netloc}",
            hint="Check that the server runs and that its address is correct.",
        ) from error
    return head
