"""The strict reading of Mistral streams: right where it speaks, silent where it must be."""

import json
from typing import Any

import pytest
from hypothesis import given

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.mistral.oracle import MistralOracle
from harness.dialects.mistral.write import write
from harness.dialects.mistral.writer_options import WriterOptions
from harness.fuzzing.strategies import TurnScript, turn_scripts, writer_options
from harness.turns.arguments import same_value
from harness.turns.deltas import Finish, FinishReason
from harness.turns.fold import fold
from harness.wire.interaction import Interaction, Request

Json = dict[str, Any]
FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    Finish(FinishReason.LENGTH, "model_length"),
    Finish(FinishReason.OTHER, "none of ours"),
)


def _read(body: bytes) -> OracleReading:
    return MistralOracle().read(Interaction(Request(), 200, (), body, (), dialect="mistral"))


def _sse(*values: Json) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def _chunk(delta: object, finish: object = None) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _calls(*entries: Json) -> OracleReading:
    return _read(_sse(*(_chunk({"tool_calls": [each]}) for each in entries), _chunk({}, "stop")))


def _entry(name: object, arguments: object = "{}", **fields: object) -> Json:
    return {"function": {"name": name, "arguments": arguments}, **fields}


@given(turn_scripts(FINISHES), writer_options("mistral", response_id=("", "r1")))
def test_it_finds_what_was_written_or_abstains(script: TurnScript, spelling: WriterOptions) -> None:
    reading = _read(b"".join(write(script.deltas(), spelling)))
    turn = fold(script.deltas())
    assert (reading.text, reading.reasoning) == (turn.text, turn.reasoning)
    assert reading.text_known
    assert reading.end_known
    assert reading.finish == script.finish.raw
    if reading.calls is not None:
        assert [call.name for call in reading.calls] == [name for _, name, _ in script.calls]
        for call, (_, _, fragments) in zip(reading.calls, script.calls, strict=True):
            arguments = "".join(fragments)
            assert call.arguments == arguments or same_value(call.arguments, arguments)
    else:
        assert spelling.index != "kept" or spelling.call_id == "kept"


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("stop", FinishReason.STOP),
        ("tool_calls", FinishReason.STOP),
        ("model_length", FinishReason.LENGTH),
        ("eos", None),
    ],
)
def test_a_finish_word_means_what_the_contract_says(
    word: str, meaning: FinishReason | None
) -> None:
    assert _read(_sse(_chunk({"content": "a"}, word))).meaning is meaning


def test_it_abstains_where_two_entries_may_be_one_call() -> None:
    assert _calls(_entry("f"), _entry("f")).calls is None
    assert _calls(_entry("f", index=0), _entry("f", index=0)).calls is None
    assert _calls(_entry("f", id="a"), _entry("f", id="a")).calls is None
    assert _calls(_entry("", "{}", id="a")).calls is None


def test_it_tells_calls_apart_by_what_the_contract_gives_them() -> None:
    assert len(_calls(_entry("f", id="a"), _entry("f", id="b")).calls or ()) == 2
    assert len(_calls(_entry("f", index=0), _entry("f", index=1)).calls or ()) == 2
    assert len(_calls(_entry("f", index=0), _entry("g", index=0)).calls or ()) == 2


def test_a_finish_that_says_that_the_provider_failed_leaves_the_end_open() -> None:
    assert not _read(_sse(_chunk({"content": "a"}, "error"))).end_known


def test_an_error_is_told_with_code_and_message() -> None:
    value = {"object": "error", "message": "m", "type": "t", "code": "1"}
    assert _read(_sse(_chunk({"content": "a"}), value)).error == ("1", "m")
    assert _read(json.dumps(value).encode()).error == ("1", "m")


def test_an_unknown_part_leaves_the_text_open() -> None:
    assert not _read(_sse(_chunk({"content": [{"type": "video", "text": "a"}]}))).text_known


def test_a_promise_of_calls_that_is_not_kept_is_noted() -> None:
    reading = _read(_sse(_chunk({"content": "a"}, "tool_calls")))
    assert "FINISH-TOOLCALLS-WITHOUT-CALLS" in reading.quirks
