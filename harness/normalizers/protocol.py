"""The protocol that users implement, and the declaration of a normalizer."""

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

Normalize: TypeAlias = Callable[[Interaction, Iterable[bytes]], Iterator[Delta]]

Role = Literal["conforming", "known-bad", "mutant", "peer"]

# What a stream may require in addition to its dialect. Without it, the cell is unsupported.
CAPABILITIES = {
    "repeated-arguments": "arguments sent cumulatively, repeated at the end, or after a `{}`",
    "names-in-pieces": "function names that come in several deltas",
    "custom-tools": "calls of custom tools, whose input is free text and not JSON",
    "calls-without-index": "parallel calls without a usable index",
    "aws-framing": "the events of another API in the binary framing of AWS, as on Bedrock",
}


class Normalizer(msgspec.Struct, frozen=True):
    """A normalizer and its declaration.

    Fields:
        name: selects it with `-n`.
        normalize: gets the interaction without its body, and the body as `reads`, which end
            without an error; `interaction.ended` says how the body ended. It must be lazy,
            because the harness counts the bytes that it read before each delta. It must keep no
            state between calls.
        dialects: those that it supports. Any other is `unsupported` and is not counted.
        capabilities: keys of `CAPABILITIES`.
        streams: False if it emits the turn only at the end.
        role: `conforming` runs by default; `known-bad` (reproduces a bug reported in the
            field), `mutant` (one seeded fault, to prove a rule) and `peer` (an adapter for a
            third-party library) run if the user names them.
        breaks: for mutants and known-bad clients, the ids of the rules that they violate.
        summary: one line for `harness list normalizers`.
        policies: choices between catalogued rules that exclude each other, such as
            `{"name": "by-tools"}`; it is judged by the policies that it declares.
        text_dialects: names of the text dialects whose calls it finds in text; a scenario of
            any other is `unsupported`.
        needs: top-level modules that it requires, such as a provider's package.
        extra: the extra of this package that installs them.
    """

    name: str
    normalize: Normalize
    dialects: frozenset[str] = frozenset({"openai-chat"})
    capabilities: frozenset[str] = frozenset()
    streams: bool = True
    role: Role = "conforming"
    breaks: frozenset[str] = frozenset()
    summary: str = ""
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    text_dialects: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    extra: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules in `needs` that are not installed."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)
