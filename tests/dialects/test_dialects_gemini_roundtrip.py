"""Any deltas, in any spelling of a generateContent stream, cut anywhere, fold to the same turn."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.gemini.write import write
from harness.dialects.gemini.writer_options import WriterOptions
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
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.google_streams import Script, read_turn, scripts, spellings, without_ids

FINISHES = st.sampled_from(
    (
        Finish(FinishReason.STOP, "STOP"),
        Finish(FinishReason.LENGTH, "MAX_TOKENS"),
        Finish(FinishReason.CONTENT_FILTER, "SAFETY"),
        Finish(FinishReason.CONTENT_FILTER, "RECITATION"),
        Finish(FinishReason.OTHER, "OTHER"),
        Finish(FinishReason.OTHER, "A_NEW_WORD"),
    )
)
SPELLINGS = spellings(WriterOptions)
_DECIDED_BY_CALLS = (FinishReason.STOP, FinishReason.OTHER)


def expected(script: Script, spelling: WriterOptions) -> Turn:
    """Return the turn that is left of `script` in a spelling."""
    turn = fold(script.deltas())
    finish = script.finish
    if script.calls and finish.reason in _DECIDED_BY_CALLS:
        finish = msgspec.structs.replace(finish, reason=FinishReason.TOOL_CALLS)
    turn = msgspec.structs.replace(turn, finish=finish)
    return without_ids(turn) if spelling.call_id == "absent" else turn


def is_told(script: Script, spelling: WriterOptions) -> bool:
    """Return whether the spelling leaves a whole turn."""
    if spelling.finish == "absent":
        return False
    # Without arguments a call of a turn that was cut short may have been cut short itself.
    return script.finish.raw == "STOP" or all(fragments for _, _, fragments in script.calls)


@given(scripts(FINISHES), SPELLINGS)
def test_what_is_written_reads_as_the_same_turn(script: Script, spelling: WriterOptions) -> None:
    found = read_turn("gemini", b"".join(write(script.deltas(), spelling)))
    if not is_told(script, spelling):
        assert spelling.finish != "absent" or found.failure
        return
    if spelling.call_id == "absent":
        found = without_ids(found)
    if spelling.finish == "number" and found.finish is not None:
        number = Finish(found.finish.reason, script.finish.raw)
        assert found.finish.raw.isdigit() or script.finish.raw == "A_NEW_WORD"
        found = msgspec.structs.replace(found, finish=number)
    assert found == expected(script, spelling)


@given(scripts(FINISHES), SPELLINGS)
def test_the_whole_response_is_the_turn_of_its_stream(
    script: Script, spelling: WriterOptions
) -> None:
    whole = msgspec.structs.replace(spelling, framing="document")
    streamed, document = (
        read_turn("gemini", b"".join(write(script.deltas(), each))) for each in (spelling, whole)
    )
    assert streamed == document


@pytest.mark.parametrize("framing", ["sse", "array", "lines"])
@pytest.mark.parametrize("code", ["interrupted", "RESOURCE_EXHAUSTED", "MALFORMED_FUNCTION_CALL"])
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
