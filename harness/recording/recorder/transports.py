"""A recorder as a transport of httpx or httpx2, for sync and async clients alike.

One core: the library is an argument, and its classes are the bases of ours, so that its
clients take them. Each read goes on to the client as it comes; content encodings too.
"""

from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any, Protocol

from harness.playback.transports import client_request, client_response
from harness.recording.recorder.response import ResponseRecorder
from harness.wire.cuts import split
from harness.wire.interaction import Ended, Interaction, Request


class Recording(Protocol):
    """What a transport asks of a recorder."""

    def play(self, request: Request) -> Interaction | None:
        """Return what answers `request` from the cassette, or None where it may be asked."""

    def record(self, request: Request) -> ResponseRecorder:
        """Return the tape for the answer to a request that is sent now."""


# The types of another library are its own: this module is told at run time which one it is.
Library = Any


def transport(recorder: Recording, library: ModuleType, inner: object = None) -> Any:  # noqa: ANN401 - see Library
    """Return the transport; `inner` asks the server, by default the library's own."""
    bases = (_Transport, library.BaseTransport, library.AsyncBaseTransport)
    return type("RecordingTransport", bases, {})(recorder, library, inner)


class _Transport:
    """What both kinds of client call."""

    def __init__(self, recorder: Recording, library: Library, inner: Any) -> None:  # noqa: ANN401 - see Library
        self._recorder = recorder
        self._library = library
        self._sync: Library = inner
        self._async: Library = inner
        self._stream = type(
            "_Stream", (_Reads, library.SyncByteStream, library.AsyncByteStream), {}
        )

    def handle_request(self, request: Library) -> Library:
        """Answer a request of a sync client: from the cassette, or from the server."""
        sent = client_request(request, request.read())
        answer = self._recorder.play(sent)
        if answer is not None:
            return self._replayed(answer)
        self._sync = self._sync or self._library.HTTPTransport()
        tape = self._recorder.record(sent)
        return self._taped(self._sync.handle_request(request), tape)

    async def handle_async_request(self, request: Library) -> Library:
        """Answer a request of an async client, as `handle_request` does."""
        sent = client_request(request, await request.aread())
        answer = self._recorder.play(sent)
        if answer is not None:
            return self._replayed(answer)
        self._async = self._async or self._library.AsyncHTTPTransport()
        tape = self._recorder.record(sent)
        return self._taped(await self._async.handle_async_request(request), tape)

    def close(self) -> None:
        """Close the connections of a sync client."""
        if self._sync is not None:
            self._sync.close()

    async def aclose(self) -> None:
        """Close the connections of an async client."""
        if self._async is not None:
            await self._async.aclose()

    def _taped(self, response: Library, tape: ResponseRecorder) -> Library:
        tape.head(response.status_code, _headers(response))
        response.stream = self._stream(response.stream, tape, self._library)
        return response

    def _replayed(self, answer: Interaction) -> Library:
        return client_response(self._library, answer, split(answer.body, answer.recorded_cuts()))


class _Reads:
    """The stream of a response, on its way to the client and onto the tape."""

    def __init__(self, stream: Any, tape: ResponseRecorder, library: Library) -> None:  # noqa: ANN401 - see Library
        self._inner = stream
        self._tape = tape
        self._library = library

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._inner:
                self._tape.add(piece)
                yield piece
        except Exception as error:
            self._tape.end(self._how(error))
            raise
        self._tape.end("complete")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner:
                self._tape.add(piece)
                yield piece
        except Exception as error:
            self._tape.end(self._how(error))
            raise
        self._tape.end("complete")

    def close(self) -> None:
        """Let a sync client leave; before the end that is an abort."""
        self._tape.end("aborted")
        self._inner.close()

    async def aclose(self) -> None:
        """Let an async client leave, as `close`."""
        self._tape.end("aborted")
        await self._inner.aclose()

    def _how(self, error: Exception) -> Ended:
        if isinstance(error, self._library.RemoteProtocolError):
            return "truncated"
        return "reset" if isinstance(error, self._library.ReadError) else "aborted"


def _headers(response: Library) -> tuple[tuple[str, str], ...]:
    return tuple(response.headers.multi_items())
