"""The oracle of DashScope's native streams: what is special to it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.dashscope.oracle import DashScopeOracle
from harness.dialects.dashscope.write import WriterOptions, write
from harness.fuzzing.strategies import TurnScript, turn_scripts, writer_options
from harness.turns.arguments import same_value
from harness.turns.deltas import Finish, FinishReason
from harness.turns.fold import fold
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction, Request

Json = dict[str, Any]
FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    Finish(FinishReason.LENGTH, "length"),
    Finish(FinishReason.OTHER, "none of ours"),
)
OPTIONS = writer_options("dashscope", model=("qwen-plus",), request_id=("", "r1"))


def _read(body: bytes, *, increments: bool | None = None) -> OracleReading:
    asked = {} if increments is None else {"incremental_output": increments}
    request = Request(body=json.dumps({"parameters": asked}).encode())
    return DashScopeOracle().read(Interaction(request, 200, (), body, (), dialect="dashscope"))


def _event(content: object, finish: object = "null", **message: object) -> Json:
    message = {"content": content, **message}
    return {"output": {"choices": [{"message": message, "finish_reason": finish}]}}


def _sse(*values: Json) -> bytes:
    return b"".join(b"data:" + json.dumps(value).encode() + b"\n\n" for value in values)


def _text(*values: str) -> bytes:
    return _sse(*map(_event, values), _event("", "stop"))


@given(script=turn_scripts(FINISHES), options=OPTIONS, known=st.booleans())
def test_oracle_reads_what_was_written_or_abstains(
    script: TurnScript, options: WriterOptions, *, known: bool
) -> None:
    asked = options.output == "increments" if known else None
    reading = _read(b"".join(write(script.deltas(), options)), increments=asked)
    turn = fold(script.deltas())
    assert reading.knows("end")
    assert reading.finish == script.finish.raw
    if reading.knows("text"):
        assert (reading.text, reading.reasoning) == (turn.text, turn.reasoning)
    if reading.calls is not None:
        assert [call.id for call in reading.calls] == [call_id for call_id, _, _ in script.calls]
        for call, (_, name, fragments) in zip(reading.calls, script.calls, strict=True):
            arguments = "".join(fragments)
            assert call.name == name
            assert call.arguments == arguments or same_value(call.arguments, arguments)


@given(turn_scripts(FINISHES), OPTIONS)
def test_oracle_does_not_abstain_from_requested_snapshots(
    script: TurnScript, options: WriterOptions
) -> None:
    options = msgspec.structs.replace(options, output="snapshots", index="kept", arguments="text")
    reading = _read(b"".join(write(script.deltas(), options)), increments=False)
    assert reading.calls is not None or "SSE-UTF8-SPLIT" in reading.quirks


@pytest.mark.parametrize(
    ("values", "increments", "text"),
    [
        (("He", "llo"), True, "Hello"),
        (("He", "llo"), None, "Hello"),
        (("He", "Hello"), False, "Hello"),
        (("A longer beginning", "A longer beginning."), None, "A longer beginning."),
        (("one",), None, "one"),
    ],
)
def test_request_and_values_show_the_mode(
    values: tuple[str, ...], text: str, *, increments: bool | None
) -> None:
    reading = _read(_text(*values), increments=increments)
    assert (reading.text, reading.knows("text")) == (text, True)


@pytest.mark.parametrize(
    ("values", "increments"),
    [
        (("ha", "ha"), None),
        (("ha", "ha"), True),
        (("He", "Hello"), None),
        (("He", "llo"), False),
        (("a", "ab", "c"), None),
    ],
)
def test_oracle_abstains_if_request_and_values_are_ambiguous(
    values: tuple[str, ...], *, increments: bool | None
) -> None:
    reading = _read(_text(*values), increments=increments)
    assert not reading.knows("text")
    assert "DASH-CUMULATIVE" in reading.quirks


def test_text_is_marked_at_once_except_possible_repetitions() -> None:
    increments = _read(_text("He", "llo", "!"), increments=True)
    assert [length for _, length in increments.text_marks] == [2, 5, 6]
    doubtful = _read(_text("ha", "ha", "!", "!"))
    assert [length for _, length in doubtful.text_marks] == [2, 5, 6]
    snapshots = _read(_text("He", "Hello", "Hello you", "Hello you!"), increments=False)
    assert [length for _, length in snapshots.text_marks] == [2, 10]


def test_an_error_has_code_and_message() -> None:
    error = {"code": "c", "message": "m"}
    assert _read(_sse(_event("a"), error)).error == ("c", "m")
    assert _read(json.dumps(error).encode()).error == ("c", "m")


def test_the_text_null_is_not_a_finish_word() -> None:
    reading = _read(_sse(_event("a")))
    assert (reading.ended, reading.finish) == (False, "")
    assert "DASH-FINISH-NULL-TEXT" in reading.quirks
