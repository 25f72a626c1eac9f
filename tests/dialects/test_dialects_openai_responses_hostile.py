"""Whatever a stream holds: no exception, one end, and each call ended once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.openai_responses.read import read
from harness.turns.deltas import StreamFailure
from harness.turns.fold import fold
from harness.wire.framing import iter_frames
from tests.dialects.openai_responses_streams import (
    OSLO,
    added,
    completed,
    function,
    hostile,
    piece,
    read_deltas,
    read_turn,
    sse,
    whole,
)
from tests.replay_every_way import has_ended


@given(hostile)
def test_words_of_the_api_in_any_order_and_of_any_type(body: bytes) -> None:
    assert has_ended(fold(read_deltas(body)))


@given(hostile, st.integers(0))
def test_a_stream_that_ends_anywhere(body: bytes, end: int) -> None:
    assert has_ended(fold(read_deltas(body[: end % (len(body) + 1)], plain=True)))


@given(st.binary(max_size=80))
def test_any_bytes(body: bytes) -> None:
    assert has_ended(fold(read_deltas(body, plain=True)))


@pytest.mark.parametrize("what", ["deltas", "wholes", "items"])
def test_time_is_linear_where_the_same_is_told_again_and_again(what: str) -> None:
    count = 20_000
    events = {
        "deltas": [piece(" ") for _ in range(count)],
        "wholes": [one for _ in range(count // 2) for one in (piece(" "), whole("{}"))],
        "items": [added(function(id=f"fc_{at}", call_id=f"c{at}"), at) for at in range(count)],
    }[what]
    body = sse(added(function()), *events, completed())
    deltas = list(read(iter_frames([body]), ()))
    assert len(deltas) > count // 2


def test_a_document_of_another_api_is_no_response() -> None:
    document = {"id": "chatcmpl-1", "object": "chat.completion", "choices": []}
    turn = fold(read_deltas(json.dumps(document).encode(), plain=True))
    assert turn.failure is not None
    assert turn.failure.code == "unknown_envelope"


def test_a_stream_of_another_api_is_no_response() -> None:
    turn = read_turn({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}, "[DONE]")
    assert turn.failure is not None
    assert turn.failure.code == "unknown_envelope"


def test_half_an_event_after_the_end_changes_nothing() -> None:
    body = sse(added(function(OSLO)), completed(function(OSLO))) + b'data: {"type": "resp'
    turn = fold(read_deltas(body, plain=True))
    assert len(turn.tool_calls) == 1


def test_half_an_event_interrupts() -> None:
    body = sse(added(function(OSLO))) + b'data: {"type": "resp'
    turn = fold(read_deltas(body, plain=True))
    assert turn.failure == StreamFailure("interrupted", "the stream ended inside the event at 190")
    assert [error.snippet for error in turn.parse_errors] == [OSLO]


@pytest.mark.parametrize("kind", ["added", "done"])
def test_half_a_surrogate_pair_in_arguments_of_a_list_of_events_raises_nothing(kind: str) -> None:
    given = {"type": "function_call", "call_id": "c", "name": "f", "arguments": {"\ud83d": 1}}
    event = {"type": f"response.output_item.{kind}", "output_index": 0, "item": given}
    turn = fold(read_deltas(b"data: " + json.dumps([event]).encode() + b"\n\n"))
    assert [error.snippet for error in turn.parse_errors] == ['{"\\ud83d": 1}']
