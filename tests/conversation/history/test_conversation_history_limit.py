"""A cut history is a history: whole, within its room, with its question, and it says so."""

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.conversation import feedback
from harness.conversation.feedback import ToolResult
from harness.conversation.history.check import history_problems
from harness.conversation.history.limit import limit_history
from harness.conversation.prompts import find_prompt
from harness.providers import Capabilities
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, system, tool_result, user
from tests.conversation.conversation_histories import CAPABILITIES, POLICY_NAMES, histories

NOTICE = re.compile(
    r"\[(\d+) earlier messages were left out here\.\]|\[此处省略了较早的 (\d+) 条消息。\]"
)


@given(st.data(), CAPABILITIES, POLICY_NAMES, st.integers(0, 30))
def test_a_cut_leaves_a_history_that_providers_take(
    data: st.DataObject, capabilities: Capabilities, policy: str, most: int
) -> None:
    messages = data.draw(histories(capabilities, policy))
    cut = limit_history(messages, most, "en")
    assert history_problems(cut, capabilities) == ()
    assert cut[0]["role"] != "tool"
    assert [m for m in cut if m["role"] == "system"] == [
        m for m in messages if m["role"] == "system"
    ]
    assert (
        cut[-1]["content"].endswith(messages[-1]["content"] or "") if messages[-1]["content"] else 1
    )
    asked = [message["content"] for message in messages if message["role"] == "user"]
    assert any(str(message["content"]).endswith(asked[-1]) for message in cut)


@given(st.data(), POLICY_NAMES, st.integers(0, 30))
def test_a_cut_says_how_much_is_missing(data: st.DataObject, policy: str, most: int) -> None:
    messages = data.draw(histories(Capabilities(), policy))
    cut = limit_history(messages, most, "en")
    notices = NOTICE.findall("\n".join(str(message["content"]) for message in cut))
    if cut == messages:
        assert notices == []
        return
    ((english, chinese),) = notices
    assert int(english or chinese) == len(messages) - len(cut)


@given(st.data(), POLICY_NAMES, st.integers(0, 30))
def test_a_cut_fits_unless_nothing_more_can_go(data: st.DataObject, policy: str, most: int) -> None:
    messages = data.draw(histories(Capabilities(), policy))
    cut = limit_history(messages, most, "en")
    least = limit_history(messages, 0, "en")
    assert len(cut) <= most or len(cut) == len(least)


def test_a_round_goes_with_all_of_its_results() -> None:
    calls = [ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}")]
    messages = [
        system("Be brief."),
        user("First?"),
        assistant(None, calls),
        tool_result("c1", "one"),
        tool_result("c2", "two"),
        assistant("Answer."),
        user("Second?"),
    ]
    cut = limit_history(messages, 5, "en")
    assert [message["role"] for message in cut] == ["system", "user"]
    assert cut[1]["content"] == "[5 earlier messages were left out here.]\n\nSecond?"


def test_the_question_stays_when_its_first_rounds_go() -> None:
    messages: list[Message] = [system("Be brief."), user("Old."), assistant("Yes."), user("Why?")]
    for number in range(9):
        messages.append(assistant(None, [ToolCall(f"c{number}", "f", "{}")]))
        messages.append(tool_result(f"c{number}", "x"))
    cut = limit_history(messages, 7, "en")
    assert [message["role"] for message in cut] == ["system", "user", *["assistant", "tool"] * 2]
    assert cut[1]["content"] == "[16 earlier messages were left out here.]\n\nWhy?"
    assert cut[-1]["tool_call_id"] == "c8"


def test_results_in_the_users_voice_stay_with_their_calls_and_are_no_question() -> None:
    prompt = find_prompt("tag-tools/v1")
    messages: list[Message] = [system("Be brief."), user("Why?")]
    for number in range(5):
        messages.append(assistant(f"<tool_call>{number}"))
        messages += feedback.result_messages(prompt, [ToolResult("c", "f", number)])
    cut = limit_history(messages, 4, "en")
    assert [m["role"] for m in cut] == ["system", "user", "assistant", "user"]
    assert cut[1]["content"] == "[8 earlier messages were left out here.]\n\nWhy?"
    assert cut[2:] == tuple(messages[-2:])


def test_a_request_for_another_reply_is_no_question() -> None:
    again = feedback.retry_text(find_prompt("native-tools/v1"), "It is cut.", 0)
    messages = [user("Why?"), assistant("{"), user(again), assistant("So.")]
    assert [m["content"] for m in limit_history(messages, 2, "en")] == [
        "[2 earlier messages were left out here.]\n\nWhy?",
        "So.",
    ]
