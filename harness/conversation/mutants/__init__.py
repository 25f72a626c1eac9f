"""Mutants: the plain loop or the gateway with one seeded fault, modelled on bugs of real clients.

Each mutant declares the rules that it violates, and violates no other rule. Some have the role
`known-bad`, because a real system from which this project began had the bug.
"""

from harness.conversation.mutants import history, loop, prompts, records, told
from harness.conversation.mutants.edit import MUTANTS

__all__ = ["MUTANTS", "history", "loop", "prompts", "records", "told"]
