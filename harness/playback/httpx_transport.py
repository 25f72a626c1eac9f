"""A playback as a transport of httpx: what its clients send is answered from a cassette.

For `httpx.Client(transport=...)` and `httpx.AsyncClient(transport=...)` alike. Each read of
the answer is handed over when the client asks for it, not before.
"""

from harness.playback.client_response import response_of
from harness.playback.playback import Playback
from harness.wire.interaction import Request

try:
    import httpx
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "this transport needs httpx, which is not installed: pip install 'toolcall-harness[httpx]'",
        name=error.name,
    ) from None


class PlaybackTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers the requests of a client, sync or async, from a cassette."""

    def __init__(self, playback: Playback) -> None:
        self.playback = playback

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of a sync client."""
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of an async client."""
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        answer = self.playback.answer(
            Request(request.method, str(request.url), tuple(request.headers.multi_items()), body)
        )
        response: httpx.Response = response_of(httpx, answer, self.playback.reads(answer))
        return response
