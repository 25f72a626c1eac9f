"""Streams that say a thing in two places, in none, or break off beside the point."""

import json
from typing import Any

import pytest

from harness.turns.deltas import FinishReason
from tests.dialects.openai_chat_streams import (
    OSLO,
    call,
    calls,
    chunk,
    entry,
    opening,
    read_turn,
    sse,
)
from tests.tables import each_row

FUNCTION = {"name": "get_weather", "arguments": OSLO}


def test_a_legacy_call_beside_text_is_taken() -> None:
    found = read_turn(
        sse(chunk({"content": "Let me see", "function_call": FUNCTION}, finish="stop"), "[DONE]")
    )
    assert found.text == "Let me see"
    assert [each.name for each in found.tool_calls] == ["get_weather"]


def test_a_legacy_stub_beside_calls_is_nothing() -> None:
    stub = {"tool_calls": [opening(OSLO)], "function_call": {"name": "", "arguments": ""}}
    found = read_turn(sse(chunk(stub), chunk(finish="tool_calls"), "[DONE]"))
    assert found.tool_calls == (call(),)


@pytest.mark.parametrize("beside", [{"content": "Well, "}, {"tool_calls": [opening(OSLO)]}])
def test_a_refusal_beside_anything_ends_the_turn(beside: dict[str, Any]) -> None:
    found = read_turn(sse(chunk({**beside, "refusal": "No."}), chunk(finish="stop"), "[DONE]"))
    assert found.failure is not None
    assert (found.failure.code, found.tool_calls) == ("refusal", ())


def test_a_message_beside_a_delta_that_says_nothing_is_used() -> None:
    message = {"role": "assistant", "content": "hey", "tool_calls": [opening(OSLO)]}
    choice = {
        "index": 0,
        "delta": {"role": "assistant", "content": ""},
        "message": message,
        "finish_reason": "stop",
    }
    found = read_turn(sse({"choices": [choice]}, "[DONE]"))
    assert (found.text, found.tool_calls) == ("hey", (call(),))


@each_row(
    "envelope",
    [
        {"data": {"choices": [{"delta": {"content": "hi"}}]}},
        {"detail": "Not authenticated"},
        {"error_code": 17, "error_msg": "quota"},
        {"choices": None, "base_resp": {"status_code": 1004}},
        {"success": False},
        {"type": "error", "message": "boom"},
        {"message": "rate limited"},
    ],
)
def test_an_unknown_envelope_is_no_empty_success(envelope: dict[str, Any]) -> None:
    found = read_turn(sse(envelope, "[DONE]"))
    assert found.failure is not None
    told = (json.dumps(envelope), str(envelope.get("message")))
    assert any(part in found.failure.message for part in told)


@pytest.mark.parametrize("rest", [b"data: [D", b"data: [DONE", b"data: ", b"dat", b'data: {"us'])
def test_what_breaks_off_after_the_finish_takes_nothing_back(rest: bytes) -> None:
    whole = calls(opening(OSLO)).removesuffix(b"data: [DONE]\n\n")
    assert read_turn(whole + rest, plain=True).tool_calls == (call(),)


@pytest.mark.parametrize(
    "word", ["error", "network_error", "insufficient_system_resource", "abort", "timeout"]
)
def test_a_finish_that_says_failure_is_one(word: str) -> None:
    found = read_turn(calls(opening(OSLO), finish=word))
    assert found.failure is not None
    assert (found.failure.code, found.tool_calls, found.finish) == (word, (), None)


def test_an_unknown_finish_runs_no_call_that_may_be_cut() -> None:
    found = read_turn(calls(opening(), entry(OSLO, index=1, id="c2", name="get_time"), finish="x"))
    assert [each.id for each in found.tool_calls] == ["c2"]
    assert [each.name for each in found.parse_errors] == ["get_weather"]
    assert found.finish is not None
    assert (found.finish.reason, found.finish.raw) == (FinishReason.TOOL_CALLS, "x")


@pytest.mark.parametrize("index", [{}, {"index": None}, {"index": "0"}, {"index": -1}])
def test_a_choice_without_a_usable_index_is_one(index: dict[str, Any]) -> None:
    choice = {**index, "delta": {"content": "hi"}}
    assert read_turn(sse({"choices": [choice]}, "[DONE]")).text == "hi"
    assert read_turn(sse({"choices": [choice]}, "[DONE]")).failure is None
