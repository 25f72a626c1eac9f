"""The rules: one table of what a replay must satisfy, in rooms by what they look at.

A rule looks at one replay (`Evidence`) and yields what it found. Rules are disjoint: one
fault of a normalizer breaks one rule, which the miniatures prove.
"""

from harness.judging.rule import Rule, TurnEvidence
from harness.judging.rules import arguments, calls, deltas, finish, markup, replays, text

RULES: dict[str, Rule] = {
    rule.id: rule
    for room in (calls, arguments, text, markup, finish, deltas, replays)
    for rule in room.RULES
}

__all__ = ["RULES", "Rule", "TurnEvidence"]
