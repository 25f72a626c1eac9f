"""A request -> a real server's response, read by read onto a tape: the one door of the CLI.

For the proxy, and for requests of our own. Needs nothing beyond the standard library. Each
read is what one read of the connection returned, within one chunk where the body has chunks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from typing import Final
from urllib.parse import urlsplit

from harness.errors import RecordingError, UsageError
from harness.playback.handler import BODILESS
from harness.recording.recorder import Recorder
from harness.recording.recorder.response import ResponseRecorder
from harness.wire.interaction import Request

# A model may think this long before the next byte.
TIMEOUT_SECONDS: Final = 600.0

_READ_BYTES: Final = 65_536
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_CONNECTIONS: Final = {"http": HTTPConnection, "https": HTTPSConnection}


class UpstreamError(RecordingError):
    """The server gave no head of a response."""


class UpstreamResponse:
    """A response while it comes.

    Attributes:
        head: status and headers.
        has_body: whether a body follows.
        tape: what was kept so far.
    """

    def __init__(self, head: HTTPResponse, tape: ResponseRecorder, *, has_body: bool) -> None:
        self.head = head
        self.tape = tape
        self.has_body = has_body

    def reads(self) -> Iterator[bytes]:
        """Yield what each read brings as soon as it is there, and note how they end."""
        tape = self.tape
        try:
            while piece := self.head.read1(_READ_BYTES):
                tape.add(piece)
                yield piece
        except ConnectionResetError:
            tape.end("reset")
        except IncompleteRead:
            tape.end("truncated")
        except (OSError, HTTPException):  # silent for too long: then we leave
            tape.end("aborted")
        else:
            tape.end("truncated" if self.head.length else "complete")


def check_address(address: str) -> None:
    """Refuse what is no address of an HTTP server.

    Raises:
        UsageError: it is none, or it holds credentials.
    """
    try:
        parts = urlsplit(address)
        known = parts.scheme in _CONNECTIONS and parts.hostname and (parts.port or 1)
        known = known and not parts.username and not parts.fragment
    except ValueError:
        known = False
    if not known:
        raise UsageError(
            f"expected an address such as https://api.example.com, found {address[:200]!r}",
            hint="Name scheme, host and port; credentials go into headers.",
        )


@contextmanager
def upstream_response(
    recorder: Recorder, request: Request, timeout: float = TIMEOUT_SECONDS
) -> Iterator[UpstreamResponse]:
    """Ask the server in the address of `request`; the connection ends with the block.

    Args:
        recorder: whose tape keeps the response.
        request: its address is whole, its headers are sent as they are.
        timeout: seconds of silence after which we leave.

    Raises:
        UpstreamError: no head of a response came.
    """
    parts = urlsplit(request.uri)
    connection = _CONNECTIONS[parts.scheme](parts.netloc, timeout=timeout)
    tape = recorder.record(request)
    try:
        head = _head(connection, request)
        tape.head(head.status, tuple(head.getheaders()))
        has_body = request.method != "HEAD" and head.status not in BODILESS
        if not has_body:
            tape.end("complete")
        yield UpstreamResponse(head, tape, has_body=has_body)
    finally:
        tape.end("aborted")  # where nothing else was said, the client left
        connection.close()


def _head(connection: HTTPConnection, request: Request) -> HTTPResponse:
    parts = urlsplit(request.uri)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    try:
        connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in (("Host", parts.netloc), *request.headers):
            connection.putheader(name, value.encode("latin-1", "replace"))
        if request.body or request.method in _WITH_BODY:
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body or None)
        return connection.getresponse()
    except (OSError, HTTPException, ValueError) as error:
        raise UpstreamError(
            f"expected an answer, found {type(error).__name__}: {error}",
            where=f"{parts.scheme}://{parts.netloc}",
            hint="Check that the server runs and that its address is right.",
        ) from error
