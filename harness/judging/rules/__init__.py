"""Collect the rules about turns, conversations, cost and time in one table.

The rules do not overlap: one fault of a client violates one rule, as the mutants show.
"""

from typing import Any

from harness.judging.conversations.evidence import ConversationEvidence, conversation_rule
from harness.judging.cost import CostEvidence, cost_rule
from harness.judging.evidence import TurnEvidence, turn_rule
from harness.judging.rule import Rule
from harness.judging.rules import (
    arguments,
    arguments_time,
    calls,
    conversation_calls,
    conversation_earlier,
    conversation_ends,
    conversation_history,
    conversation_meta,
    conversation_prompts,
    conversation_requests,
    conversation_stored,
    conversation_told,
    cost,
    deltas,
    finish,
    gateway,
    markup,
    replays,
    text,
    timing,
)
from harness.judging.timing.evidence import TimingEvidence, timing_rule

_TURN_FAMILIES = (
    *(calls, arguments, text, markup, finish, deltas, replays, arguments_time, gateway),
)
TURN_RULES: dict[str, Rule[TurnEvidence]] = {
    rule.id: rule for family in _TURN_FAMILIES for rule in turn_rule.of_module(family.__name__)
}
CONVERSATION_RULES: dict[str, Rule[ConversationEvidence]] = {
    rule.id: rule
    for family in (
        conversation_ends,
        conversation_calls,
        conversation_history,
        conversation_stored,
        conversation_earlier,
        conversation_told,
        conversation_prompts,
        conversation_requests,
        conversation_meta,
    )
    for rule in conversation_rule.of_module(family.__name__)
}
COST_RULES: dict[str, Rule[CostEvidence]] = {
    rule.id: rule for rule in cost_rule.of_module(cost.__name__)
}
TIMING_RULES: dict[str, Rule[TimingEvidence]] = {
    rule.id: rule for rule in timing_rule.of_module(timing.__name__)
}
RULES: dict[str, Rule[Any]] = {
    **TURN_RULES,
    **CONVERSATION_RULES,
    **COST_RULES,
    **TIMING_RULES,
}
