"""Send a request to a gateway, and return its answer with all bytes, within limits."""

import http.client
import ssl
import time
from typing import Final
from urllib.parse import urlsplit

from harness.wire.interaction import Ended, Interaction, Read, Request

# For a gateway to answer.
SECONDS: Final = 60.0
_MOST_BYTES: Final = 32 * 1024 * 1024
_READ_BYTES: Final = 65_536


class GatewayError(Exception):
    """A gateway gave no response, or one without end."""


def send(request: Request, dialect: str) -> Interaction:
    """Send `request`, and return it with the response in the API `dialect`.

    Raises:
        GatewayError: there is no response, or it exceeds a limit.
    """
    at = urlsplit(request.uri)
    kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
    connection = kind(at.hostname or "", at.port, timeout=SECONDS)
    target = at.path + (f"?{at.query}" if at.query else "")
    try:
        connection.request("POST", target or "/", request.body, dict(request.headers))
        response = connection.getresponse()
        headers = tuple((name.lower(), value) for name, value in response.getheaders())
        pieces, ended = _body(response)
    except (http.client.HTTPException, ssl.SSLError, OSError) as error:
        raise GatewayError(f"no response: {type(error).__name__}: {error}") from None
    finally:
        connection.close()
    body = b"".join(pieces)
    reads = tuple(Read(len(piece)) for piece in pieces)
    return Interaction(request, response.status, headers, body, reads, dialect=dialect, ended=ended)


def _body(response: http.client.HTTPResponse) -> tuple[list[bytes], Ended]:
    pieces: list[bytes] = []
    size, end = 0, time.monotonic() + SECONDS
    try:
        while piece := response.read1(_READ_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_BYTES or time.monotonic() > end:
                raise GatewayError(f"a response without end: {size} bytes")
    except (http.client.IncompleteRead, OSError):
        return pieces, "truncated"
    # `read1` does not notice that a body of a known length ended early.
    missing = response.length is not None and response.length > 0
    return pieces, "truncated" if missing else "complete"
