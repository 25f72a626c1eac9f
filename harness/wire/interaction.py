"""One request and its streamed response, as they crossed the network.

The body is kept as sent; `reads` remember how the network handed it over.
"""

from itertools import accumulate
from typing import Any, Final, Literal

import msgspec

Headers = tuple[tuple[str, str], ...]
Ended = Literal["complete", "reset", "truncated", "aborted"]
Due = Literal["", "call", "answer"]

# The client of such a body got an error of the network after the last read.
BROKEN: Final[frozenset[Ended]] = frozenset(("reset", "truncated"))


class Read(msgspec.Struct, frozen=True):
    """The bytes that one network read returned.

    Fields:
        size: number of bytes.
        delay_ms: milliseconds since the read before (or since the request).
    """

    size: int
    delay_ms: int = 0


class Request(msgspec.Struct, frozen=True):
    """What the client sent; `body` is empty where the source did not keep it."""

    method: str = "POST"
    uri: str = ""
    headers: Headers = ()
    body: bytes = b""


class Interaction(msgspec.Struct, frozen=True, weakref=True):
    """One request with its response (vcrpy's word).

    Fields:
        body: the response body, content encoding removed, otherwise byte-exact.
        reads: sizes and delays; the sizes add up to `len(body)`.
        reads_kept: False if the reads are synthetic (one for each event), because the
            source, like vcrpy, joined the stream before it stored it.
        dialect: the wire format of the provider's API, as known to the client that sent the
            request; "unknown" in a recording that does not contain it.
        tools: tools that the prompt describes and the request does not declare:
            {name, description, parameters} each, as in OpenAI's functions.
        ended: how the body came to its end. `complete`: by its framing, or it is not known;
            `reset`: the connection broke; `truncated`: the server closed it in the middle of
            the body; `aborted`: the client left before the body or its `data: [DONE]` ended, so
            what would have come is not known.
        due: what the client must get for the turn to be of use: a `call` of a tool, or an
            `answer` without one; "" if it was not specified, and then either will do.
        encoding: the content encoding that came off the body while it was recorded; "" if
            there was none, or the source does not contain it.
    """

    request: Request
    status: int
    headers: Headers
    body: bytes
    reads: tuple[Read, ...]
    reads_kept: bool = True
    dialect: str = "openai-chat"
    tools: tuple[dict[str, Any], ...] = ()
    ended: Ended = "complete"
    encoding: str = ""
    due: Due = ""

    def header(self, name: str) -> str:
        """Return the first response header called `name` (any case), or ""."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    def recorded_cuts(self) -> tuple[int, ...]:
        """Return the offsets in `body` where one read ended and the next began."""
        return tuple(accumulate(read.size for read in self.reads))[:-1]

    @property
    def broken(self) -> bool:
        """Whether the connection broke before the body ended."""
        return self.ended in BROKEN

    def without_body(self) -> "Interaction":
        """Return what a normalizer is given: the bytes come through the reads alone."""
        return Interaction(
            self.request,
            self.status,
            self.headers,
            b"",
            (),
            dialect=self.dialect,
            tools=self.tools,
            ended=self.ended,
        )
