"""The oracle of Mistral streams: what is special to it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.mistral.oracle import MistralOracle
from harness.dialects.table import oracle_reading
from harness.turns.deltas import Finish, FinishReason
from harness.turns.oracle_reading import OracleReading
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


def _chunk(delta: object, finish: object = None, index: int = 0) -> Json:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def _calls(*entries: Json) -> OracleReading:
    return _read(_sse(*(_chunk({"tool_calls": [each]}) for each in entries), _chunk({}, "stop")))


def _entry(name: object, arguments: object = "{}", **fields: object) -> Json:
    return {"function": {"name": name, "arguments": arguments}, **fields}


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("stop", FinishReason.STOP),
        ("tool_calls", FinishReason.STOP),
        ("model_length", FinishReason.LENGTH),
        ("eos", None),
    ],
)
def test_finish_words_have_the_meaning_of_the_contract(
    word: str, meaning: FinishReason | None
) -> None:
    assert _read(_sse(_chunk({"content": "a"}, word))).meaning is meaning


def test_oracle_abstains_if_two_entries_may_be_one_call() -> None:
    assert _calls(_entry("f"), _entry("f")).calls is None
    assert _calls(_entry("f", index=0), _entry("f", index=0)).calls is None
    assert _calls(_entry("", "{}", id="a")).calls is None


def test_calls_are_distinguished_by_id_index_or_name() -> None:
    assert len(_calls(_entry("f", id="a"), _entry("f", id="b")).calls or ()) == 2
    assert len(_calls(_entry("f", index=0), _entry("f", index=1)).calls or ()) == 2
    assert len(_calls(_entry("f", index=0), _entry("g", index=0)).calls or ()) == 2


def test_a_finish_word_for_a_failure_fails_the_turn_or_ends_it() -> None:
    body = _sse(_chunk({"content": "a"}, "error"))
    one = Interaction(Request(), 200, (), body, (), dialect="mistral")
    reading = oracle_reading(one)
    assert reading.knows("end")
    assert [reading.error, *(it.error for it in reading.alternatives)] == [("error", ""), None]


def test_an_error_has_code_and_message() -> None:
    value = {"object": "error", "message": "m", "code": "1"}
    assert _read(_sse(_chunk({"content": "a"}), value)).error == ("1", "m")
    assert _read(json.dumps({**value, "type": "t"}).encode()).error == ("t", "m")


def test_an_unknown_part_leaves_the_text_open() -> None:
    assert not _read(_sse(_chunk({"content": [{"type": "video", "text": "a"}]}))).knows("text")


def test_a_finish_word_for_calls_without_calls_is_noted() -> None:
    reading = _read(_sse(_chunk({"content": "a"}, "tool_calls")))
    assert "FINISH-TOOLCALLS-WITHOUT-CALLS" in reading.quirks


@given(st.lists(st.text(max_size=3), min_size=1), st.sampled_from(["stop", "length"]))
def test_further_choices_change_nothing_after_choice_0(pieces: list[str], finish: str) -> None:
    chunks = [*({"content": piece} for piece in pieces), {}]
    finishes = [*(None for _ in pieces), finish]
    alone = list(map(_chunk, chunks, finishes))
    further = [_chunk(each, end, 1) for each, end in zip(chunks, finishes, strict=True)]
    both = _read(_sse(*(value for pair in zip(alone, further, strict=True) for value in pair)))
    one = _read(_sse(*alone))
    assert (both.text, both.finish, both.unknown) == (one.text, one.finish, one.unknown)
    assert both.quirks == one.quirks | {"N-CHOICES"}
