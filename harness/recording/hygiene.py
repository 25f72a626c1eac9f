"""What is recorded -> what may be written: allowed headers, and nothing secret.

Fails closed: where something secret is found that cannot be replaced, nothing is written.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from harness.recording import scrub
from harness.wire.interaction import Headers, Interaction, Request

# All that a dialect, a framing or a person who reads the cassette needs.
REQUEST_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "openai-beta",
        "user-agent",
        "x-dashscope-sse",
    }
)
RESPONSE_HEADERS: Final = frozenset(
    {
        "cache-control",
        "content-encoding",
        "content-type",
        "retry-after",
        "server",
        "transfer-encoding",
        "x-accel-buffering",
    }
)


class Hygiene:
    """What is kept of a recording.

    Args:
        keep_headers: names of headers to keep beside the allowed ones, of requests and
            responses alike; those of credentials never.
    """

    def __init__(self, keep_headers: Iterable[str] = ()) -> None:
        self._more = frozenset(name.lower() for name in keep_headers)

    def request(self, request: Request) -> Request:
        """Return `request` as it is written."""
        return msgspec.structs.replace(
            request,
            uri=scrub.address(request.uri),
            headers=self._headers(request.headers, REQUEST_HEADERS),
        )

    def cleaned(self, interactions: Sequence[Interaction], where: str) -> list[Interaction]:
        """Return `interactions` as they are written."""
        del where
        return [
            msgspec.structs.replace(
                each,
                request=self.request(each.request),
                headers=self._headers(each.headers, RESPONSE_HEADERS),
            )
            for each in interactions
        ]

    def _headers(self, headers: Headers, allowed: frozenset[str]) -> Headers:
        kept = tuple(pair for pair in headers if pair[0].lower() in allowed | self._more)
        return scrub.headers(kept)
