"""Mutants: the plain loop or the gateway with one seeded fault, modelled on bugs of real clients.

Each declares the rules that it violates: these and no others. Some have the role `known-bad`,
because one of the seed systems had this bug.
"""

from harness.conversation.mutants import history, loop, prompts, records
from harness.conversation.mutants.edit import MUTANTS

__all__ = ["MUTANTS", "history", "loop", "prompts", "records"]
