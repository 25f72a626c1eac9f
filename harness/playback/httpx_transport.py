"""A playback as a transport of httpx: what its clients send is answered from a cassette.

For `httpx.Client(transport=...)` and `httpx.AsyncClient(transport=...)` alike. Each read of
the answer is handed over when the client asks for it, not before.
"""

from harness.playback.playback import Playback
from harness.playback.transports import play_request

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
        response: httpx.Response = play_request(httpx, self.playback, request, request.read())
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of an async client."""
        response: httpx.Response = play_request(
            httpx, self.playback, request, await request.aread()
        )
        return response
