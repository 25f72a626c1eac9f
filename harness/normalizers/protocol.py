"""The one protocol that outsiders write, and what a normalizer declares about itself."""

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction

Normalize: TypeAlias = Callable[[Interaction, Iterable[bytes]], Iterator[Delta]]

Role = Literal["conforming", "known-bad", "mutant", "peer"]

# What a scenario may ask for beyond its dialect; an undeclared one makes the cell unsupported.
CAPABILITIES = {
    "repeated-arguments": "arguments sent cumulatively, once more at the end, or after a `{}`",
    "names-in-pieces": "function names that come in several deltas",
    "custom-tools": "calls of custom tools, whose input is free text and no JSON",
    "calls-without-index": "parallel calls without a usable index",
}


class Normalizer(msgspec.Struct, frozen=True):
    """A normalizer and its declaration.

    Fields:
        name: what `-n` calls it.
        normalize: gets the interaction without its body, which comes through `reads` alone.
            Lazy: the harness counts the bytes that were pulled from `reads` when each
            delta appears. It must keep no state between calls.
        dialects: those it reads; any other is `unsupported` and stays out of denominators.
        capabilities: those of `CAPABILITIES` that it has.
        streams: False where it can only give the finished turn at the end.
        role: `conforming` runs by default; `known-bad` (reproduces a bug reported in the
            field), `mutant` (one seeded fault, to prove a rule) and `peer` (an adapter for a
            third-party library) run if the user names them.
        breaks: for mutants and known-bad clients, the ids of the rules that they violate.
        summary: one line for `harness list normalizers`.
        policies: choices where catalogued rules pull against each other, such as
            `{"name": "by-tools"}`; a declared policy is what it is judged by.
        text_dialects: names of the text dialects whose calls it finds in text; a scenario of
            any other is `unsupported`.
        needs: top-level modules without which it cannot run, such as a provider's package.
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
        """Those of `needs` that are not installed."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)
