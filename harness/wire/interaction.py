"""Define an interaction: one request and its streamed response, as the network transferred them.

`Interaction.body` holds the bytes as sent. `Interaction.reads` holds how the network split them.
"""

from itertools import accumulate
from typing import Any, Final, Literal

import msgspec

Headers = tuple[tuple[str, str], ...]
Ended = Literal["complete", "reset", "truncated", "aborted"]
Due = Literal["", "call", "answer"]

# The status of a response that opens a WebSocket connection.
SWITCHING_PROTOCOLS: Final = 101
# The client of such a body got an error of the network after the last read.
BROKEN: Final[frozenset[Ended]] = frozenset(("reset", "truncated"))


class Read(msgspec.Struct, frozen=True):
    """The size and delay of one network read, which returned a part of a response body.

    Fields:
        size: number of bytes.
        delay_ms: milliseconds since the previous read; for the first read, since the request.
    """

    size: int
    delay_ms: int = 0


class Request(msgspec.Struct, frozen=True):
    """The client's HTTP request; `body` is empty if the recording does not contain it."""

    method: str = "POST"
    uri: str = ""
    headers: Headers = ()
    body: bytes = b""


class Interaction(msgspec.Struct, frozen=True, weakref=True):
    """One HTTP request with its response, as vcrpy calls the pair.

    Fields:
        body: the response body, without its content encoding, otherwise byte-exact.
        reads: sizes and delays of the network reads; the sizes add up to `len(body)`.
        reads_kept: False if the reads are synthetic (one for each event), because the
            recorder, like vcrpy, stored the stream only after joining it.
        dialect: the wire format of the provider's API, as known to the client that sent the
            request; "unknown" in a recording that does not contain it.
        tools: tools that the prompt describes and the request does not declare, each
            {name, description, parameters}, as in OpenAI's functions.
        ended: how the body ended. `complete`: by its framing, or unknown;
            `reset`: the connection broke; `truncated`: the server closed it in the middle of
            the body; `aborted`: the client left before the body or its `data: [DONE]` ended, so
            the rest of the body is not known.
        due: the kind of response that the user needs: a `call` of a tool, or an `answer` without
            a call. "" if it was not specified, and then both are right.
        encoding: the content encoding that the recorder removed from the body; "" if there was
            none, or the recording does not contain it.
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
    def in_session(self) -> bool:
        """Whether the messages of a WebSocket session are the request and the response."""
        return self.status == SWITCHING_PROTOCOLS

    @property
    def broken(self) -> bool:
        """Whether the connection broke before the body ended."""
        return self.ended in BROKEN

    def without_body(self) -> "Interaction":
        """Return a copy without body and reads, because a normalizer gets the bytes separately."""
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
