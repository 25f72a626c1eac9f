"""Wire mutators: an interaction in, one that a provider might have sent instead out."""

from harness.fuzzing.mutators.mutator import MutatedInput, Mutation, Mutator
from harness.fuzzing.mutators.table import (
    MUTATORS,
    apply_mutators,
    fitting,
    may_call_more,
    mutated_inputs,
)

__all__ = [
    "MUTATORS",
    "MutatedInput",
    "Mutation",
    "Mutator",
    "apply_mutators",
    "fitting",
    "may_call_more",
    "mutated_inputs",
]
