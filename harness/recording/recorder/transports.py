"""Record through a transport of httpx or httpx2, for sync and async clients.

Each read is passed to the client when it arrives, with its content encoding.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from harness.playback.transports import Answer, CassetteTransport, Library, with_bases
from harness.recording.recorder.response import ResponseRecorder
from harness.wire.interaction import Ended, Request


class RecordingTransport(CassetteTransport):
    """Answers requests from a cassette, and sends and records all others.

    Args:
        library: the module, httpx or httpx2.
        play: returns the answer to a request from the cassette, or None if it may be sent.
        record: returns the recorder for the response to a request that is sent now.
        inner: sends requests; by default the library's own transport.
    """

    def __init__(
        self,
        library: Library,
        play: Callable[[Request], Answer | None],
        record: Callable[[Request], ResponseRecorder],
        inner: Any,  # noqa: ANN401 - a transport of the library
    ) -> None:
        super().__init__(library, play)
        self._record = record
        self._sync: Library = inner
        self._async: Library = inner

    def send(self, request: Library, sent: Request) -> Library:
        """Send a request of a sync client, and record the response."""
        self._sync = self._sync or self.library.HTTPTransport()
        recorder = self._record(sent)
        return self._recorded(self._sync.handle_request(request), recorder)

    async def send_async(self, request: Library, sent: Request) -> Library:
        """Send a request of an async client, and record the response."""
        self._async = self._async or self.library.AsyncHTTPTransport()
        recorder = self._record(sent)
        return self._recorded(await self._async.handle_async_request(request), recorder)

    def close(self) -> None:
        """Close the connections of a sync client."""
        if self._sync is not None:
            self._sync.close()

    async def aclose(self) -> None:
        """Close the connections of an async client."""
        if self._async is not None:
            await self._async.aclose()

    def _recorded(self, response: Library, recorder: ResponseRecorder) -> Library:
        recorder.head(response.status_code, tuple(response.headers.multi_items()))
        stream = with_bases(self.library, _RecordedStream, "ByteStream")
        response.stream = stream(response.stream, recorder, self.library)
        return response


class _RecordedStream:
    """The body of a response, passed to the client and to the recorder."""

    def __init__(self, stream: Any, recorder: ResponseRecorder, library: Library) -> None:  # noqa: ANN401 - a stream of the library
        self._inner = stream
        self._recorder = recorder
        self._library = library

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._inner:
                self._recorder.add(piece)
                yield piece
        except Exception as error:
            self._recorder.end(self._end_by(error))
            raise
        self._recorder.end("complete")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner:
                self._recorder.add(piece)
                yield piece
        except Exception as error:
            self._recorder.end(self._end_by(error))
            raise
        self._recorder.end("complete")

    def close(self) -> None:
        """Close the response of a sync client; if the body has not ended, record it as aborted."""
        self._recorder.end("aborted")
        self._inner.close()

    async def aclose(self) -> None:
        """Close the response of an async client, as `close` does."""
        self._recorder.end("aborted")
        await self._inner.aclose()

    def _end_by(self, error: Exception) -> Ended:
        if isinstance(error, self._library.RemoteProtocolError):
            return "truncated"
        return "reset" if isinstance(error, self._library.ReadError) else "aborted"
