"""The case of a conversation is bounded, and marked as cut if something is missing."""

import pytest

from harness.conversation.agent import Agent
from harness.conversation.task import Task
from harness.judging.conversations.judge import judge_conversation
from harness.results.conversation import Conversation
from harness.turns.messages import user
from tests.judging.conversations.conversation_samples import (
    Talk,
    a_cassette,
    a_script,
    loaded,
    says,
)


@pytest.mark.parametrize(("more", "shown"), [(9, 11), (300, 200)])
def test_a_case_is_cut_when_messages_of_a_request_are_missing(more: int, shown: int) -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        talk.messages += [user("?")] * more
        return talk.end(talk.ask())

    subject = loaded(a_cassette(says("Hm.")), a_script(executed=()))
    case = judge_conversation(subject, Agent("sample", converse), cuts="whole")[1]
    assert case is not None
    assert len(case.requests[0].messages) == shown
    assert case.cut is (shown < more + 2)
