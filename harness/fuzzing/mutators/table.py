"""All mutators, in the order in which Hypothesis prefers them: those that keep the turn first."""

from typing import Final

from harness.fuzzing.mutators import (
    calls,
    chat_chunks,
    chat_ends,
    chat_entries,
    chat_spellings,
    endings,
    framing,
    payloads,
    pieces,
    requests,
    texts,
)
from harness.fuzzing.mutators.mutator import Mutator

_ALL: Final[tuple[Mutator, ...]] = (
    *framing.MUTATORS,
    *payloads.MUTATORS,
    *pieces.MUTATORS,
    *requests.MUTATORS,
    *chat_entries.MUTATORS,
    *chat_chunks.MUTATORS,
    *chat_ends.MUTATORS,
    *chat_spellings.MUTATORS,
    *endings.MUTATORS,
    *calls.MUTATORS,
    *texts.MUTATORS,
)
MUTATORS: Final = tuple(sorted(_ALL, key=lambda mutator: not mutator.preserving))
