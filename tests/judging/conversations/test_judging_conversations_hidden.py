"""What an agent does not tell is not judged, and everything else is."""

import pytest
from msgspec.structs import replace

from harness.conversation.agent import Agent, HiddenOfAgent
from harness.conversation.discovery import load_agent
from harness.conversation.task import Task
from harness.judging.conversations.judge import judge_conversation
from harness.results.conversation import Conversation, Ending, TurnMeta
from tests.judging.conversations.conversation_samples import (
    OSLO,
    a_cassette,
    a_script,
    calls,
    cut,
    loaded,
    says,
)

PLAIN = load_agent("plain-loop")


def agent(ending: Ending | None, *hides: HiddenOfAgent) -> Agent:
    """Return the plain loop without its reports of errors, and with another ending."""

    def converse(task: Task) -> Conversation:
        found = PLAIN.converse(task)
        turns = tuple(replace(turn, meta=TurnMeta()) for turn in found.turns)
        return replace(found, turns=turns, ending=ending or found.ending)

    return replace(PLAIN, converse=converse, hides=frozenset(hides))


@pytest.mark.parametrize(("hides", "rules"), [((), ["CONV-PARSE-ERRORS"]), (("parse_errors",), [])])
def test_reports_of_calls_that_were_not_usable(
    hides: tuple[HiddenOfAgent, ...], rules: list[str]
) -> None:
    cassette = a_cassette(calls('{"city": Oslo}'), calls(OSLO), says("4 degrees."))
    result, _ = judge_conversation(loaded(cassette, a_script(parse_errors=1)), agent(None, *hides))
    assert sorted({finding.rule for finding in result.findings}) == rules


@pytest.mark.parametrize(("hides", "rules"), [((), ["CONV-ENDING"]), (("finish",), [])])
def test_the_end_of_an_answer_that_was_cut_at_its_length(
    hides: tuple[HiddenOfAgent, ...], rules: list[str]
) -> None:
    cassette = a_cassette(calls(OSLO), says("4 deg", finish="length"))
    result, _ = judge_conversation(loaded(cassette, a_script("limit")), agent("done", *hides))
    assert sorted({finding.rule for finding in result.findings}) == rules


def test_the_end_of_a_stream_that_broke_is_judged_nevertheless() -> None:
    script = a_script("interrupted", executed=())
    subject = loaded(a_cassette(cut(calls(OSLO))), script)
    result, _ = judge_conversation(subject, agent("done", "finish"))
    assert [finding.path for finding in result.findings] == ["ending"]
