"""The bytes that the anthropic writer gives: the contract first, then what proxies change."""

import json

from harness.dialects.anthropic.write import WriterOptions, write
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from tests.dialects.anthropic_streams import Json, read_turn

CALL: tuple[Delta, ...] = (
    ToolCallStart(0, "t1", "f"),
    ArgumentsDelta(0, '{"a":1}'),
    ToolCallEnd(0),
)
TURN = (*CALL, UsageDelta(Usage(5, 7)), Finish(FinishReason.TOOL_CALLS, ""))


def events(*deltas: Delta, spelling: WriterOptions | None = None) -> list[Json]:
    written = write(deltas, spelling)
    return [json.loads(event.partition(b"data: ")[2]) for event in written]


def test_the_contract() -> None:
    kinds = [event["type"] for event in events(TextDelta("Hi"), *TURN)]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert kinds == [
        *("message_start", "ping"),
        *block,
        *("content_block_start", "content_block_delta", "content_block_delta"),
        *("content_block_stop", "message_delta", "message_stop"),
    ]


def test_each_event_is_named_after_its_type() -> None:
    for event in write(TURN):
        name, _, data = event.decode().partition("\n")
        assert name == f"event: {json.loads(data.removeprefix('data: '))['type']}"


def test_counts_stand_where_the_api_has_them() -> None:
    found = events(*TURN)
    assert found[0]["message"]["usage"] == {"input_tokens": 5, "output_tokens": 1}
    assert found[-2]["usage"] == {"output_tokens": 7}
    assert found[-2]["delta"]["stop_reason"] == "tool_use"


def test_counts_that_nobody_gave_are_0() -> None:
    found = events(*CALL, TURN[-1])
    assert found[0]["message"]["usage"] == {"input_tokens": 0, "output_tokens": 1}
    assert found[-2]["usage"] == {"output_tokens": 0}


def test_failures_are_told_by_an_error_or_by_what_is_left_out() -> None:
    broken = (*CALL[:2], ToolCallRejected(0, ParseError("tool_use", "cut")))
    told = (*broken, StreamFailure("overloaded_error", "Overloaded"))
    assert events(*told)[-1]["error"] == {"type": "overloaded_error", "message": "Overloaded"}
    assert read_turn(b"".join(write(told))).failure == fold(told).failure
    silent = (*broken, StreamFailure("interrupted", ""))
    assert events(*silent)[-1]["type"] == "content_block_stop"
    assert write((StreamFailure("empty_stream", ""),)) == ()
    alone = (StreamFailure("overloaded_error", "Overloaded"),)
    assert [event["type"] for event in events(*alone)] == ["error"]


def test_an_input_that_is_no_object_can_only_be_fragments() -> None:
    deltas = (CALL[0], ArgumentsDelta(0, '{"a": Dave}'), ToolCallEnd(0), TURN[-1])
    for way in ("object", "in-start", "one-fragment"):
        found = read_turn(b"".join(write(deltas, WriterOptions(input=way))))
        assert [error.snippet for error in found.parse_errors] == ['{"a": Dave}']


def test_half_a_surrogate_pair_is_written_as_an_escape() -> None:
    deltas = (TextDelta("\ud83d"), TextDelta("\ude00"), Finish(FinishReason.STOP, "end_turn"))
    assert read_turn(b"".join(write(deltas))).text == "\U0001f600"


def test_lists_and_lines() -> None:
    assert (
        json.loads(b"".join(write(TURN, WriterOptions(framing="list"))))[0]["type"]
        == "message_start"
    )
    assert all(json.loads(line) for line in write(TURN, WriterOptions(framing="lines")))
    nothing = (StreamFailure("empty_stream", ""),)
    assert b"".join(write(nothing, WriterOptions(framing="list"))) == b"[]"


def test_gateways_end_with_done() -> None:
    assert write(TURN, WriterOptions(done=True))[-1] == b"event: data\ndata: [DONE]\n\n"
    assert write(CALL, WriterOptions(done=True))[-1].startswith(b"event: content_block_stop")
