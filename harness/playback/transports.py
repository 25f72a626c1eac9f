"""The recorded headers of a response -> those that are true of what is sent now.

The body goes out decoded and in reads of our own, so nothing may claim its length, its
content encoding or how the connection was kept. What HTTP does not allow is left out.
"""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from harness.playback.playback import Playback
from harness.wire.interaction import Ended, Headers, Interaction, Request

RawHeaders = tuple[tuple[bytes, bytes], ...]

_NOT_OURS: Final = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def headers_to_send(headers: Headers) -> RawHeaders:
    """Return `headers` as bytes, without what is not true of the body that is sent."""
    return tuple(
        (name.encode("ascii"), value.strip().encode("utf-8", "replace"))
        for name, value in headers
        if _NAME.fullmatch(name) and name.lower() not in _NOT_OURS and not _CONTROLS.search(value)
    )


def play_request(library: Any, playback: Playback, request: Any, body: bytes) -> Any:  # noqa: ANN401 - one of two libraries, its request and its response
    """Return what a playback answers to a client's request, as a response of `library`."""
    answer = playback.answer(client_request(request, body))
    return client_response(library, answer, playback.reads(answer))


def client_request(request: Any, body: bytes) -> Request:  # noqa: ANN401 - of one of two libraries
    """Return a client's request; its `body` is read by then, in the way of its kind of client."""
    headers = tuple(request.headers.multi_items())
    return Request(request.method, str(request.url), headers, bytes(body))


def client_response(library: Any, answer: Interaction, reads: Iterator[bytes]) -> Any:  # noqa: ANN401 - one of two libraries, and a response of it
    """Return the response of `library`, which is httpx or httpx2.

    Args:
        library: the module.
        answer: an interaction.
        reads: its body under any cuts.
    """
    bases = (_Reads, library.SyncByteStream, library.AsyncByteStream)
    stream = type("Reads", bases, {})(library, reads, answer.ended)
    return library.Response(answer.status, headers=headers_to_send(answer.headers), stream=stream)


class _Reads:
    """The stream of a response for sync and async clients."""

    def __init__(self, library: Any, reads: Iterator[bytes], ended: Ended) -> None:  # noqa: ANN401 - one of two libraries
        self._library = library
        self._reads = reads
        self._ended = ended

    def __iter__(self) -> Iterator[bytes]:
        yield from self._reads
        self._break()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for read in self._reads:
            yield read
        self._break()

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def _break(self) -> None:
        if self._ended == "reset":
            raise self._library.ReadError("recorded: the connection was reset")
        if self._ended == "truncated":
            raise self._library.RemoteProtocolError(
                "recorded: the server closed the connection in the middle of the body"
            )
