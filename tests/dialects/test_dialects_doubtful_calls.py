"""Fragments without an owner and repeated ids: what is due in each dialect that has them."""

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.kit.assembly import Assembly
from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expectation_from
from harness.turns.deltas import Finish, FinishReason
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from tests.dialects import anthropic_streams, bedrock_streams, openai_responses_streams
from tests.dialects.openai_chat_streams import chunk, entry, opening, sse
from tests.dialects.oracle_agreement import assert_agrees, interaction
from tests.dialects.test_dialects_cohere_read import end, more, start
from tests.dialects.test_dialects_google_interactions import call, done, fragment
from tests.tables import each_row

# One event: the index of a call, its id and name if the event opens it, and a fragment.
Step = tuple[int, str, str, str]
_NAME: Final = "get_weather"


def _chat(steps: Iterable[Step]) -> bytes:
    entries = [
        opening(text, index=index, id=call_id, name=name)
        if name
        else entry(text, index=index, **({"id": call_id} if call_id else {}))
        for index, call_id, name, text in steps
    ]
    chunks = [chunk({"role": "assistant", "tool_calls": [each]}) for each in entries]
    return sse(*chunks, chunk(finish="tool_calls"), "[DONE]")


def _anthropic(steps: Iterable[Step]) -> bytes:
    events = []
    for index, call_id, name, text in steps:
        events += [anthropic_streams.called(index, call_id, name=name)] if name else []
        events += [anthropic_streams.partial(text, index)] if text else []
    ends = (anthropic_streams.ended("tool_use"), anthropic_streams.STOPPED)
    return anthropic_streams.sse(anthropic_streams.STARTED, *events, *ends)


def _bedrock(steps: Iterable[Step]) -> bytes:
    events: list[tuple[str, object]] = [bedrock_streams.START]
    for index, call_id, name, text in steps:
        events += [bedrock_streams.opened(name, call_id, index)] if name else []
        events += [bedrock_streams.piece(text, index)] if text else []
    return bedrock_streams.messages(*events, bedrock_streams.stop())


def _cohere(steps: Iterable[Step]) -> bytes:
    events = []
    for index, call_id, name, text in steps:
        events += [start(call_id, name, "", index=index)] if name else []
        events += [more(text, index)] if text else []
    return sse(*events, end("TOOL_CALL"))


def _interactions(steps: Iterable[Step]) -> bytes:
    events = []
    for index, call_id, name, text in steps:
        events += [call(index, call_id) | {"step": _step(call_id, name)}] if name else []
        events += [fragment(index, text)] if text else []
    return sse(*events, done())


def _step(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "function_call", "id": call_id, "name": name}


def _responses(steps: Iterable[Step]) -> bytes:
    events = []
    for index, call_id, name, text in steps:
        item = openai_responses_streams.function(call_id=call_id, name=name, id=f"fc_{index}")
        events += [openai_responses_streams.added(item, index)] if name else []
        events += [openai_responses_streams.piece(text, index, f"fc_{index}")] if text else []
    return openai_responses_streams.sse(*events, openai_responses_streams.completed())


WRITERS: Final[dict[str, Callable[[Iterable[Step]], bytes]]] = {
    "openai-chat": _chat,
    "mistral": _chat,
    "anthropic": _anthropic,
    "bedrock-converse": _bedrock,
    "cohere": _cohere,
    "google-interactions": _interactions,
    "openai-responses": _responses,
}
ORPHANS: Final[dict[str, tuple[list[Step], list[list[str]]]]] = {
    "all at another index": ([(0, "a", _NAME, ""), (1, "", "", '{"city":"Oslo"}')], [["Oslo"]]),
    "the index counts the deltas": (
        [(0, "a", _NAME, ""), (1, "", "", '{"city":'), (2, "", "", '"Oslo"}')],
        [["Oslo"]],
    ),
    "the index changes in the middle": (
        [(0, "a", _NAME, '{"city":'), (1, "", "", '"Oslo"}')],
        [["Oslo"]],
    ),
    "two calls, then their arguments": (
        [
            (0, "a", _NAME, ""),
            (1, "b", _NAME, ""),
            (2, "", "", '{"city":"Oslo"}'),
            (3, "", "", '{"city":"Rome"}'),
        ],
        [["Oslo", "Rome"]],
    ),
    "the rest never came": ([(0, "a", _NAME, ""), (1, "", "", '{"city":')], []),
}


def _admitted(dialect: str, steps: Iterable[Step]) -> list[list[str]]:
    """Return the cities of the calls of each admitted result, without those of no call."""
    reading = assert_agrees(interaction(dialect, WRITERS[dialect](steps)))
    assert {"NAME-EMPTY", "DELTA-ID-MISSING"} <= reading.quirks
    found = expectation_from(reading).readings
    assert all("calls" in each.judged for each in found)
    return [[it.arguments["city"] for it in each.calls] for each in found if each.calls]


def _turn(dialect: str, steps: Iterable[Step]) -> Turn:
    body = WRITERS[dialect](steps)
    return fold(DIALECTS[dialect].read(iter_frames([body]), ()))


@pytest.mark.parametrize("dialect", sorted(WRITERS))
@pytest.mark.parametrize("kind", sorted(ORPHANS))
def test_fragments_without_owner_are_joined_or_rejected(dialect: str, kind: str) -> None:
    steps, joined = ORPHANS[kind]
    assert _admitted(dialect, steps) == joined
    assert ("DELTA-INDEX-CHANGES" in _quirks(dialect, steps)) == bool(joined)
    assert not _turn(dialect, steps).tool_calls


@pytest.mark.parametrize("dialect", sorted(WRITERS))
def test_a_complete_call_beside_fragments_without_owner_is_due(dialect: str) -> None:
    steps = [(0, "a", _NAME, '{"city":"Oslo"}'), (1, "", "", '{"city":"Rome"}')]
    assert _admitted(dialect, steps) == [["Oslo"]]
    assert [it.id for it in _turn(dialect, steps).tool_calls] == ["a"]


def _quirks(dialect: str, steps: Iterable[Step]) -> frozenset[str]:
    return oracle_reading(interaction(dialect, WRITERS[dialect](steps))).quirks


SHARED: Final = {
    "equal": ('{"city":"Oslo"}', '{"city":"Oslo"}', [2, 1]),
    "equal in value": ('{"city":"Oslo"}', '{"city": "Oslo"}', [2, 1]),
    "empty repetition": ('{"city":"Oslo"}', "", [2, 1]),
    "pieces of one object": ('{"city":', '"Oslo"}', [0, 1]),
    "different": ('{"city":"Oslo"}', '{"city":"Rome"}', [2]),
}


@pytest.mark.parametrize("dialect", sorted(WRITERS))
@pytest.mark.parametrize("kind", sorted(SHARED))
def test_calls_with_one_id_are_one_only_if_they_do_not_differ(dialect: str, kind: str) -> None:
    first, second, counts = SHARED[kind]
    body = WRITERS[dialect]([(0, "a", _NAME, first), (1, "a", _NAME, second)])
    reading = assert_agrees(interaction(dialect, body))
    assert "DELTA-ID-SHARED-BY-SIBLINGS" in reading.quirks
    assert [len(it.calls) for it in expectation_from(reading).readings] == counts


@each_row("name", ["", "get_time"])
def test_calls_with_one_id_and_two_names_are_two(name: str) -> None:
    steps = [(0, "a", _NAME, '{"city":"Oslo"}'), (1, "a", name or "other", '{"city":"Oslo"}')]
    reading = oracle_reading(interaction("openai-chat", _chat(steps)))
    assert [len(it.calls) for it in expectation_from(reading).readings] == [2]


def test_fragments_with_the_id_of_a_call_are_its_own_or_it_is_rejected() -> None:
    steps = [(0, "a", _NAME, '{"city":'), (1, "a", "", '"Oslo"}')]
    reading = assert_agrees(interaction("openai-chat", _chat(steps)))
    texts = [[it.json_text for it in each.calls] for each in expectation_from(reading).readings]
    assert ['{"city":"Oslo"}'] in texts
    assert [] in texts


KEYS = st.integers(0, 3)
OPENED = st.dictionaries(KEYS, st.sampled_from(("", "{}", '{"a":1}', "{")), min_size=1)
STRAYS = st.dictionaries(KEYS.map(lambda key: key + 4), st.text(min_size=1), min_size=1)


@given(OPENED, STRAYS, st.booleans())
def test_no_call_without_arguments_runs_beside_fragments_without_owner(
    opened: dict[int, str],
    strays: dict[int, str],
    late: bool,  # noqa: FBT001 - drawn
) -> None:
    assume(any(text.strip() for text in strays.values()))
    turn = Assembly()
    pieces = [(key, "f", text) for key, text in opened.items()]
    others = [(key, "", text) for key, text in strays.items()]
    for key, name, text in [*pieces, *others] if late else [*others, *pieces]:
        turn.open(key, f"id_{key}" if name else "", name)
        turn.append(key, text)
    turn.finish(FinishReason.TOOL_CALLS, "tool_calls")
    turn.close()
    found = fold(turn.out)
    assert found.finish == Finish(FinishReason.TOOL_CALLS, "tool_calls")
    run = [json.loads(it.arguments) for it in found.tool_calls]
    assert run == [{"a": 1} for text in opened.values() if text == '{"a":1}']


def _gemini(*calls: dict[str, Any]) -> bytes:
    parts = [{"functionCall": {"id": "a", "name": _NAME, "args": each}} for each in calls]
    contents = [{"content": {"role": "model", "parts": [part]}} for part in parts]
    end = {"content": {"role": "model", "parts": []}, "finishReason": "STOP"}
    return sse(*({"candidates": [each]} for each in (*contents, end)))


def _ollama(*calls: dict[str, Any]) -> bytes:
    listed = [{"id": "a", "function": {"name": _NAME, "arguments": each}} for each in calls]
    message = {"role": "assistant", "content": ""}
    events = [{"message": message | {"tool_calls": [each]}, "done": False} for each in listed]
    end = {"message": message, "done": True, "done_reason": "stop"}
    return b"".join(json.dumps(each).encode() + b"\n" for each in (*events, end))


@pytest.mark.parametrize(
    ("second", "counts"), [({"city": "Oslo"}, [2, 1]), ({}, [2, 1]), ({"city": "Rome"}, [2])]
)
@pytest.mark.parametrize(("dialect", "write"), [("gemini", _gemini), ("ollama", _ollama)])
def test_whole_calls_with_one_id_are_one_only_if_they_do_not_differ(
    dialect: str, write: Callable[..., bytes], second: dict[str, str], counts: list[int]
) -> None:
    reading = assert_agrees(interaction(dialect, write({"city": "Oslo"}, second)))
    assert "DELTA-ID-SHARED-BY-SIBLINGS" in reading.quirks
    assert [len(it.calls) for it in expectation_from(reading).readings] == counts
