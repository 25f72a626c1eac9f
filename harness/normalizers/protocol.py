"""Define the function that users implement, and the declaration of a normalizer."""

from collections.abc import Callable, Iterator
from typing import Literal, Protocol, TypeAlias

import msgspec

from harness.normalizers.needs import missing_modules
from harness.normalizers.timing import TimedClient
from harness.project import ClientKind, Role
from harness.results.exchange import Exchange
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

Normalize: TypeAlias = Callable[[Interaction, Iterator[bytes]], Iterator[Delta]]


# What a stream may require in addition to its dialect. Without it, the cell is unsupported.
CAPABILITIES = {
    "repeated-arguments": "arguments sent cumulatively, repeated at the end, or after a `{}`",
    "names-in-pieces": "function names that come in several deltas",
    "custom-tools": "calls of custom tools, whose input is free text and not JSON",
    "client-actions": "actions that the API asks of the client itself, such as a shell command",
    "tool-namespaces": "calls of tools in a namespace, which only a request with such tools gets",
    "legacy-functions": "calls of the deprecated `functions`, which only a request with them gets",
    "several-choices": "several choices, which only a request for more than one gets",
    "calls-without-index": "parallel calls without a usable index",
    "partial-arguments": "arguments as values with JSON paths, which Gemini sends on request",
    "other-encodings": "an encoding or version that the client must request, or that a proxy makes",
    "resumed-streams": "the rest of a response, which only a request for it gets",
    "aws-framing": "the events of another API in the binary framing of AWS, as on Bedrock",
    "realtime-events": "the events of OpenAI's Realtime API, which has its own client",
    "sessions": "responses in a session over WebSocket, which has its own client",
    "calls-in-unknown-members": "calls under a member that the API does not have",
}


# What a client may not expose to agent code, so that it is not judged.
Hidden = Literal["ids", "text", "reasoning", "finish", "finish_raw", "usage"]


class Link(Protocol):
    """The connection of the harness to a gateway under test.

    Attributes:
        latest: what the gateway was sent and what it sent in the last replay; None if nothing.
    """

    latest: Exchange | None

    def prepare(self) -> None:
        """Start what the next replay needs, because its time limit must not include that."""


class Normalizer(msgspec.Struct, frozen=True):
    """A normalizer, and what it declares about itself.

    Fields:
        name: the name that selects the normalizer with the option `-n`.
        normalize: the function that yields deltas. It gets the interaction without its body, and
            the body as `reads`, an iterator that raises no error; `interaction.ended` contains how
            the body ended. The function must be lazy, because the harness counts the bytes that
            were read before each delta. It must keep no state between calls.
        dialects: the dialects that the normalizer supports. Cells of other dialects are
            `unsupported` and do not count.
        capabilities: the optional features that it supports, as keys of `CAPABILITIES`.
        streams: False if it emits the turn only at the end.
        kind: what it declares to do. An `sdk` passes the provider's values to its caller, so it
            need not repair them. A `gateway` normalizes the values. An `agent` executes calls.
        hides: the fields that it does not expose. The harness does not judge them, and reports show
            that.
        role: `conforming` runs by default; `known-bad` (reproduces a bug reported in the field),
            `mutant` (one seeded fault, to prove a rule) and `peer` (an adapter for a third-party
            library) run if the user names them.
        breaks: for mutants and known-bad clients, the ids of the rules that they violate.
        only: capabilities that a stream must require, for clients of one kind of stream alone.
        summary: one line for `harness list normalizers`.
        policies: its choices between rules that exclude each other, such as `{"name": "by-tools"}`.
            The harness judges it by the policies that it declares.
        text_dialects: names of the text dialects whose calls it finds in text; scenarios of other
            text dialects are `unsupported`.
        needs: the modules that it requires, such as a provider's SDK.
        extra: the extra of this package that installs these modules.
        front: for a gateway between two APIs, the dialect in which it answers; "" for all others.
        parallel: whether several processes may run it at once.
        link: the connection to a gateway between two APIs; None for all others.
        timed: how to run it on timing scenarios; None if it sends no requests itself. Then these
            scenarios are `unsupported`.
    """

    name: str
    normalize: Normalize
    dialects: frozenset[str] = frozenset({"openai-chat"})
    capabilities: frozenset[str] = frozenset()
    streams: bool = True
    kind: ClientKind = "gateway"
    hides: frozenset[Hidden] = frozenset()
    role: Role = "conforming"
    breaks: frozenset[str] = frozenset()
    summary: str = ""
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    text_dialects: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    extra: str = ""
    front: str = ""
    parallel: bool = True
    link: Link | None = None
    timed: TimedClient | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules in `needs` that are not installed."""
        return missing_modules(self.needs)
