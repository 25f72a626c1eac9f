"""Mutants: small normalizers with one seeded fault each, which prove that each rule can fail.

Each mutant is `reference` with one edit of its reads, its deltas or the calls of a turn, modelled
on a bug of a real client. It declares the rules that it violates, and violates no other rule. The
mutants of gateways are the suite's own gateway with one edit.
`COST_MUTANTS` contains the mutants that violate rules about cost.
"""

from harness.normalizers.mutants import arguments, calls, endings, gateways, text
from harness.normalizers.mutants.cost import COST_MUTANTS
from harness.normalizers.mutants.edit import MUTANTS

__all__ = ["COST_MUTANTS", "MUTANTS", "arguments", "calls", "endings", "gateways", "text"]
