"""Decide the meaning of one response body by the contract of its API (the oracle).

An oracle reads the complete body at once and shares no code with the readers of `harness.dialects`.
It abstains if the meaning is ambiguous in the contract, because a judge must not guess.
"""
