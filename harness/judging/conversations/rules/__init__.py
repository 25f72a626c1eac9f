"""The rules about conversations: one table, in rooms by what they look at.

Rules are disjoint: one fault of an agent breaks one rule, which the miniatures prove; what
only follows from a fault is not told again.
"""

from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.rule import ConversationRule
from harness.judging.results import Finding
from harness.judging.rules import (
    conversation_calls,
    conversation_ends,
    conversation_history,
    conversation_meta,
    conversation_requests,
)

CONVERSATION_RULES: dict[str, ConversationRule] = {
    rule.id: rule
    for room in (
        conversation_ends,
        conversation_calls,
        conversation_history,
        conversation_requests,
        conversation_meta,
    )
    for rule in room.RULES
}


def findings(seen: ConversationEvidence) -> tuple[Finding, ...]:
    """Return what breaks a rule in `seen`, worst first, without what only follows from it."""
    found = {rule.id: tuple(rule.findings(seen)) for rule in CONVERSATION_RULES.values()}
    broken = {rule for rule, each in found.items() if each}
    told = (
        finding
        for rule in CONVERSATION_RULES.values()
        if broken.isdisjoint(rule.yields_to)
        for finding in found[rule.id]
    )
    return tuple(sorted(told, key=_worst_first))


def _worst_first(finding: Finding) -> tuple[bool, int, str, str]:
    return finding.level != "MUST", finding.outcome.badness, finding.rule, finding.path


__all__ = ["CONVERSATION_RULES", "ConversationRule", "findings"]
