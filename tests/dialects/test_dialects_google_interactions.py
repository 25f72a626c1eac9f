"""Interactions streams: what is odd is never lost without a report."""

from typing import Any

from harness.dialects.google_interactions.parse_request import parse_request
from harness.dialects.google_interactions.write import WriterOptions, write
from harness.turns.deltas import StreamFailure, TextDelta
from tests.dialects.google_streams import Json, read_turn, sse
from tests.tables import each_row

DIALECT = "google-interactions"


# Written by hand


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


@each_row("version", ["steps", "contents"])
@each_row("framing", ["sse", "lines"])
@each_row("code", ["interrupted", "failed", "cancelled", "quota"])
def test_a_failure_is_told(code: str, framing: str, version: str) -> None:
    spelling = WriterOptions(framing=framing, version=version)  # type: ignore[arg-type]  # literals of the table above
    body = b"".join(write((TextDelta("x"), StreamFailure(code, "no")), spelling))
    failure = read_turn(DIALECT, body).failure
    assert failure is not None
    assert failure.code == code


@each_row(
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
