"""`chat_deltas` reads chunks and completions, objects and dicts, sync and async, alike."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.openai_chat.write import write
from harness.normalizers.respond import respond
from harness.normalizers.sdk import chat_deltas
from harness.turns.deltas import Delta, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns

TURNS = clean_turns("stop", "tool_calls")
CALL = {"id": "call_a", "type": "function", "function": {"name": "get", "arguments": "{}"}}


def chunks_of(deltas: Iterable[Delta]) -> list[dict[str, Any]]:
    frames = [frame.data for frame in iter_frames([b"".join(write(deltas))])]
    return [json.loads(data) for data in frames if data != b"[DONE]"]


def objects_of(chunks: list[dict[str, Any]]) -> list[Any]:
    return [json.loads(json.dumps(it), object_hook=lambda d: SimpleNamespace(**d)) for it in chunks]


async def arriving(chunks: Iterable[Any]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


async def requested(chunks: Iterable[Any]) -> AsyncIterator[Any]:
    return arriving(chunks)


def completion_of(turn: Turn) -> dict[str, Any]:
    """Return the answer that the API gives without streaming."""
    calls = [
        {"id": it.id, "type": "function", "function": {"name": it.name, "arguments": it.arguments}}
        for it in turn.tool_calls
    ]
    message = {"role": "assistant", "content": turn.text or None, "tool_calls": calls or None}
    assert turn.finish is not None
    assert turn.usage is not None
    usage = {
        "prompt_tokens": turn.usage.input_tokens,
        "completion_tokens": turn.usage.output_tokens,
    }
    choice = {"index": 0, "message": message, "finish_reason": turn.finish.raw}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


@given(TURNS, st.sampled_from((iter, objects_of, arriving, requested)))
def test_chunks_give_the_turn_that_was_written(
    deltas: list[Delta], hand_over: Callable[[Any], Any]
) -> None:
    body = tuple(write(deltas))
    expected = fold(respond(an_answer("openai-chat", body), body))
    assert fold(chat_deltas(hand_over(chunks_of(deltas)))) == expected


@given(TURNS)
def test_a_completion_gives_the_turn_of_its_stream(deltas: list[Delta]) -> None:
    body = tuple(write(deltas))
    expected = fold(respond(an_answer("openai-chat", body), body))
    completion = completion_of(expected)

    async def later() -> dict[str, Any]:
        return completion

    for answer in (completion, objects_of([completion])[0], later()):
        assert fold(chat_deltas(answer)) == expected


@given(st.lists(st.text(min_size=1), min_size=1))
def test_text_is_yielded_before_the_next_chunk_is_taken(texts: list[str]) -> None:
    taken: list[str] = []

    def chunks() -> Iterator[dict[str, Any]]:
        for text in texts:
            taken.append(text)
            yield {"choices": [{"index": 0, "delta": {"content": text}}]}

    deltas = chat_deltas(chunks())
    for place, text in enumerate(texts, 1):
        assert next(deltas) == TextDelta(text)
        assert taken == texts[:place]


@pytest.mark.parametrize("finish", [None, "length", "content_filter", "error"])
def test_calls_of_an_answer_without_its_end_are_not_executed(finish: str | None) -> None:
    broken = {**CALL, "function": {"name": "get", "arguments": '{"city": "Os'}}
    for calls in ([CALL], [broken]):
        choice = {"index": 0, "finish_reason": finish, "message": {"tool_calls": calls}}
        turn = fold(chat_deltas({"choices": [choice]}))
        complete = calls == [CALL] and finish in ("length", "content_filter")
        assert bool(turn.tool_calls) == complete


def test_an_answer_without_choices_is_interrupted() -> None:
    answers: list[Any] = [{"error": {"message": "no"}}, {"choices": []}, []]
    for answer in answers:
        failure = fold(chat_deltas(answer)).failure
        assert failure is not None
        assert failure.code == "interrupted"


def test_arguments_are_parsed_strictly() -> None:
    call = {**CALL, "function": {"name": "get", "arguments": "{'city': 'Oslo'}"}}
    message = {"message": {"tool_calls": [CALL, call]}, "finish_reason": "tool_calls"}
    turn = fold(chat_deltas({"choices": [message]}))
    assert [it.name for it in turn.tool_calls] == ["get"]
    assert turn.finish is not None
    assert turn.finish.reason is FinishReason.TOOL_CALLS


def test_what_a_library_raises_is_raised() -> None:
    def chunks() -> Iterator[dict[str, Any]]:
        yield {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **CALL}]}}]}
        raise OverflowError

    with pytest.raises(OverflowError):
        list(chat_deltas(chunks()))


def test_a_refusal_that_is_not_a_text_is_left_out() -> None:
    delta = {"content": "Rain", "refusal": 5}
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
    turn = fold(chat_deltas([chunk]))
    assert (turn.text, turn.failure) == ("Rain", None)
