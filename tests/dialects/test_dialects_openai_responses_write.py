"""Responses streams as they are written: the contract's events, and what a switch makes of them."""

import json
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.openai_responses.read import read
from harness.dialects.openai_responses.write import WriterOptions, possible_options, write
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.wire.framing import iter_frames

CALL = (ToolCallStart(0, "c1", "f"), ArgumentsDelta(0, "{}"), ToolCallEnd(0))
STOP = Finish(FinishReason.STOP, "completed")


def events_of(*deltas: Delta, **switches: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of Spelling
    written = write(deltas, WriterOptions(**switches))
    return [json.loads(frame.data) for frame in iter_frames(written) if frame.data != b"[DONE]"]


def types_of(*deltas: Delta, **switches: Any) -> list[str]:  # noqa: ANN401 - of Spelling
    return [event["type"].removeprefix("response.") for event in events_of(*deltas, **switches)]


def test_the_contract() -> None:
    deltas = (ReasoningDelta("Hm."), TextDelta("Ja."), *CALL, UsageDelta(Usage(3, 4)), STOP)
    assert types_of(*deltas) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    response = events_of(*deltas)[-1]["response"]
    assert [item["type"] for item in response["output"]] == [
        "reasoning",
        "message",
        "function_call",
    ]
    assert response["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 7,
    }


@pytest.mark.parametrize(
    ("switches", "last"),
    [
        ({}, "response.failed"),
        ({"failure": "event"}, "error"),
        ({"failure": "nested-event"}, "error"),
        ({"api": "realtime"}, "response.done"),
    ],
)
def test_a_failure(switches: dict[str, Any], last: str) -> None:
    assert events_of(StreamFailure("oops", "Gone."), **switches)[-1]["type"] == last


@pytest.mark.parametrize("code", ["interrupted", "calls_missing"])
def test_a_failure_that_is_told_by_silence(code: str) -> None:
    assert types_of(StreamFailure(code)) == ["created", "in_progress"]


def test_an_empty_stream_has_no_event() -> None:
    assert write((StreamFailure("empty_stream"),)) == ()


def test_a_call_that_the_limit_cut_is_marked() -> None:
    rejected = ToolCallRejected(0, ParseError("tool_use", "cut", "{"))
    deltas = (*CALL[:1], ArgumentsDelta(0, "{"), rejected, Finish(FinishReason.LENGTH))
    response = events_of(*deltas)[-1]["response"]
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["output"][0]["status"] == "incomplete"


def test_what_would_leave_nothing_is_written_as_by_contract() -> None:
    silent = WriterOptions(
        arguments="terminal-only", texts="item-only", output="null", item_done=False
    )
    told = possible_options(silent)
    assert (told.arguments, told.texts) == ("fragments", "deltas")
    assert (
        possible_options(WriterOptions(output_index="zero", item_ids="changing")).item_ids == "kept"
    )


@given(
    st.lists(st.text(min_size=1, max_size=5), max_size=3),
    st.sampled_from(get_args(get_type_hints(WriterOptions)["arguments"])),
)
def test_the_input_of_a_custom_tool_is_read_as_it_was_written(
    pieces: list[str],
    arguments: Any,  # noqa: ANN401 - a value of the switch
) -> None:
    start = ToolCallStart(0, "c1", "sql", "custom")
    deltas: list[Delta] = [
        start,
        *(ArgumentsDelta(0, piece) for piece in pieces),
        ToolCallEnd(0),
        STOP,
    ]
    turn = fold(read(iter_frames(write(deltas, WriterOptions(arguments=arguments))), ()))
    text = fold(deltas).tool_calls[0].arguments
    assert turn.tool_calls == (ToolCall("c1", "sql", text, "custom"),)


def test_every_switch_has_its_contract_first() -> None:
    first = {
        name: get_args(hint)[0]
        for name, hint in get_type_hints(WriterOptions).items()
        if get_args(hint)
    }
    fields = msgspec.structs.asdict(WriterOptions())
    assert {name: fields[name] for name in first} == first
