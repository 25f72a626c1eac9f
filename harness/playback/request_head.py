"""Check the head of a request that a loopback server received.

h11 parses the head. HTTP allows a recipient to accept some forms that two recipients may
read differently: folded header lines, lines that end with LF alone, a length stated in two ways.
h11 accepts these, and the server rejects them, so that a recording contains the request that the
client sent.
Source: RFC 9112, sections 2.2, 3.2, 5.2 and 6.3.

Only clients of this machine are answered. A web page in a browser can send requests to this
machine too, under a name that resolves to it (DNS rebinding) or to its address. `Host` shows the
first case, `Origin` and `Sec-Fetch-Site` show the second.
"""

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import Final

import h11
import msgspec

from harness.wire.interaction import Headers

# More than providers accept, but not enough to fill the memory.
MAX_REQUEST_BYTES: Final = 32 * 1024 * 1024

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_VERSIONS: Final = frozenset({"1.0", "1.1"})
_LOCAL_NAMES: Final = frozenset({"127.0.0.1", "localhost"})
_SAME_SITE: Final = frozenset({"none", "same-origin"})
_BAD_LINE: Final = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]|\x00")
_AUTHORITY: Final = re.compile(r"http://([^/?#]*)", re.IGNORECASE)


class RefusedError(Exception):
    """The server refuses a request without reading its end, so it must close the connection.

    Args:
        status: the HTTP status of the response.
        message: the reason.
    """

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class RequestHead(msgspec.Struct, frozen=True):
    """The request line and the headers of a request.

    Fields:
        target: the target as sent: a path with its query, or a complete address.
        version: the version of HTTP: `1.0` or `1.1`.
    """

    method: str
    target: str
    version: str
    headers: Headers

    @property
    def uri(self) -> str:
        """The complete address (URL) of the request."""
        host = self.values("host")[0]
        return f"http://{host}{self.target}" if self.target.startswith("/") else self.target

    def values(self, name: str) -> list[str]:
        """Return the values of the headers called `name`, which is in lower case."""
        return [value for key, value in self.headers if key.lower() == name]


def checked_head(
    event: h11.Request, received: bytes, linked: Collection[str] = frozenset()
) -> RequestHead:
    """Check the head of a request, and return it if this server may answer the request.

    Args:
        event: the head as h11 parsed it.
        received: the bytes of the head.
        linked: paths of this server that web pages of other sites may link to.

    Raises:
        RefusedError: the head is malformed or ambiguous, or a web page of another site sent the
            request.
    """
    head = RequestHead(
        event.method.decode("ascii"),
        event.target.decode("ascii"),
        event.http_version.decode("ascii"),
        tuple(
            (name.decode("ascii"), value.decode("latin-1"))
            for name, value in event.headers.raw_items()
        ),
    )
    if _BAD_LINE.search(received):
        raise bad_request("expected lines that end with CRLF, without CR, NUL and folded lines")
    if head.version not in _VERSIONS:
        raise RefusedError(
            HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, f"expected HTTP/1.1, found {head.version}"
        )
    if head.method not in _METHODS:
        raise RefusedError(
            HTTPStatus.NOT_IMPLEMENTED, f"expected one of {', '.join(sorted(_METHODS))}"
        )
    _check_framing(head)
    _check_sender(head, linked)
    return head


def bad_request(message: str) -> RefusedError:
    """Return the error for a malformed request (status 400)."""
    return RefusedError(HTTPStatus.BAD_REQUEST, message)


def check_size(size: int) -> None:
    """Reject a body of `size` bytes if it is too large.

    Raises:
        RefusedError: the body is too large.
    """
    if size > MAX_REQUEST_BYTES:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"expected at most {MAX_REQUEST_BYTES} bytes of body",
        )


def _check_framing(head: RequestHead) -> None:
    """Reject a request if another HTTP server might find the end of its body at another byte."""
    lengths = head.values("content-length")
    if head.values("transfer-encoding"):
        if lengths:
            raise bad_request("expected either content-length or transfer-encoding, found both")
        if head.version != "1.1":
            raise bad_request(f"HTTP/{head.version} has no transfer-encoding: send HTTP/1.1")
    check_size(max(map(int, lengths), default=0))


def _check_sender(head: RequestHead, linked: Collection[str]) -> None:
    """Reject a request to another host, and a request from a web page of another site."""
    host = (head.values("host") or [""])[0]
    absolute = _AUTHORITY.match(head.target)
    for named in (host, absolute[1]) if absolute else (host,):
        name, _, port = named.partition(":")
        if name.lower() not in _LOCAL_NAMES or (port and not port.isdecimal()):
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"expected the Host 127.0.0.1 or localhost, found {named[:80]!r}",
            )
    if "#" in head.target or not (absolute or head.target.startswith("/")):
        raise bad_request("expected a target that is a path, without a fragment")
    for origin in head.values("origin"):
        if origin.lower() != f"http://{host.lower()}":
            raise _foreign(f"Origin {origin[:80]!r}")
    for site in head.values("sec-fetch-site"):
        if site.lower() not in _SAME_SITE and head.target not in linked:
            raise _foreign(f"Sec-Fetch-Site {site[:80]!r}")


def _foreign(found: str) -> RefusedError:
    return RefusedError(
        HTTPStatus.FORBIDDEN,
        f"the request is from a page of another site, which may not use this server: {found}",
    )
