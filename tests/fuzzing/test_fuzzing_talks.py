"""Talks: agents that are meant to pass have them as their script says; smaller ones are smaller."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conversation.discovery import load_agent
from harness.fuzzing.oracle import tried
from harness.fuzzing.spoken import asked, spoken
from harness.fuzzing.staging import staged
from harness.fuzzing.talks import Talk, smaller, talks
from harness.judging.conversations.judge_conversation import judge_conversation
from harness.normalizers.discovery import load_normalizer
from harness.turns.text_calls.table import TEXT_DIALECTS

_FEW = max(5, settings().max_examples // 3)


@pytest.mark.parametrize(
    "name", ["plain-loop", "gateway", "dashscope-loop", "tag-loop", "action-loop"]
)
@settings(max_examples=_FEW)
@given(data=st.data())
def test_agents_meant_to_pass_have_any_talk_as_expected(name: str, data: st.DataObject) -> None:
    agent = load_agent(name)
    talk = data.draw(talks(agent))
    result, _ = judge_conversation(staged(talk, agent).loaded(), agent, cuts="quick")
    assert result.findings == ()
    assert result.outcome.conforms


@settings(max_examples=_FEW)
@given(talk=talks(load_agent("gateway")))
def test_smaller_talks_are_smaller_and_can_be_staged(talk: Talk) -> None:
    for less in smaller(talk):
        assert less.size < talk.size
        assert staged(less, load_agent("gateway")).loaded().cassette.interactions


@pytest.mark.parametrize("name", ["reference", "tag-extract", "action-protocol"])
@settings(max_examples=_FEW)
@given(data=st.data())
def test_spoken_answers_mean_what_their_parts_say(name: str, data: st.DataObject) -> None:
    normalizer = load_normalizer(name)
    trial = data.draw(spoken(asked(normalizer)))
    assert trial.seed.text_dialect in normalizer.text_dialects
    assert tried(trial, normalizer).findings == ()


def test_only_who_reads_text_calls_is_asked() -> None:
    assert asked(load_normalizer("naive")) == ()
    assert set(asked(load_normalizer("reference"))) == set(TEXT_DIALECTS)
