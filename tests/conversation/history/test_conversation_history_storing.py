"""What is stored of any turn is a history that providers take, and says what happened."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.feedback import ToolResult
from harness.conversation.history.check import history_problems
from harness.conversation.history.identifiers import distinct_ids
from harness.conversation.history.storing import (
    HISTORY_POLICIES,
    HistoryPolicy,
    StoringOptions,
    incomplete_reason,
    turn_messages,
)
from harness.providers import Capabilities, capabilities_of
from harness.turns.deltas import Finish, FinishReason, ParseError, StreamFailure, ToolCall
from harness.turns.messages import SEALED, Message
from harness.turns.turn import Sealed, Turn
from tests.conversation.conversation_histories import (
    CAPABILITIES,
    POLICY_NAMES,
    STORINGS,
    TURNS,
    histories,
    results_of,
)

DONE = Finish(FinishReason.TOOL_CALLS)
CALLS = (ToolCall("c1", "weather", '{"city":"Oslo"}'), ToolCall("c2", "time", ""))
TURN = Turn("Let me look.", "Weather, then.", CALLS, finish=DONE)
RESULTS = {
    "c1": ToolResult("c1", "weather", {"sky": "clear"}),
    "c2": ToolResult("c2", "time", error="no clock"),
}
DEFAULT = Capabilities()


@given(st.data(), CAPABILITIES, POLICY_NAMES)
def test_providers_take_what_is_stored_of_any_turns(
    data: st.DataObject, capabilities: Capabilities, policy: HistoryPolicy
) -> None:
    messages = data.draw(histories(capabilities, policy))
    assert history_problems(messages, capabilities) == ()
    assert json.loads(json.dumps(messages)) == list(messages)


@given(st.data(), TURNS, POLICY_NAMES, STORINGS)
def test_nothing_of_a_broken_turn_is_stored_as_complete(
    data: st.DataObject, turn: Turn, policy: HistoryPolicy, storing: StoringOptions
) -> None:
    results = data.draw(results_of(turn))
    messages = turn_messages(policy, turn, results, 1, DEFAULT, storing)
    why = incomplete_reason(turn)
    if why:
        assert all(message["role"] == "assistant" for message in messages)
        assert all(f"[turn broke off: {why}]" in message["content"] for message in messages)
        assert all("tool_calls" not in message for message in messages)


@given(st.data(), TURNS, POLICY_NAMES, STORINGS)
def test_nothing_that_a_whole_turn_said_is_lost(
    data: st.DataObject, turn: Turn, policy: HistoryPolicy, storing: StoringOptions
) -> None:
    results = data.draw(results_of(turn))
    messages = turn_messages(policy, turn, results, 1, DEFAULT, storing)
    if incomplete_reason(turn):
        return
    said = "\n".join(message["content"] or "" for message in messages)
    stored_ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    told = said.count(" parse error] ")
    assert turn.text.strip() in said
    assert set(results) - _nameless(turn) <= set(stored_ids)  # what ran is there
    assert told + len(stored_ids) >= len(turn.tool_calls) + len(turn.parse_errors)


def _nameless(turn: Turn) -> set[str]:
    return {call.id for call in distinct_ids(turn).tool_calls if not call.name}


def test_merged_is_one_message_and_its_results() -> None:
    spoken, first, second = turn_messages("merged", TURN, RESULTS, 1, DEFAULT)
    assert spoken["content"] == "Let me look."
    assert [call["id"] for call in spoken["tool_calls"]] == ["c1", "c2"]
    assert [call["function"]["arguments"] for call in spoken["tool_calls"]] == [
        '{"city":"Oslo"}',
        "{}",
    ]
    assert first == {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "clear"}'}
    assert second["tool_call_id"] == "c2"
    assert "no clock" in second["content"]
    assert "reasoning_content" not in spoken


def _shape(messages: tuple[Message, ...]) -> list[Any]:
    calls = [[call["id"] for call in message.get("tool_calls", ())] for message in messages]
    return [
        message.get("tool_call_id") or each or message["content"]
        for message, each in zip(messages, calls, strict=True)
    ]


def test_direct_is_one_message_for_each_part() -> None:
    messages = turn_messages("direct", TURN, RESULTS, 1, DEFAULT)
    assert _shape(messages) == ["Let me look.", ["c1"], "c1", ["c2"], "c2"]


def test_grouped_marks_the_messages_of_an_iteration() -> None:
    messages = turn_messages("grouped", TURN, RESULTS, 3, DEFAULT)
    assert _shape(messages) == ["Let me look.", ["c1", "c2"], "c1", "c2"]
    assert [message.get("name") for message in messages] == ["iteration_3"] * 2 + [None] * 2


def test_the_seeds_own_direct_order_is_what_providers_refuse() -> None:
    text, one, result_one, two, result_two = turn_messages("direct", TURN, RESULTS, 1, DEFAULT)
    problems = history_problems((text, one, two, result_one, result_two), DEFAULT)
    assert {problem.quirk for problem in problems} == {"HIST-SPLIT-PARALLEL"}


@pytest.mark.parametrize(("provider", "silent"), [("openai", None), ("dashscope", "")])
def test_content_beside_calls_is_as_the_provider_wants_it(
    provider: str, silent: str | None
) -> None:
    turn = Turn(tool_calls=CALLS, finish=DONE)
    assert turn_messages("merged", turn, {}, 1, capabilities_of(provider))[0]["content"] == silent


@pytest.mark.parametrize("policy", HISTORY_POLICIES)
def test_reasoning_goes_back_with_calls_where_it_is_wanted(policy: HistoryPolicy) -> None:
    messages = turn_messages(policy, TURN, RESULTS, 1, capabilities_of("deepseek"))
    spoken = [message for message in messages if message["role"] == "assistant"]
    assert {message["reasoning_content"] for message in spoken} == {"Weather, then."}


def test_a_call_without_result_gets_one_that_says_so() -> None:
    result = turn_messages("merged", Turn(tool_calls=CALLS[:1], finish=DONE), {}, 1, DEFAULT)[1]
    assert "this call did not run" in result["content"]


REJECTED = ParseError("tool_use", "found the end of the text", '{"city": "Os', "c3", "weather")


def test_a_rejected_call_becomes_text() -> None:
    turn = Turn(parse_errors=(REJECTED,), finish=DONE)
    (message,) = turn_messages("merged", turn, {}, 1, DEFAULT)
    assert message["content"].startswith("[tool_use parse error] weather: found the end")
    assert '{"city": "Os' in message["content"]
    assert "tool_calls" not in message


def test_a_rejected_call_becomes_a_failed_one_where_that_is_declared() -> None:
    turn = Turn(tool_calls=CALLS[:1], parse_errors=(REJECTED,), finish=DONE)
    spoken, _, failed = turn_messages("merged", turn, RESULTS, 1, DEFAULT, StoringOptions("result"))
    assert json.loads(spoken["tool_calls"][1]["function"]["arguments"]) == {"raw": '{"city": "Os'}
    assert failed["tool_call_id"] == "c3"
    assert "[tool_use parse error]" in failed["content"]


@pytest.mark.parametrize("policy", HISTORY_POLICIES)
@pytest.mark.parametrize(
    "turn",
    [
        Turn(finish=Finish(FinishReason.STOP)),
        Turn(" \n", "Hm.", finish=Finish(FinishReason.STOP)),
        Turn(failure=StreamFailure("empty_stream")),
    ],
)
def test_a_turn_that_says_nothing_leaves_no_message(policy: HistoryPolicy, turn: Turn) -> None:
    assert turn_messages(policy, turn, {}, 1, DEFAULT) == ()


@pytest.mark.parametrize(
    ("policy", "before", "expected"),
    [
        ("merged", "Wait.", [("Wait. Done.", [0, 2])]),
        ("direct", "Wait.", [("Wait.", [0]), ("", []), (" Done.", [1])]),
        ("grouped", "Wait.", [("Wait.", [0]), (" Done.", [2])]),
        ("merged", "", [(" Done.", [0, 2])]),
        ("direct", "", [("", [0]), (" Done.", [1])]),
        ("grouped", "", [(" Done.", [0, 2])]),
    ],
)
def test_signed_text_after_the_calls_goes_with_the_last_of_them(
    policy: HistoryPolicy, before: str, expected: list[tuple[str, list[int]]]
) -> None:
    sealed = (
        Sealed("thoughtSignature", "a=", "text", 0, before),
        Sealed("thoughtSignature", "b=", "text", 2, " Done."),
    )
    turn = Turn(f"{before} Done.", "", CALLS, finish=DONE, sealed=sealed)
    stored = turn_messages(policy, turn, RESULTS, 1, DEFAULT)
    assert [
        (it["content"] or "", [each.get("call", 0) for each in it.get(SEALED, ())])
        for it in stored
        if it["role"] == "assistant"
    ] == expected
