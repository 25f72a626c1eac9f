"""All mutators, by name, in the order in which Hypothesis prefers them: simplest first."""

from typing import Final

from harness.fuzzing.mutators import endings, framing, payloads
from harness.fuzzing.mutators.mutator import Mutator

MUTATORS: Final[tuple[Mutator, ...]] = (
    *framing.MUTATORS,
    *payloads.MUTATORS,
    *endings.MUTATORS,
)
