"""Send a request to a real server and record its response, read by read.

The proxy and the command line use only this module to connect to servers. It needs the standard
library only. A read is the result of one read of the connection, within one chunk if the body has
chunks.
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
from harness.recording.secrets.credentials import scrub_address
from harness.wire.interaction import Request

# A model may need this long before the next byte.
TIMEOUT_SECONDS: Final = 600.0

_READ_BYTES: Final = 65_536
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_CONNECTIONS: Final = {"http": HTTPConnection, "https": HTTPSConnection}


class UpstreamError(RecordingError):
    """The server sent no head of a response."""


class UpstreamResponse:
    """A response while it arrives.

    Attributes:
        head: status and headers.
        has_body: whether a body follows.
        recorder: of this response.
    """

    def __init__(self, head: HTTPResponse, recorder: ResponseRecorder, *, has_body: bool) -> None:
        self.head = head
        self.recorder = recorder
        self.has_body = has_body

    def reads(self) -> Iterator[bytes]:
        """Yield the bytes of each read as soon as they arrive, and record how the body ends."""
        recorder = self.recorder
        try:
            while piece := self.head.read1(_READ_BYTES):
                recorder.add(piece)
                yield piece
        except ConnectionResetError:
            recorder.end("reset")
        except IncompleteRead:
            recorder.end("truncated")
        except (OSError, HTTPException):  # the server was silent for too long
            recorder.end("aborted")
        else:
            recorder.end("truncated" if self.head.length else "complete")


def check_address(address: str) -> None:
    """Reject an invalid address of an HTTP server.

    Raises:
        UsageError: it is invalid, or contains credentials.
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


@contextmanager
def upstream_response(
    recorder: Recorder, request: Request, timeout: float = TIMEOUT_SECONDS
) -> Iterator[UpstreamResponse]:
    """Send `request` to the server in its address; the connection ends with the block.

    Args:
        recorder: records the response.
        request: with a complete address; its headers are sent unchanged.
        timeout: seconds of silence after which the connection is closed.

    Raises:
        UpstreamError: no head of a response arrived.
    """
    parts = urlsplit(request.uri)
    connection = _CONNECTIONS[parts.scheme](parts.netloc, timeout=timeout)
    response = recorder.record(request)
    try:
        head = _head(connection, request)
        response.head(head.status, tuple(head.getheaders()))
        has_body = request.method != "HEAD" and head.status not in BODILESS
        if not has_body:
            response.end("complete")
        yield UpstreamResponse(head, response, has_body=has_body)
    finally:
        response.end("aborted")  # without an earlier end, the client closed the connection
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
            f"expected a response, found {type(error).__name__}: {error}",
            where=f"{parts.scheme}://{parts.netloc}",
            hint="Check that the server runs and that its address is correct.",
        ) from error
