"""A playback as a transport of httpx2: what its clients send is answered from a cassette.

For `httpx2.Client(transport=...)` and `httpx2.AsyncClient(transport=...)` alike. Each read of
the answer is handed over when the client asks for it, not before.
"""

from harness.playback.playback import Playback
from harness.playback.transports import play_request

try:
    import httpx2
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "this transport needs httpx2, which is not installed: "
        "pip install 'toolcall-harness[httpx2]'",
        name=error.name,
    ) from None


class PlaybackTransport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Answers the requests of a client, sync or async, from a cassette."""

    def __init__(self, playback: Playback) -> None:
        self.playback = playback

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request of a sync client."""
        response: httpx2.Response = play_request(httpx2, self.playback, request, request.read())
        return response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request of an async client."""
        response: httpx2.Response = play_request(
            httpx2, self.playback, request, await request.aread()
        )
        return response
