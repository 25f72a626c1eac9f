"""Interactions streams: what is written reads back, and what is odd is never lost in silence."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.google_interactions.parse_request import parse_request
from harness.dialects.google_interactions.write import write
from harness.dialects.google_interactions.writer_options import WriterOptions
from harness.turns.deltas import Finish, FinishReason, StreamFailure, TextDelta
from harness.turns.fold import fold
from tests.dialects.google_streams import Json, Script, read_turn, scripts, spellings, sse

FINISHES = st.sampled_from(
    (
        Finish(FinishReason.STOP, "completed"),
        Finish(FinishReason.TOOL_CALLS, "requires_action"),
        Finish(FinishReason.LENGTH, "incomplete"),
        Finish(FinishReason.LENGTH, "budget_exceeded"),
        Finish(FinishReason.OTHER, "a_new_word"),
    )
)
DIALECT = "google-interactions"


@given(scripts(FINISHES), spellings(WriterOptions))
def test_what_is_written_reads_as_the_same_turn(script: Script, spelling: WriterOptions) -> None:
    found = read_turn(DIALECT, b"".join(write(script.deltas(), spelling)))
    cut_short = script.finish.raw not in ("completed", "requires_action")
    if spelling.status == "absent":
        assert found.failure is not None
        return
    if cut_short and not all(fragments for _, _, fragments in script.calls):
        return  # a call without arguments of a turn that was cut short may be cut short itself
    turn = fold(script.deltas())
    finish = script.finish
    if script.calls and finish.reason is not FinishReason.LENGTH:
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    assert without_digits(found) == without_digits(msgspec.structs.replace(turn, finish=finish))


def without_digits(turn: Any) -> Any:  # noqa: ANN401 - a turn, in which objects are compared by value
    calls = [(c.id, c.name, json.loads(c.arguments or "{}")) for c in turn.tool_calls]
    return msgspec.structs.replace(turn, tool_calls=tuple(calls))


@given(scripts(FINISHES), spellings(WriterOptions))
def test_the_whole_interaction_is_the_turn_of_its_stream(
    script: Script, spelling: WriterOptions
) -> None:
    if spelling.status == "absent":
        return
    whole = msgspec.structs.replace(spelling, framing="document")
    streamed, document = (
        read_turn(DIALECT, b"".join(write(script.deltas(), each))) for each in (spelling, whole)
    )
    assert without_messages(streamed) == without_messages(document)


def without_messages(turn: Any) -> Any:  # noqa: ANN401 - as above
    errors = [(e.id, e.name, e.error) for e in turn.parse_errors]
    return without_digits(msgspec.structs.replace(turn, parse_errors=tuple(errors)))


# Spelled by hand


def step(index: object, kind: str = "start", **fields: object) -> Json:
    name = {"start": "step", "delta": "delta"}.get(kind)
    inner = {name: fields} if name else {}
    return {"index": index, **inner, "event_type": f"step.{kind}"}


def call(index: object, call_id: str = "1", **fields: Any) -> Json:  # noqa: ANN401 - members of a step
    return step(index, type="function_call", id=call_id, name="f", **fields)


def fragment(index: object, text: str) -> Json:
    return step(index, "delta", type="arguments_delta", arguments=text)


def done(status: str = "requires_action") -> Json:
    return {"interaction": {"status": status}, "event_type": "interaction.completed"}


def arguments(*events: Json) -> list[str]:
    return [found.arguments for found in read_turn(DIALECT, sse(*events, done())).tool_calls]


def why(*events: Json) -> list[str]:
    found = read_turn(DIALECT, sse(*events, done()))
    assert not found.tool_calls
    return [error.error for error in found.parse_errors]


def test_fragments_replace_a_placeholder_and_equal_arguments() -> None:
    assert arguments(call(0, arguments={}), fragment(0, '{"a":1}')) == ['{"a":1}']
    assert arguments(call(0, arguments={"a": 1}), fragment(0, '{"a":1}')) == ['{"a":1}']
    assert why(call(0, arguments={"a": 2}), fragment(0, '{"a":1}')) == [
        "its arguments came twice and differ"
    ]


def test_arguments_at_the_start_are_those_of_the_call() -> None:
    assert arguments(call(0, arguments={"a": 1.50})) == ['{"a": 1.5}']
    assert arguments(call(0)) == [""]


def test_two_calls_at_one_index_are_two() -> None:
    found = arguments(call(0, "1", arguments={"a": 1}), call(0, "2", arguments={"a": 2}))
    assert found == ['{"a": 1}', '{"a": 2}']


def test_fragments_without_a_start_are_a_call_without_a_name() -> None:
    assert why(fragment(3, "{}")) == ["the call has no name"]


def test_text_in_a_thought_is_reasoning() -> None:
    body = sse(
        step(0, type="thought"),
        step(0, "delta", type="text", text="hm"),
        step(1, type="model_output", content=[{"type": "text", "text": "A"}]),
        step(1, "delta", type="text", text="B"),
        done("completed"),
    )
    found = read_turn(DIALECT, body)
    assert (found.reasoning, found.text) == ("hm", "AB")


@pytest.mark.parametrize("version", ["steps", "contents"])
@pytest.mark.parametrize("framing", ["sse", "lines"])
@pytest.mark.parametrize("code", ["interrupted", "failed", "cancelled", "quota"])
def test_a_failure_is_told(code: str, framing: str, version: str) -> None:
    spelling = WriterOptions(framing=framing, version=version)  # type: ignore[arg-type]  # literals of the table above
    body = b"".join(write((TextDelta("x"), StreamFailure(code, "no")), spelling))
    failure = read_turn(DIALECT, body).failure
    assert failure is not None
    assert failure.code == code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty_stream"),
        (b"data: [DONE]\n\n", "empty_stream"),
        (b'{"choices": []}', "unknown_envelope"),
        (b'{"error": {"message": "m", "code": "bad_request"}}', "bad_request"),
        (b'{"error": "m"}', "error"),
        (b'{"status": "failed", "steps": []}', "failed"),
        (b'{"status": "in_progress", "steps": []}', "interrupted"),
        (b"<p>", "bad_event"),
    ],
)
def test_what_is_no_answer_fails(body: bytes, code: str) -> None:
    failure = read_turn(DIALECT, body).failure
    assert failure is not None
    assert failure.code == code


def test_an_empty_stream_is_no_event() -> None:
    assert write((StreamFailure("empty_stream"),)) == ()


def test_a_request_declares_its_functions() -> None:
    tools = [{"type": "google_search"}, {"type": "function", "name": "f", "parameters": {}}]
    found = parse_request("", {"model": "m", "stream": True, "tools": tools})
    assert (found.model, found.stream, [tool.name for tool in found.tools]) == ("m", True, ["f"])
