"""Hypothesis strategies for everything that a harness of tool calls has to survive."""

from harness.fuzzing.strategies.spellings import SPELLINGS, spellings, switches

__all__ = ["SPELLINGS", "spellings", "switches"]
