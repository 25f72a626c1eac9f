"""Wire mutators: an interaction in, one that a provider might have sent instead out."""

from harness.fuzzing.mutators.mutants import applied, fitting, may_call_more, mutants
from harness.fuzzing.mutators.mutator import Mutant, Mutation, Mutator
from harness.fuzzing.mutators.table import MUTATORS

__all__ = [
    "MUTATORS",
    "Mutant",
    "Mutation",
    "Mutator",
    "applied",
    "fitting",
    "may_call_more",
    "mutants",
]
