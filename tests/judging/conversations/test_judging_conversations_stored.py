"""Rules about the stored content of a turn: each faulty agent violates one of them."""

import json
from collections.abc import Callable
from typing import Final

import msgspec
import pytest

from harness.conversation.agent import Agent
from harness.conversation.task import Limits, Task
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.script import ConversationScript, MockAnswer
from harness.results.conversation import Conversation
from harness.turns.deltas import ToolCall
from harness.turns.messages import assistant, user
from tests.judging.conversations.conversation_samples import (
    OSLO,
    Talk,
    a_cassette,
    a_script,
    broken,
    calls,
    chunk,
    edited,
    good,
    judged,
    loaded,
    says,
)

BERGEN: Final = '{"city": "Bergen"}'
ANSWER: Final = says("It is 4 degrees.")
LOOKING: Final = a_cassette(chunk({"content": "Let me\n look."}) + calls(OSLO), ANSWER)
SCRIPT: Final = a_script(answer="It is 4 degrees.")


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


def _thinking_aloud(talk: Talk) -> None:
    talk.messages[-2]["content"] = "<think>Hm, Oslo.</think>"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_not_stored_as_text(field: str) -> None:
    cassette = a_cassette(chunk({field: "Hm, "}) + chunk({field: "Oslo."}) + calls(OSLO), ANSWER)
    assert broken(good, cassette, SCRIPT) == []
    (finding,) = judged(edited(_thinking_aloud), cassette, SCRIPT).findings
    assert (finding.rule, finding.path) == (
        "HIST-REASONING-VISIBLE",
        "requests[1].messages[2].content",
    )


def test_text_that_repeats_the_reasoning_is_stored() -> None:
    both = chunk({"reasoning_content": "Oslo."}) + chunk({"content": "Let me look: Oslo."})
    assert broken(good, a_cassette(both + calls(OSLO), ANSWER), SCRIPT) == []


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("one", "one"), None),
        (("one", "two"), ("one", "two")),
        (("one", ""), ("one", "no name")),
        (("", "one"), ("one", "no name")),
    ],
)
def test_messages_of_a_group_have_one_name(
    names: tuple[str, str], found: tuple[str, str] | None
) -> None:
    def grouping(talk: Talk) -> None:
        _text_apart(talk)
        for message, name in zip(talk.messages[2:4], names, strict=True):
            message.update({"name": name} if name else {})

    subject = loaded(LOOKING, SCRIPT)
    for policy in ("grouped", "merged"):
        agent = Agent("sample", edited(grouping), policies={"history": policy})
        result, _ = judge_conversation(subject, agent, cuts="whole")
        expected = [("HIST-GROUP-NAME", *found)] if found and policy == "grouped" else []
        # The answer in the history at the end has no name.
        rows = [it for it in result.findings if not it.path.startswith("history")]
        assert [(it.rule, it.expected, it.actual) for it in rows] == expected


def _other_arguments(talk: Talk) -> None:
    talk.messages[2]["tool_calls"][0]["function"]["arguments"] = "{}"


def _other_name(talk: Talk) -> None:
    talk.messages[2]["tool_calls"][0]["function"]["name"] = "weather"


def _other_notation(talk: Talk) -> None:
    talk.messages[2]["tool_calls"][0]["function"]["arguments"] = '{"city":"\\u004fslo"}'


def _no_round(talk: Talk) -> None:
    talk.messages[2:] = [assistant("Let me look."), user("Go on.")]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_other_arguments, ("requests[1].messages[2].tool_calls[0]", "get_weather {}")),
        (
            _other_name,
            ("requests[1].messages[2].tool_calls[0]", 'weather {"city": "Oslo"}'),
        ),
        (_no_round, ("requests[1].messages", "no such call")),
        (_other_notation, None),
    ],
)
def test_a_call_is_stored_as_it_was_sent(
    change: Callable[[Talk], None], found: tuple[str, str] | None
) -> None:
    findings = judged(edited(change), LOOKING, SCRIPT).findings
    expected = f"get_weather {OSLO}"
    rows = [(it.rule, it.path, it.expected, it.actual) for it in findings]
    assert rows == ([("HIST-CALL-CHANGED", found[0], expected, found[1])] if found else [])


@pytest.mark.parametrize("stored", [OSLO, BERGEN])
def test_a_repaired_call_is_stored_as_it_was_executed(stored: str) -> None:
    def repairing(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        calls = (*turn.tool_calls, ToolCall(turn.parse_errors[0].id, "get_weather", BERGEN))
        talk.run(msgspec.structs.replace(turn, tool_calls=calls))
        talk.messages[2]["tool_calls"][1]["function"]["arguments"] = stored
        return talk.end(talk.ask())

    cassette = a_cassette(calls(OSLO, '{"city": Bergen}'), ANSWER)
    changed = [] if stored == BERGEN else ["HIST-CALL-CHANGED"]
    found = broken(repairing, cassette, a_script(parse_errors="any"))
    assert found == ["CONV-CALL-FROM-BROKEN-TURN", *changed]


TWO: Final = a_cassette(calls(OSLO, BERGEN), ANSWER)


def _two(first: MockAnswer, second: MockAnswer) -> ConversationScript:
    oslo, bergen = (
        msgspec.structs.replace(answer, arguments=json.loads(text))
        for answer, text in ((first, OSLO), (second, BERGEN))
    )
    return a_script(executed=(OSLO, BERGEN), answers=(oslo, bergen))


def _swapped(talk: Talk) -> None:
    first, second = talk.messages[3:5]
    first["content"], second["content"] = second["content"], first["content"]


def _in_other_order(talk: Talk) -> None:
    talk.messages[3:5] = reversed(talk.messages[3:5])


def _formatted(talk: Talk) -> None:
    talk.messages[3]["content"] = "Temperature: 4"
    talk.messages[4]["content"] = "Temperature: 7 (not 4)"


def _cut_off(talk: Talk) -> None:
    talk.messages[4]["content"] = "[a long result was left out]"


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (_swapped, ["HIST-RESULT-SWAPPED"]),
        (_in_other_order, []),
        (_formatted, []),
        (_cut_off, []),
    ],
)
def test_a_result_is_stored_under_the_id_of_its_call(
    change: Callable[[Talk], None], rules: list[str]
) -> None:
    script = _two(MockAnswer({"degrees": [4, True]}), MockAnswer({"degrees": [7, None]}))
    assert broken(edited(change), TWO, script) == rules


@pytest.mark.parametrize(
    "answers",
    [
        (MockAnswer("4 degrees"), MockAnswer("4 degrees")),
        (MockAnswer({"degrees": 4}), MockAnswer("")),
        (MockAnswer(4), MockAnswer([4, 7])),
    ],
)
def test_results_without_distinct_words_are_not_compared(
    answers: tuple[MockAnswer, MockAnswer],
) -> None:
    script = _two(*answers)
    assert broken(good, TWO, script) == []
    assert broken(edited(_swapped), TWO, script) == []


def test_a_reply_to_another_question_such_as_a_probe_is_not_stored() -> None:
    def probing(task: Task) -> Conversation:
        talk = Talk(task)
        talk.messages[-1] = user("Can you call tools?")
        talk.ask()
        talk.messages[-1] = user(task.questions[0])
        return talk.end(talk.ask())

    cassette = a_cassette(says("Yes."), says("It is 4 degrees."))
    assert "HIST-TEXT-LOST" not in broken(probing, cassette, SCRIPT)
