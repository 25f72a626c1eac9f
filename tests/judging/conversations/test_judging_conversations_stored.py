"""Rules about the stored content of a turn: each faulty agent violates one of them."""

from collections.abc import Callable
from typing import Final

import pytest

from harness.conversation.conversation import Conversation
from harness.conversation.task import Limits, Task
from harness.turns.messages import assistant, user
from tests.judging.conversations.conversation_samples import (
    OSLO,
    Converse,
    Talk,
    a_cassette,
    a_script,
    broken,
    calls,
    chunk,
    good,
    judged,
    says,
)

BERGEN: Final = '{"city": "Bergen"}'
ANSWER: Final = says("It is 4 degrees.")
LOOKING: Final = a_cassette(chunk({"content": "Let me\n look."}) + calls(OSLO), ANSWER)
SCRIPT: Final = a_script(answer="It is 4 degrees.")


def edited(change: Callable[[Talk], None]) -> Converse:
    """Return the good agent, which changes its history before the second request."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        talk.run(talk.ask())
        change(talk)
        return talk.end(talk.ask())

    return converse


def _without_text(talk: Talk) -> None:
    talk.messages[-2]["content"] = None


def _text_apart(talk: Talk) -> None:
    talk.messages[-2]["content"] = None
    talk.messages.insert(-2, assistant("Let me look."))


def _text_in_parts(talk: Talk) -> None:
    parts = ({"type": "text", "text": text} for text in ("Let me", "look."))
    talk.messages[-2]["content"] = list(parts)


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (_without_text, ["HIST-TEXT-LOST"]),
        (_text_apart, []),
        (_text_in_parts, []),
    ],
)
def test_the_text_next_to_calls_is_stored(change: Callable[[Talk], None], rules: list[str]) -> None:
    assert broken(good, LOOKING, SCRIPT) == []
    assert broken(edited(change), LOOKING, SCRIPT) == rules


def test_a_lost_text_is_reported_once_with_the_first_history_without_it() -> None:
    (finding,) = judged(edited(_without_text), LOOKING, SCRIPT).findings
    assert (finding.path, finding.expected) == ("requests[1].messages", "Let me\n look.")


def test_an_answer_is_stored_in_the_history_at_the_end() -> None:
    def forgetting(task: Task) -> Conversation:
        talk = Talk(task)
        talk.run(talk.ask())
        turn = talk.ask()
        return Conversation(tuple(talk.messages), tuple(talk.turns), "done", turn.text)

    found = judged(forgetting, LOOKING, SCRIPT).findings
    assert [(each.rule, each.path) for each in found] == [("HIST-TEXT-LOST", "history.messages")]


def test_text_that_a_limit_of_messages_cut_away_is_not_missed() -> None:
    cassette = a_cassette(
        *(chunk({"content": f"Look {each}."}) + calls(each) for each in (OSLO, BERGEN)), ANSWER
    )
    script = a_script(answer="It is 4 degrees.", executed=(OSLO, BERGEN), limits=Limits(messages=4))

    def cutting(task: Task) -> Conversation:
        talk = Talk(task)
        talk.run(talk.ask())
        talk.run(talk.ask())
        del talk.messages[2:4]
        return talk.end(talk.ask())

    assert "HIST-TEXT-LOST" not in broken(cutting, cassette, script)


def test_a_reply_to_another_question_such_as_a_probe_is_not_stored() -> None:
    def probing(task: Task) -> Conversation:
        talk = Talk(task)
        talk.messages[-1] = user("Can you call tools?")
        talk.ask()
        talk.messages[-1] = user(task.questions[0])
        return talk.end(talk.ask())

    cassette = a_cassette(says("Yes."), says("It is 4 degrees."))
    assert "HIST-TEXT-LOST" not in broken(probing, cassette, SCRIPT)
