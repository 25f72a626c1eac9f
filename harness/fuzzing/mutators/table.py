"""All mutators, by name, in the order in which Hypothesis prefers them: simplest first."""

from typing import Final

from harness.fuzzing.mutators import chat_chunks, chat_entries, endings, framing, payloads, pieces
from harness.fuzzing.mutators.mutator import Mutator

MUTATORS: Final[tuple[Mutator, ...]] = (
    *framing.MUTATORS,
    *payloads.MUTATORS,
    *pieces.MUTATORS,
    *chat_entries.MUTATORS,
    *chat_chunks.MUTATORS,
    *endings.MUTATORS,
)
