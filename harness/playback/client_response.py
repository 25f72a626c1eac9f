"""Requests and responses of httpx and httpx2, whose clients are answered alike.

A response hands over its reads one by one. Where the connection broke while it was recorded,
the client gets the error that its own library raises there. A client that left early gets a
plain end: what came after is not known.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from harness.playback.playback import Playback
from harness.playback.response import headers_to_send
from harness.wire.interaction import Ended, Interaction, Request


def played(library: Any, playback: Playback, request: Any, body: bytes) -> Any:  # noqa: ANN401 - one of two libraries, its request and its response
    """Return what a playback answers to a client's request, as a response of `library`."""
    answer = playback.answer(request_of(request, body))
    return response_of(library, answer, playback.reads(answer))


def request_of(request: Any, body: bytes) -> Request:  # noqa: ANN401 - of one of two libraries
    """Return a client's request; its `body` is read by then, in the way of its kind of client."""
    headers = tuple(request.headers.multi_items())
    return Request(request.method, str(request.url), headers, bytes(body))


def response_of(library: Any, answer: Interaction, reads: Iterator[bytes]) -> Any:  # noqa: ANN401 - one of two libraries, and a response of it
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
