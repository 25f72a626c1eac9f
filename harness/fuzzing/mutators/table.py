"""All mutators, in the order in which Hypothesis prefers them: those that keep the turn first."""

from typing import Final

from harness.fuzzing.mutators import (
    calls,
    chat_chunks,
    chat_entries,
    endings,
    framing,
    payloads,
    pieces,
    texts,
)
from harness.fuzzing.mutators.mutator import Mutator

_ALL: Final[tuple[Mutator, ...]] = (
    *framing.MUTATORS,
    *payloads.MUTATORS,
    *pieces.MUTATORS,
    *chat_entries.MUTATORS,
    *chat_chunks.MUTATORS,
    *endings.MUTATORS,
    *calls.MUTATORS,
    *texts.MUTATORS,
)
MUTATORS: Final = tuple(sorted(_ALL, key=lambda mutator: not mutator.preserving))
