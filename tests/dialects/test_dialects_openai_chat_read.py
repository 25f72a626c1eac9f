"""Reading openai-chat streams: failures, calls that must be told apart, and policies."""

import json
from typing import Any

import pytest

from harness.dialects.openai_chat.calls import ReaderPolicy
from harness.turns.deltas import FinishReason, StreamFailure, ToolCall, ToolCallStart
from harness.turns.fold import fold
from tests.dialects.openai_chat_streams import (
    BERGEN,
    OSLO,
    Json,
    call,
    calls,
    chunk,
    entry,
    opening,
    read_turn,
    sse,
)
from tests.dialects.oracle_agreement import assert_agrees, interaction
from tests.replay_every_way import read_deltas
from tests.tables import each_row


@each_row(
    ("event", "code", "message"),
    [
        ({"error": {"code": "c", "message": "m"}}, "c", "m"),
        ({"error": {"type": "t", "message": "m"}}, "t", "m"),
        ({"error": {"message": None, "code": 5}}, "5", "{'message': None, 'code': 5}"),
        ({"error": "words"}, "error", "words"),
        ({"error": "words", "code": 7}, "7", "words"),
        ({"error_message": "m", "error_type": "t"}, "t", "m"),
        ({"object": "error", "message": "m", "code": 400}, "400", "m"),
        ({"code": "InvalidParameter", "message": "m", "request_id": "r"}, "InvalidParameter", "m"),
        ({**chunk({"content": "hi"}), "error": {"code": "c", "message": "m"}}, "c", "m"),
        (chunk(finish="error"), "error", "the provider finished the turn with 'error'"),
        (
            {"choices": [{"delta": {}, "error": {"code": "c", "message": "m"}}]},
            "c",
            "m",
        ),
    ],
)
def test_errors_of_every_shape_end_the_turn(event: Json, code: str, message: str) -> None:
    body = sse(chunk({"tool_calls": [opening(OSLO)]}), event, chunk(finish="tool_calls"), "[DONE]")
    found = read_turn(body)
    assert found.failure == StreamFailure(code, message)
    assert found.finish is None
    assert found.tool_calls == ()
    assert "the turn failed" in found.parse_errors[0].error


def test_an_event_named_error_is_one() -> None:
    assert read_turn(b'event: error\ndata: {"message": "m"}\n\n').failure == StreamFailure(
        "error", "m"
    )
    assert read_turn(b"event: error\ndata: words\n\n").failure == StreamFailure("error", "words")


@each_row(
    ("body", "code", "message"),
    [
        (b"<html><p>Sign in", "bad_event", "byte 0: HTML, no event stream: <html><p>Sign in"),
        (b"", "empty_stream", "the stream held no event"),
        (sse("[DONE]"), "empty_stream", "the stream held no event before [DONE]"),
        (sse(chunk({"content": "x"})) + b"data: {", "interrupted", None),
        (sse('{"choices": [{"x'), "bad_event", None),
        (sse('{"choices": [{"xdata: {"choices": []}'), "bad_event", None),
    ],
)
def test_what_is_no_stream_says_what_came(body: bytes, code: str, message: str | None) -> None:
    found = read_turn(body, plain=not body.startswith(b"data"))
    assert found.failure is not None
    assert found.failure.code == code
    assert message in (None, found.failure.message)


def test_a_wrapped_completion_is_no_empty_success() -> None:
    body = json.dumps({"data": {"choices": [{"message": {"content": "hi"}}]}}).encode()
    assert read_turn(body, plain=True).failure is not None


def test_a_call_that_the_end_cuts_is_not_run() -> None:
    found = read_turn(sse(chunk({"tool_calls": [opening(OSLO)]})))
    assert found.tool_calls == ()
    assert found.failure == StreamFailure(
        "interrupted", "the stream ended without a finish reason or [DONE]"
    )


# Calls that must be told apart, or be reported


def _outcome(*entries: Json, finish: str = "tool_calls") -> tuple[list[tuple[str, str]], list[str]]:
    """Return (name, arguments) of each good call, and the names of the rejected ones."""
    found = read_turn(calls(*entries, finish=finish))
    good = [(each.name, each.arguments) for each in found.tool_calls]
    return good, [each.name for each in found.parse_errors]


def test_no_call_takes_the_arguments_of_another() -> None:
    weather, time = entry(name="get_weather"), entry(name="get_time")
    assert _outcome(time, weather, entry(OSLO)) == ([("get_time", ""), ("get_weather", OSLO)], [])
    truncated = entry('{"zone":', name="get_time")
    assert _outcome(truncated, weather, entry(OSLO)) == ([("get_weather", OSLO)], ["get_time"])


def test_arguments_may_come_before_the_name() -> None:
    late = {"index": 0, "function": {"name": "get_weather"}}
    assert _outcome(entry(OSLO, id="c1"), late) == ([("get_weather", OSLO)], [])
    assert _outcome(entry('{"city":', id="c1"), late, entry('"Oslo"}')) == (
        [("get_weather", OSLO)],
        [],
    )


def test_a_name_that_changes_is_reported() -> None:
    assert _outcome(opening(), entry(OSLO, id="c1", name="get_time")) == ([], ["get_weather"])
    assert _outcome(opening(), entry(name="_now"), entry(OSLO)) == ([], ["get_weather"])


def test_two_ids_before_any_arguments_are_one_call_or_two() -> None:
    assert _outcome(opening(), opening(id="c2")) == ([], ["get_weather"])
    assert _outcome(opening(), opening(id="c2"), entry(OSLO)) == ([("get_weather", OSLO)], [])


def test_ids_that_alternate_are_no_single_call() -> None:
    halves = (entry(OSLO, id="c1"), entry(OSLO, id="c2"))
    assert _outcome(opening(), opening(id="c2"), *halves) == ([], ["get_weather"])


def test_calls_at_one_index_are_told_apart_by_id() -> None:
    entries = (
        opening('{"city":'),
        opening('{"city":', id="c2", name="get_time"),
        entry('"Oslo"}', id="c1"),
        entry('"Bergen"}', id="c2"),
    )
    assert _outcome(*entries) == ([("get_weather", OSLO), ("get_time", BERGEN)], [])


def test_calls_keep_their_order_where_a_name_could_have_grown() -> None:
    found = read_turn(calls(opening(name="get"), opening(OSLO, index=1, id="c2")))
    assert [each.name for each in found.tool_calls] == ["get", "get_weather"]


def test_a_call_of_an_unknown_type_is_reported() -> None:
    other = {"index": 0, "id": "c1", "type": "retrieval", "retrieval": {"name": "shell"}}
    found = read_turn(calls(other))
    assert found.tool_calls == ()
    assert "retrieval" in found.parse_errors[0].error


def _custom(text: str, **fields: object) -> dict[str, object]:
    return {"index": 0, "custom": {"input": text, **fields}}


def test_the_input_of_a_custom_tool_is_kept_as_it_is() -> None:
    opened = {**_custom("", name="shell"), "id": "c1", "type": "custom"}
    # What would be a repetition in JSON is none in free text.
    found = read_turn(calls(opened, _custom("{}"), _custom("{}"), _custom("ls \n")))
    assert found.tool_calls == (ToolCall("c1", "shell", "{}{}ls \n", "custom"),)


def test_the_input_of_a_custom_tool_that_was_cut_short_is_not_run() -> None:
    opened = {**_custom("rm -r", name="shell"), "id": "c1", "type": "custom"}
    found = read_turn(calls(opened, finish="length"))
    assert (found.tool_calls, found.parse_errors[0].snippet) == ((), "rm -r")


def test_a_limit_before_the_arguments_is_no_call_without_arguments() -> None:
    assert _outcome(opening(), finish="length") == ([], ["get_weather"])
    assert _outcome(opening(OSLO), opening('{"c', id="c2", index=1), finish="length") == (
        [("get_weather", OSLO)],
        ["get_weather"],
    )


def test_made_up_ids_are_stable_and_differ_between_turns() -> None:
    def made_up(response: str) -> str:
        body = sse(
            chunk({"tool_calls": [entry(OSLO, name="get_weather")]}, id=response),
            chunk(finish="tool_calls"),
        )
        return read_turn(body).tool_calls[0].id

    assert made_up("r1") == made_up("r1")
    assert made_up("r1") != made_up("r2")


# Policies


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("by-tools", ["get_weather", "get_time"]),
        ("append", ["get_weather", "get_timeget_time"]),
        ("first", ["get", "get_time"]),
    ],
)
def test_policy_names(policy: Any, wanted: list[str]) -> None:  # noqa: ANN401 - one of the literals
    body = calls(
        opening(name="get"),
        entry(OSLO, name="_weather"),
        opening("", name="get_time", index=1, id="c2"),
        entry("{}", name="get_time", index=1),
    )
    deltas = read_deltas(body, tools=("get", "get_weather"), policy=ReaderPolicy(names=policy))
    assert [delta.name for delta in deltas if isinstance(delta, ToolCallStart)] == wanted


def test_policy_names_by_tools_knows_a_doubled_name() -> None:
    body = calls(opening(name="ha"), entry("{}", name="ha"))
    deltas = read_deltas(body, tools=("haha",))
    assert [each.name for each in fold(deltas).tool_calls] == ["haha"]


def test_policy_arguments() -> None:
    body = calls(opening(), entry('{"ci'), entry(OSLO))
    assert read_turn(body).tool_calls == (call(),)
    appended = read_turn(body, policy=ReaderPolicy(arguments="append"))
    assert appended.tool_calls == ()
    assert appended.parse_errors[0].snippet == '{"ci{"city":"Oslo"}'


def test_policy_nameless() -> None:
    body = calls(
        {"index": 0, "id": "c1", "function": {"arguments": OSLO}}, opening(OSLO, index=1, id="c2")
    )
    assert [each.id for each in read_turn(body).parse_errors] == ["c1"]
    dropped = read_turn(body, policy=ReaderPolicy(nameless="drop"))
    assert dropped.parse_errors == ()
    assert dropped.tool_calls == (call(call_id="c2"),)


def test_a_turn_whose_only_call_is_dropped_stops() -> None:
    body = calls({"index": 0, "id": "c1", "function": {"arguments": OSLO}}, finish="stop")
    dropped = read_turn(body, policy=ReaderPolicy(nameless="drop"))
    assert dropped.finish is not None
    assert dropped.finish.reason is FinishReason.STOP


def test_calls_are_emitted_in_the_order_in_which_they_begin() -> None:
    body = calls(
        {"index": 0, "id": "c1", "function": {"arguments": ""}},
        opening(OSLO, index=1, id="c2"),
        entry(OSLO, name="get_weather"),
    )
    assert read_turn(body).tool_calls == (call(call_id="c1"), call(call_id="c2"))


def test_policy_unfinished_event() -> None:
    body = sse(chunk({"content": "hi"}), chunk(finish="stop")).rstrip()
    assert read_turn(body).finish is not None
    dropped = read_turn(body, policy=ReaderPolicy(unfinished_event="drop"))
    assert dropped.failure is not None
    assert dropped.failure.code == "interrupted"


def test_policy_done_without_finish() -> None:
    body = sse(chunk({"tool_calls": [opening(OSLO)]}), "[DONE]")
    assert read_turn(body).tool_calls == (call(),)
    interrupted = read_turn(body, policy=ReaderPolicy(done_without_finish="interrupted"))
    assert interrupted.tool_calls == ()
    assert interrupted.failure is not None


def test_unknown_policies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^ReaderPolicy\.names is 'guess': expected one of "):
        ReaderPolicy(names="guess")  # type: ignore[arg-type]  # this is the error
    with pytest.raises(TypeError, match="nameles"):
        ReaderPolicy(nameles="drop")  # type: ignore[call-arg]  # as above


@each_row(
    "late",
    [
        [entry('"Oslo"}', id="a")],
        [entry("", id="a"), entry('"Oslo"}')],
        [entry('"Oslo"}'), entry("", id="a")],
    ],
)
@each_row("next_id", ["", "b"])
def test_an_id_that_comes_after_the_next_call_opened_is_that_of_its_call(
    late: list[Json], next_id: str
) -> None:
    second = entry(BERGEN, name="get_weather", index=1, id=next_id)
    body = calls(entry('{"city":', name="get_weather"), second, *late)
    assert_agrees(interaction("openai-chat", body))
    ids = [each.id for each in read_turn(body).tool_calls]
    assert ids[0] == "a"
    assert ids[1] == next_id or ids[1].startswith("call_")


def test_only_the_start_of_calls_waits_for_an_id() -> None:
    body = sse(
        chunk({"tool_calls": [entry(OSLO, name="get_weather")]}),
        chunk({"tool_calls": [entry(BERGEN, name="get_weather", index=1, id="b")]}),
        chunk({"content": "Hi"}),
        chunk({"tool_calls": [entry("", id="a")]}),
        chunk({"content": "!"}),
        chunk(finish="tool_calls"),
        "[DONE]",
    )
    kinds = [type(delta).__name__ for delta in read_deltas(body)]
    assert kinds == [
        *("TextDelta", "ToolCallStart", "ArgumentsDelta", "ToolCallStart", "ArgumentsDelta"),
        *("TextDelta", "ToolCallEnd", "ToolCallEnd", "Finish"),
    ]
