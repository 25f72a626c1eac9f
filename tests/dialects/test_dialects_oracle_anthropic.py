"""The oracle of anthropic: what is special to it."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.kit.oracle.values import member_text
from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expectation_from
from harness.results.expectation import Expectation
from harness.turns.arguments import same_value
from harness.turns.deltas import FinishReason
from harness.turns.fold import fold
from harness.turns.oracle_reading import OracleReading
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read, Request
from tests.dialects.anthropic_streams import (
    OSLO,
    STARTED,
    STOPPED,
    Json,
    called,
    delta,
    ended,
    message,
    partial,
    said,
    sse,
    start,
    stop,
)
from tests.dialects.test_dialects_anthropic_hostile import BODIES
from tests.tables import each_row

ROOT = Path(__file__).parents[2] / "cassettes"
SHIPPED = sorted(
    path
    for folder in ("anthropic", "compatible/claude", "aws-bedrock/anthropic*", "google-vertex/cl*")
    for path in ROOT.glob(f"{folder}/**/*.yaml")
)
INPUTS = st.dictionaries(st.sampled_from("abc"), st.integers() | st.text("xyz"))
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def interaction(body: bytes, status: int = 200) -> Interaction:
    return Interaction(Request(), status, (), body, (Read(len(body)),), dialect="anthropic")


def read_body(body: bytes) -> OracleReading:
    return oracle_reading(interaction(body))


def assert_agrees(one: Interaction) -> None:
    """Compare what the reading is sure of with what the reader gives."""
    reading = oracle_reading(one)
    turn = fold(DIALECTS["anthropic"].read(iter_frames([one.body]), ()))
    _compare(expectation_from(reading), turn)


def _compare(wanted: Expectation, turn: Turn) -> None:
    judged = wanted.judged
    if "text" in judged:
        assert (turn.text, turn.reasoning) == (wanted.text, wanted.reasoning)
    if "calls" in judged:
        assert len(turn.tool_calls) == len(wanted.calls)
        for found, call in zip(turn.tool_calls, wanted.calls, strict=True):
            assert (found.name, call.id in (None, found.id)) == (call.name, True)
            expected = call.arguments_text or json.dumps(call.arguments)
            assert same_value(found.arguments or "{}", expected)
    if "rejected" in judged:
        found_names = [error.name for error in turn.parse_errors]
        assert found_names == [rejected.name for rejected in wanted.rejected]
        for error, rejected in zip(turn.parse_errors, wanted.rejected, strict=True):
            assert rejected.snippet in error.snippet
    if "failure" in judged:
        assert (turn.failure is None) == (wanted.failure is None)
        assert turn.failure is None or wanted.failure_says in turn.failure.message
    if "finish" in judged and turn.finish is not None:
        assert turn.finish.reason == wanted.finish


# It agrees with the reader


@given(BODIES)
def test_oracle_never_raises_on_hostile_streams(body: bytes) -> None:
    assert expectation_from(read_body(body)) is not None
    for cut in range(0, len(body), 7):
        assert read_body(body[:cut]) is not None


# What it says


def test_a_message_by_the_contract() -> None:
    body = message(said("Hi"), start(1, {"type": "thinking", "thinking": "hm"}), called(2))
    reading = read_body(body)
    assert (reading.text, reading.reasoning, reading.finish) == ("Hi", "hm", "tool_use")
    assert reading.meaning is FinishReason.STOP
    assert [(call.id, call.name) for call in reading.calls or ()] == [("t1", "get_weather")]
    assert reading.text_marks == ((body.index(b"event: content_block_start"), 2),)


@each_row(
    ("quirk", "events"),
    [
        ("ANT-EMPTY-INPUT", (called(), stop())),
        ("ANT-START-INPUT-PLUS-DELTA", (called(input=None), partial(OSLO), stop())),
        ("ANT-FULL-INPUT-IN-START", (called(input={"city": "Oslo"}), stop())),
        ("ANT-SIGNATURE-MISPLACED", (called(), delta(0, "signature_delta"), partial(OSLO))),
        ("ANT-UNKNOWN-EVENT", (called(), delta(0, "something_new"), partial(OSLO))),
        ("DELTA-ID-SHARED-BY-SIBLINGS", (called(), stop(), called(1), partial(OSLO, 1), stop(1))),
        ("ANT-SERVER-TOOLS", (start(1, {"type": "mcp_tool_use"}), called(), partial(OSLO))),
        ("ANT-BLOCK-INDEX", (called(), stop(), called(0, "t2"), partial(OSLO), stop())),
        ("ANT-BLOCK-STOP-EARLY", (called(), stop(), partial(OSLO))),
        ("ANT-DELTA-WITHOUT-BLOCK", (said("x", 5), called(), partial(OSLO))),
    ],
)
def test_deviations_that_keep_the_meaning_are_noted(quirk: str, events: tuple[Json, ...]) -> None:
    reading = read_body(message(*events))
    assert quirk in reading.quirks
    assert reading.calls
    assert_agrees(interaction(message(*events)))


@each_row(
    ("quirk", "events"),
    [
        ("ANT-BLOCK-INDEX", (called(None), partial(OSLO, None))),
        ("ANT-BLOCK-INDEX", (called(), called(0, "t2"), partial(OSLO))),
        ("ANT-BLOCK-STOP-EARLY", (called(input={"a": 1}), stop(), partial(OSLO))),
        ("ANT-BLOCK-STOP-EARLY", (called(input={"a": 1}),)),
        ("ARGS-OBJECT", (called(), partial({"a": 1}))),
        ("ARGS-OBJECT", (called(input=[1]), stop())),
        ("ANT-UNKNOWN-EVENT", (called(name=5), partial(OSLO))),
        ("EVENT-GLUED", (STARTED, called(), partial(OSLO))),
        ("FINISH-DUPLICATE", (called(), partial(OSLO), ended("end_turn"))),
        ("CONTENT-AFTER-FINISH", (ended("tool_use"), called(), partial(OSLO))),
    ],
)
def test_oracle_abstains_if_the_calls_are_ambiguous(quirk: str, events: tuple[Json, ...]) -> None:
    reading = read_body(message(*events))
    assert reading.calls is None
    assert quirk in reading.quirks


@given(value=INPUTS, other=INPUTS)
def test_fragments_replace_another_input_of_the_start_or_the_call_is_rejected(
    value: Json, other: Json
) -> None:
    assume(value and other and value != other)
    body = message(called(input=other), partial(json.dumps(value)), stop())
    reading = read_body(body)
    assert "ANT-START-INPUT-PLUS-DELTA" in reading.quirks
    assert _admitted(reading) == [[value], []]
    assert _emitted(body) in ([value], [])


@given(value=INPUTS, space=st.sampled_from(("", " ")))
def test_an_empty_object_before_the_input_is_a_placeholder_or_not_json(
    value: Json, space: str
) -> None:
    body = message(called(), partial("{}" + space), partial(json.dumps(value)), stop())
    reading = read_body(body)
    assert "ARGS-EMPTYOBJ-THEN-REAL" in reading.quirks
    assert _admitted(reading) == [[value], []]
    assert _emitted(body) in ([value], [])


def test_an_empty_object_that_is_the_input_is_certain() -> None:
    reading = read_body(message(called(), partial("{}"), partial(""), stop()))
    assert _admitted(reading) == [[{}]]
    assert _admitted(read_body(message(called(), stop()))) == [[{}]]


def _admitted(reading: OracleReading) -> list[list[Json]]:
    """Return the arguments of the calls of each reading; each rejects the calls that it lacks."""
    found = expectation_from(reading).readings
    assert all(len(it.calls) + len(it.rejected) == 1 for it in found)
    return [[call.arguments for call in it.calls] for it in found]


def _emitted(body: bytes) -> list[Json]:
    turn = fold(DIALECTS["anthropic"].read(iter_frames([body]), ()))
    return [json.loads(it.arguments) for it in turn.tool_calls]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "MAX_TOKENS", "length"])
def test_oracle_abstains_from_a_readable_last_call_before_a_limit(reason: str) -> None:
    reading = read_body(message(called(), partial(OSLO), stop(), reason=reason))
    assert "ANT-BUFFERED-MAXTOKENS" in reading.quirks
    assert reading.calls is None


def test_an_unreadable_input_before_a_limit_is_certain() -> None:
    body = message(called(), partial('{"a": "x'), stop(), reason="max_tokens")
    assert expectation_from(read_body(body)).rejected[0].snippet == '{"a": "x'
    assert_agrees(interaction(body))


def test_errors() -> None:
    assert read_body(sse(STARTED, said("x"), ERROR)).error == ("overloaded_error", "Overloaded")
    assert read_body(json.dumps(ERROR).encode()).error == ("overloaded_error", "Overloaded")
    late = read_body(sse(STARTED, ended("end_turn"), ERROR))
    assert [late.error, *(it.error for it in late.alternatives)] == [
        ("overloaded_error", "Overloaded"),
        None,
    ]
    assert oracle_reading(interaction(b"{}", 500)).error == ("http_500", "")


def test_ends() -> None:
    assert not read_body(sse(STARTED, said("x"))).ended
    assert not read_body(sse(STARTED, said("x"), STOPPED)).knows("end")
    assert "ANT-MESSAGE-STOP-MISSING" in read_body(sse(STARTED, ended("end_turn"))).quirks
    whole = {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}
    reading = read_body(sse({"type": "message_start", "message": whole}))
    assert [reading.ended, *(it.ended for it in reading.alternatives)] == [False, True]
    more = (start(1, {"type": "text", "text": ""}), said("y", 1))
    assert not read_body(sse({"type": "message_start", "message": whole}, *more)).ended
    assert "FINISH-TOOLCALLS-WITHOUT-CALLS" in read_body(message(said("x"))).quirks
    assert not read_body(message(said("x")) + message(said("y"))).knows("end")
    assert read_body(message(said("x")) + b"data: [DONE]\n\n").knows("end")


@each_row(
    ("body", "quirk"),
    [
        (b"", "STREAM-NO-EVENTS"),
        (b"<html></html>", "HTTP-HTML-BODY"),
        (b"\x1f\x8bxx", "ENVELOPE-WRAPPED"),
        (b'{"type": "mess', "EVENT-GLUED"),
        (b'data: {"type": "ping"}\n\ndata: {"typ\n\n', "EVENT-GLUED"),
        (b"data: 5\n\n", "SSE-DATA-NULL"),
        (b"data: \xff\n\n", "SSE-UTF8-SPLIT"),
        (b'{"type": "message_stop"}\n{"type": "ping"}\n', "SSE-AFTER-DONE"),
    ],
)
def test_bodies_that_are_not_a_stream(body: bytes, quirk: str) -> None:
    assert quirk in read_body(body).quirks


def test_lines_and_lists_are_read_like_events() -> None:
    events = (STARTED, called(input={"a": 1.10}), stop(), ended("tool_use"), STOPPED)
    lines = b"\n".join(json.dumps(event).encode() for event in events)
    for body in (lines, lines + b"\n", json.dumps(events).encode()):
        assert [call.arguments for call in read_body(body).calls or ()] == ['{"a": 1.1}']
        assert_agrees(interaction(body))


# The text of a member


@each_row(
    ("text", "path", "found"),
    [
        ('{"a": 1.10}', ("a",), "1.10"),
        (' { "a" : [ 1e5 , {"b": "}"} ] } ', ("a", 1, "b"), '"}"'),
        ('{"a": 1, "a": 2}', ("a",), "2"),
        ('{"a": 1}', ("b",), ""),
        ('{"a": 1}', ("a", "b"), ""),
        ("[]", (0,), ""),
        ("5", ("a",), ""),
    ],
)
def test_member_text(text: str, path: tuple[str | int, ...], found: str) -> None:
    assert member_text(text, *path) == found
