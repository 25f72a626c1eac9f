"""What is special to the writer of generateContent streams: framings, and odd arguments."""

import json

import pytest

from harness.dialects.gemini.write import WriterOptions, write
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from tests.dialects.google_streams import read_turn
from tests.tables import each_row


@each_row("framing", ["sse", "array", "lines"])
@each_row("code", ["interrupted", "RESOURCE_EXHAUSTED", "MALFORMED_FUNCTION_CALL"])
def test_a_failure_rejects_every_call(code: str, framing: str) -> None:
    deltas = (
        ToolCallStart(0, "a", "f"),
        ArgumentsDelta(0, '{"a": 1}'),
        ToolCallRejected(0, ParseError("tool_use", "")),
        StreamFailure(code, "no"),
    )
    found = read_turn("gemini", b"".join(write(deltas, WriterOptions(framing=framing))))  # type: ignore[arg-type]  # one of the literals above
    assert found.failure is not None
    assert found.failure.code == code
    assert [(error.name, error.snippet) for error in found.parse_errors] == [("f", '{"a": 1}')]


@pytest.mark.parametrize("framing", ["sse", "array", "lines", "document"])
def test_line_ends_between_tokens_of_arguments_break_no_framing(framing: str) -> None:
    text = '{"a":\n\t1,\r\n"b": "\\n"}'
    deltas = (
        ToolCallStart(0, "a", "f"),
        ArgumentsDelta(0, text),
        ToolCallEnd(0),
        Finish(FinishReason.STOP, "STOP"),
    )
    found = read_turn("gemini", b"".join(write(deltas, WriterOptions(framing=framing))))  # type: ignore[arg-type]  # one of the literals above
    (call,) = found.tool_calls
    assert json.loads(call.arguments) == {"a": 1, "b": "\n"}


@pytest.mark.parametrize("text", ['{"a": ', "[1]", "no", '"{}"'])
def test_arguments_that_are_no_object_are_written_as_text_and_rejected(text: str) -> None:
    deltas = (
        ToolCallStart(0, "a", "f"),
        ArgumentsDelta(0, text),
        Finish(FinishReason.STOP, "STOP"),
    )
    found = read_turn("gemini", b"".join(write(deltas)))
    assert [error.snippet for error in found.parse_errors] == [text]


def test_no_delta_is_no_event() -> None:
    assert write(()) == ()
    assert write((), WriterOptions(framing="array")) == (b"[]",)
