"""What the anthropic reader makes of streams, whole messages and errors, cut every way."""

import json
from typing import Any

import msgspec
import pytest

from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.turn import Sealed
from harness.wire.framing import iter_frames
from tests.dialects.anthropic_streams import (
    OSLO,
    STARTED,
    STOPPED,
    Json,
    call,
    called,
    delta,
    ended,
    failed,
    message,
    partial,
    read_deltas,
    read_turn,
    said,
    sse,
    start,
    stop,
    turn,
)
from tests.tables import each_row

DIGITS = '{"a": 1.10, "a": 123456789012345678901234567890}'


def whole(*content: Json, reason: object = "tool_use") -> Json:
    return {"type": "message", "id": "m1", "content": list(content), "stop_reason": reason}


def use(**fields: object) -> Json:
    return {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}, **fields}


def test_each_delta_comes_as_soon_as_its_event() -> None:
    body = sse(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5}}},
        start(0, {"type": "thinking", "thinking": ""}),
        delta(0, "thinking_delta", thinking="hm"),
        stop(0),
        start(1, {"type": "text", "text": ""}),
        said("Hi", 1),
        stop(1),
        called(2),
        partial("", 2),
        partial(OSLO, 2),
        stop(2),
        ended("tool_use", usage={"output_tokens": 7}),
        STOPPED,
    )
    assert read_deltas(body) == (
        UsageDelta(Usage(5)),
        ReasoningDelta("hm"),
        TextDelta("Hi"),
        ToolCallStart(0, "t1", "get_weather"),
        ArgumentsDelta(0, OSLO),
        UsageDelta(Usage(5, 7)),
        ToolCallEnd(0),
        Finish(FinishReason.TOOL_CALLS, "tool_use"),
    )


def test_text_is_passed_on_before_the_next_event() -> None:
    def reads() -> object:
        yield sse(STARTED, start(0, {"type": "text", "text": ""}), said("Hi"))
        raise AssertionError("asked for more before the text was handed on")

    deltas = DIALECTS["anthropic"].read(iter_frames(reads()), ())  # type: ignore[arg-type]  # a generator
    assert next(deltas) == TextDelta("Hi")


@each_row(
    ("raw", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("pause_turn", FinishReason.OTHER),
        ("compaction", FinishReason.OTHER),
        ("something_new", FinishReason.OTHER),
        ("length", FinishReason.LENGTH),
        ("STOP", FinishReason.STOP),
    ],
)
def test_stop_reasons(raw: str, reason: FinishReason) -> None:
    assert read_turn(message(said("Hi"), reason=raw)).finish == Finish(reason, raw)


def test_a_reason_that_says_failure_fails() -> None:
    words = "the provider ended the message with 'error'"
    assert read_turn(message(said("Hi"), reason="error")) == failed("error", words, text="Hi")


def test_calls_announced_and_missing_fail() -> None:
    found = read_turn(message(said("Hi")))
    assert found.failure is not None
    assert found.failure.code == "calls_missing"


# Inputs


@each_row(
    ("events", "arguments"),
    [
        ((called(), stop()), "{}"),
        ((called(), partial(""), stop()), "{}"),
        ((called(), partial(None), stop()), "{}"),
        ((called(input=None), stop()), "{}"),
        ((called(input=""), partial(OSLO), stop()), OSLO),
        ((called(), partial('{"ci'), partial('ty": "Oslo"}'), stop()), OSLO),
        ((called(input={"city": "Oslo"}), stop()), OSLO),
        ((called(input={"city": "Oslo"}),), OSLO),
        ((called(input=OSLO), stop()), OSLO),
        ((called(input={"city": "x"}), partial(OSLO), stop()), OSLO),
        ((called(), partial({"city": "Oslo"}), stop()), OSLO),
        ((called(), called(), partial(OSLO), stop()), OSLO),
        ((called(), called(input={"city": "Oslo"}), stop()), OSLO),
        ((called(), stop(), partial(OSLO)), OSLO),
        ((called(None), partial(OSLO, None), stop(None)), OSLO),
    ],
)
def test_inputs_of_one_call(events: tuple[Json, ...], arguments: str) -> None:
    assert read_turn(message(*events)) == turn(call(arguments))


def test_an_object_keeps_its_digits_and_repeated_keys() -> None:
    block = json.dumps(called(input={"x": 0})).replace('{"x": 0}', DIGITS)
    fragment = json.dumps(partial({"x": 0})).replace('{"x": 0}', DIGITS)
    in_start = read_turn(message(block, stop()))
    in_delta = read_turn(message(called(), fragment, stop()))
    document = json.dumps(whole(use(input={"x": 0}))).replace('{"x": 0}', DIGITS)
    at_once = read_turn(document.encode(), tail=b"")
    for found in (in_start, in_delta, at_once):
        assert [error.snippet for error in found.parse_errors] == [DIGITS]  # one key came twice


def test_an_input_that_is_no_object_is_rejected() -> None:
    for events in ((called(input=[1]), stop()), (called(), partial(5), stop())):
        found = read_turn(message(*events))
        assert found.tool_calls == ()
        assert "its input is no" in found.parse_errors[0].error


def test_an_input_that_is_no_json_is_rejected_and_the_turn_is_whole() -> None:
    found = read_turn(message(called(), partial('{"a": Dave}'), stop()))
    assert [error.snippet for error in found.parse_errors] == ['{"a": Dave}']
    assert found.failure is None


# Blocks


def test_blocks_without_index_and_with_one_index_are_told_apart() -> None:
    for index in (0, None, "0"):
        events = (
            said("Hi", index),
            called(index),
            partial(OSLO, index),
            stop(index),
            called(index, "t2"),
            partial(OSLO, index),
            stop(index),
        )
        assert read_turn(message(*events)) == turn(call(), call(call_id="t2"), text="Hi")


def test_calls_without_id_under_one_index_are_two() -> None:
    events = (called(0, ""), partial(OSLO), called(0, ""), partial(OSLO))
    assert len(read_turn(message(*events)).tool_calls) == 2


def test_fragments_without_a_call_are_reported() -> None:
    for events in (
        (partial(OSLO),),
        (start(0, {"type": "text", "text": ""}), partial(OSLO)),
        (partial(OSLO, None),),
    ):
        found = read_turn(message(*events))
        error = ParseError("tool_use", "the call has no name", OSLO)
        assert [(e.error, e.snippet) for e in found.parse_errors] == [(error.error, error.snippet)]


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use", "something_new"])
def test_fragments_of_other_tools_are_no_calls(kind: str) -> None:
    block = {"type": kind, "id": "s1", "name": "web_search", "input": {"query": "x"}}
    events = (called(), start(1, block), partial('{"q"', 1), partial(OSLO), stop(1), stop())
    assert read_turn(message(*events)) == turn(call())


def test_what_is_not_said_to_the_user_is_not_text() -> None:
    events = (
        start(0, {"type": "redacted_thinking", "data": "x"}),
        delta(0, "signature_delta", signature="x"),
        delta(0, "citations_delta", citation={}),
        delta(0, "compaction_delta", content="summary"),
        delta(0, "something_new", text="x"),
        {"type": "something_new", "delta": {"text": "x"}},
        {"type": "ping"},
        said("Hi"),
    )
    hidden = Sealed("redacted_thinking", "x")
    said_turn = msgspec.structs.replace(turn(text="Hi", raw="end_turn"), sealed=(hidden,))
    assert read_turn(message(*events, reason="end_turn")) == said_turn


@pytest.mark.parametrize("stops", [(stop(0),), ()], ids=["stopped", "open"])
def test_the_signature_of_a_thought_is_sealed_data_before_the_call(stops: tuple[Any, ...]) -> None:
    events = (
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, "thinking_delta", thinking="Hm."),
        delta(0, "signature_delta", signature="ab"),
        delta(0, "signature_delta", signature="c="),
        *stops,
        start(1, {"type": "tool_use", "id": "t1", "name": "f", "input": {}}),
        delta(1, "signature_delta", signature="of a call"),
        partial("{}", 1),
        stop(1),
    )
    assert read_turn(message(*events)).sealed == (Sealed("signature", "abc=", text="Hm."),)


# The end


def test_a_stop_reason_is_enough() -> None:
    body = sse(STARTED, said("Hi"), ended("end_turn"))
    for rest in (b"", b"data: [DONE]\n\n", b'data: {"type": "mess', b"data: [DO"):
        assert read_turn(body + rest, tail=b"") == turn(text="Hi", raw="end_turn")


def test_without_a_stop_reason_the_stream_broke_off() -> None:
    events = (STARTED, called(), partial(OSLO), stop())
    for rest in ((), (STOPPED,), (ended(None), STOPPED), ("[DONE]",)):
        found = read_turn(sse(*events, *rest))
        assert found.tool_calls == ()
        assert found.failure is not None
        assert found.failure.code == "interrupted"


def test_a_limit_takes_the_last_call_along_and_no_other() -> None:
    two = (called(), stop(), called(1, "t2"), partial(OSLO, 1), stop(1))
    for reason in ("max_tokens", "refusal", "model_context_window_exceeded"):
        found = read_turn(message(*two, reason=reason))
        assert found.tool_calls == (call("{}"),)
        assert [error.snippet for error in found.parse_errors] == [OSLO]
    after = read_turn(message(*two, start(2, {"type": "text"}), said("x", 2), reason="max_tokens"))
    assert len(after.tool_calls) == 2


def test_nothing_takes_a_limit_back() -> None:
    found = read_turn(message(said("Hi"), ended("max_tokens"), reason="end_turn"))
    assert found.finish == Finish(FinishReason.LENGTH, "max_tokens")


def test_a_second_message_in_the_first_fails() -> None:
    found = read_turn(message(called(), STARTED, called(0, "t2")))
    assert found.tool_calls == ()
    assert found.failure is not None
    assert found.failure.code == "bad_event"


def test_a_repeated_start_before_any_block_does_not() -> None:
    assert read_turn(message(STARTED, called(), partial(OSLO))) == turn(call())


def test_what_follows_the_message_says_nothing() -> None:
    body = message(said("Hi"), reason="end_turn") + message(called(), partial(OSLO))
    assert read_turn(body) == turn(text="Hi", raw="end_turn")


# Errors

NESTED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@each_row(
    ("event", "code", "words"),
    [
        (NESTED, "overloaded_error", "Overloaded"),
        ({"error": {"code": 529, "message": "Overloaded"}}, "529", "Overloaded"),
        ({"error": {"status": "NOT_FOUND", "code": 404, "message": "no"}}, "NOT_FOUND", "no"),
        ({"type": "error", "error": "went away"}, "error", "went away"),
        ({"type": "error", "message": "went away", "code": 5}, "5", "went away"),
        ({"error_type": "limit", "error_message": "slow down"}, "limit", "slow down"),
    ],
)
def test_errors_in_the_stream(event: Json, code: str, words: str) -> None:
    found = read_turn(sse(STARTED, called(), partial(OSLO), stop(), event, ended("tool_use")))
    assert found.tool_calls == ()
    assert found.failure is not None
    assert (found.failure.code, found.failure.message) == (code, words)
    alone = read_turn(json.dumps(event).encode(), tail=b"")
    assert alone == failed(code, words)


@pytest.mark.parametrize("name", ["message_start", "content_block_delta", "message_stop"])
def test_an_error_behind_the_name_of_a_frame_that_broke_off_is_one(name: str) -> None:
    body = f'event: {name}\ndata: {{"error": "overloaded"}}\n\n'.encode()
    assert read_turn(body) == failed("error", "overloaded")


def test_an_event_called_error_is_one_whatever_it_holds() -> None:
    for payload in ("{}", '{"type": "x"}', "went away", "[]"):
        body = sse(STARTED) + f"event: error\ndata: {payload}\n\n".encode()
        found = read_turn(body)
        assert found.failure is not None


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}}]},
        {"type": "message"},
        {"type": "response.created", "response": {}},
        {},
    ],
)
def test_another_api_is_no_empty_success(value: Json) -> None:
    found = read_turn(json.dumps(value).encode(), tail=b"")
    assert found.failure is not None
    assert found.failure.code == "unknown_envelope"


def test_words_of_a_cloud_are_kept() -> None:
    found = read_turn(b'{"Message": "not authorized", "__type": "AccessDenied"}', tail=b"")
    assert found == failed("AccessDenied", "not authorized")


# Other framings, and whole messages


def test_the_type_counts_and_not_the_name_of_the_event() -> None:
    events = (STARTED, said("Hi"), ended("end_turn"), STOPPED)
    bare = sse(*events, names=False)
    lines = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    for body in (bare, lines, json.dumps(events).encode(), b"\n" + bare):
        assert read_turn(body, tail=b"") == turn(text="Hi", raw="end_turn")
    named = b"".join(
        f"event: {event.pop('type')}\ndata: {json.dumps(event)}\n\n".encode()
        for event in map(dict, events)
    )
    assert read_turn(named) == turn(text="Hi", raw="end_turn")


def test_a_whole_message_is_a_turn() -> None:
    content = ({"type": "text", "text": "Hi"}, {"type": "thinking", "thinking": "hm"}, use())
    value = {**whole(*content), "usage": {"input_tokens": 5, "output_tokens": 7}}
    found = read_turn(json.dumps(value, indent=1).encode(), tail=b"")
    assert found == turn(call("{}"), text="Hi", reasoning="hm", usage=Usage(5, 7))


def test_a_whole_message_without_a_stop_reason_is_none() -> None:
    found = read_turn(json.dumps(whole(use(), reason=None)).encode(), tail=b"")
    assert found.tool_calls == ()
    assert found.failure is not None


def test_a_message_that_repeats_the_stream_adds_nothing() -> None:
    again = whole({"type": "text", "text": "Hi"}, reason="end_turn")
    assert read_turn(message(said("Hi"), again, reason="end_turn")).text == "Hi"


def test_a_message_within_its_start() -> None:
    start_of = {**STARTED, "message": whole(use(input={"city": "Oslo"}))}
    assert read_turn(sse(start_of, STOPPED)) == turn(call())
    broken_off = read_turn(sse(start_of))
    assert broken_off.tool_calls == ()
    assert broken_off.failure is not None
