"""Talks: agents that are meant to pass have them as their script says; smaller ones are smaller."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.discovery import load_agent
from harness.fuzzing.conversations.plans import ConversationPlan, conversation_plans, smaller_plans
from harness.fuzzing.conversations.scenarios import build_scenario
from harness.fuzzing.turns.evaluate import evaluate
from harness.fuzzing.turns.text_calls import readable_text_dialects, text_call_trials
from harness.judging.conversations.judge import judge_conversation
from harness.normalizers.discovery import load_normalizer
from harness.text_calls import TEXT_DIALECTS


@pytest.mark.parametrize(
    "name", ["plain-loop", "gateway", "dashscope-loop", "tag-loop", "action-loop"]
)
@given(data=st.data())
def test_conforming_agents_pass_generated_conversations(name: str, data: st.DataObject) -> None:
    agent = load_agent(name)
    talk = data.draw(conversation_plans(agent))
    result, _ = judge_conversation(build_scenario(talk, agent).loaded(), agent, cuts="quick")
    assert result.findings == ()
    assert result.outcome.conforms


@given(talk=conversation_plans(load_agent("tag-loop")))
def test_no_turn_has_a_call_twice_in_another_order_of_its_arguments(talk: ConversationPlan) -> None:
    for turn in (turn for question in talk.questions for turn in question):
        made = [(call.tool, frozenset(map(str, call.arguments.items()))) for call in turn.calls]
        assert len(made) == len(set(made)) or any(call.broken for call in turn.calls)


@given(talk=conversation_plans(load_agent("gateway")))
def test_smaller_plans_are_smaller_and_build_scenarios(talk: ConversationPlan) -> None:
    for less in smaller_plans(talk):
        assert less.size < talk.size
        assert build_scenario(less, load_agent("gateway")).loaded().cassette.interactions


@pytest.mark.parametrize("name", ["reference", "tag-extract", "action-protocol"])
@given(data=st.data())
def test_text_call_answers_mean_what_their_parts_mean(name: str, data: st.DataObject) -> None:
    normalizer = load_normalizer(name)
    trial = data.draw(text_call_trials(readable_text_dialects(normalizer)))
    assert trial.seed.parent.text_dialect in normalizer.text_dialects
    assert evaluate(trial, normalizer).findings == ()


def test_only_readers_of_text_calls_get_text_call_inputs() -> None:
    assert readable_text_dialects(load_normalizer("naive")) == ()
    assert set(readable_text_dialects(load_normalizer("reference"))) == set(TEXT_DIALECTS)
