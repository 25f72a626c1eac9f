"""The kill table: each mutant breaks the rules that it names, and no agent else any."""

import pytest

from harness.conversation.agent import Agent
from harness.conversation.gateway import gateway
from harness.conversation.mutants import MUTANTS
from harness.conversation.plain_loop import action, dashscope, plain, tag
from harness.judging.conversations.judge import judge_conversation
from harness.judging.replaying import Cuts
from harness.judging.rules import CONVERSATION_RULES
from tests.conversation.conversation_stage import STAGE


def broken_rules(agent: Agent, cuts: Cuts = "standard") -> dict[str, set[str]]:
    """Return the rules that an agent breaks, each with the conversations that show it."""
    found: dict[str, set[str]] = {}
    for subject in STAGE:
        result, _ = judge_conversation(subject, agent, cuts=cuts)
        for finding in result.findings:
            found.setdefault(finding.rule, set()).add(subject.id)
    return found


@pytest.mark.parametrize("name", sorted(MUTANTS))
def test_a_mutant_breaks_the_rules_that_it_names_and_no_others(name: str) -> None:
    mutant = MUTANTS[name]
    needs_cuts = any(CONVERSATION_RULES[rule].needs_cuts for rule in mutant.breaks)
    found = broken_rules(mutant, "standard" if needs_cuts else "whole")
    assert found.keys() == mutant.breaks, found


@pytest.mark.parametrize("agent", [plain, gateway, dashscope, tag, action], ids=lambda it: it.name)
def test_what_is_meant_to_pass_breaks_none(agent: Agent) -> None:
    assert broken_rules(agent) == {}


def test_every_rule_has_a_mutant() -> None:
    assert {rule for each in MUTANTS.values() for rule in each.breaks} == set(CONVERSATION_RULES)


@pytest.mark.parametrize("name", sorted(MUTANTS))
def test_mutants_say_what_is_wrong_with_them(name: str) -> None:
    mutant = MUTANTS[name]
    assert mutant.name == name
    assert mutant.role in ("mutant", "known-bad")
    assert mutant.summary
    assert mutant.breaks
