"""Answer clients of httpx or httpx2, sync and async, from a cassette.

The library is a parameter, because both have the same classes. Each read is passed to the client
when the client asks for it, not before. If the connection broke while the response was recorded,
the client gets the error that its own library raises in that case. If the recorded client left
early, the response ends normally, because the rest of it is unknown.

The body is sent decoded and in the reads of the playback, so no header may state the length or
content encoding of the body, or the handling of the connection. Headers that HTTP does not allow
are left out, too.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from types import ModuleType
from typing import Any, Final, TypeAlias

from harness.dialects.table import with_content_type
from harness.wire.interaction import Ended, Interaction, Request

RawHeaders: TypeAlias = tuple[tuple[bytes, bytes], ...]
Answer: TypeAlias = tuple[Interaction, Iterator[bytes]]
# The types of httpx and httpx2 are equal in structure only, and neither may be installed.
Library: TypeAlias = Any

# Source: RFC 9110, section 7.6.1, and what older clients send.
HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# Of the headers above, `proxy-authorization` belongs to requests only.
_FRAMING_HEADERS: Final = (HOP_BY_HOP - {"proxy-authorization"}) | {
    "content-encoding",
    "content-length",
}
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def headers_to_send(answer: Interaction) -> RawHeaders:
    """Return the recorded headers as bytes, without headers that do not fit the decoded body.

    If the recording has none, the content type of the body is sent.
    """
    return tuple(
        (name.encode("ascii"), value.strip().encode("utf-8", "replace"))
        for name, value in with_content_type(answer).headers
        if name.lower() not in _FRAMING_HEADERS and is_sendable(name, value)
    )


def is_sendable(name: str, value: str) -> bool:
    """Return whether HTTP allows this header."""
    return bool(_NAME.fullmatch(name)) and not _CONTROLS.search(value)


class CassetteTransport:
    """Answers requests from a cassette; a subclass may send other requests to a server.

    Args:
        library: the module, httpx or httpx2.
        play: returns the interaction that answers a request, and the reads of its body; or None.
    """

    def __init__(self, library: Library, play: Callable[[Request], Answer | None]) -> None:
        self.library = library
        self._play = play

    def handle_request(self, request: Library) -> Library:
        """Answer a request of a sync client."""
        sent = _request(request, request.read())
        response = self._played(sent)
        return self.send(request, sent) if response is None else response

    async def handle_async_request(self, request: Library) -> Library:
        """Answer a request of an async client."""
        sent = _request(request, await request.aread())
        response = self._played(sent)
        return await self.send_async(request, sent) if response is None else response

    def send(self, request: Library, sent: Request) -> Library:
        """Send a request of a sync client that the cassette does not answer."""
        raise NotImplementedError

    async def send_async(self, request: Library, sent: Request) -> Library:
        """Send a request of an async client that the cassette does not answer."""
        raise NotImplementedError

    def _played(self, sent: Request) -> Library:
        found = self._play(sent)
        if found is None:
            return None
        answer, reads = found
        stream = with_bases(self.library, _Reads, "ByteStream")(self.library, reads, answer.ended)
        headers = headers_to_send(answer)
        return self.library.Response(answer.status, headers=headers, stream=stream)


def with_bases(library: ModuleType, kind: type, base: str) -> Any:  # noqa: ANN401 - a class with bases of `library`
    """Return a subclass of `kind` that also has the base classes of the library.

    Args:
        library: the module, httpx or httpx2.
        kind: a class that implements the methods for sync and for async clients.
        base: `ByteStream` or `BaseTransport`: the name of the base classes without its prefix.
    """
    names = ("BaseTransport", "AsyncBaseTransport")
    if base == "ByteStream":
        names = ("SyncByteStream", "AsyncByteStream")
    return type(kind.__name__, (kind, *(getattr(library, name) for name in names)), {})


class _Reads:
    """The body of a response for sync and async clients."""

    def __init__(self, library: Library, reads: Iterator[bytes], ended: Ended) -> None:
        self._library = library
        self._reads = reads
        self._ended = ended

    def __iter__(self) -> Iterator[bytes]:
        yield from self._reads
        self._raise_if_broken()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for read in self._reads:
            yield read
        self._raise_if_broken()

    def close(self) -> None:
        """Do nothing, because no connection is open."""

    async def aclose(self) -> None:
        """Do nothing, because no connection is open."""

    def _raise_if_broken(self) -> None:
        if self._ended == "reset":
            raise self._library.ReadError("recorded: the connection was reset")
        if self._ended == "truncated":
            raise self._library.RemoteProtocolError(
                "recorded: the server closed the connection in the middle of the body"
            )


def _request(request: Library, body: bytes) -> Request:
    headers = tuple(request.headers.multi_items())
    return Request(request.method, str(request.url), headers, bytes(body))
