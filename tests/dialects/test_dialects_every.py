"""Every dialect of the table: round trip, complete response, refusals, depth, detection.

A new dialect needs a row in `round_trips.ROUND_TRIPS`. Random bytes and damaged bodies are in
`test_dialects_fuzz`, costs in `test_dialects_growth`.
"""

import json
from functools import lru_cache
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.kit.detect import Detector
from harness.dialects.table import DETECTOR, DIALECTS, oracle_reading
from harness.judging.expected import expectation_from
from harness.recording.detect import detect
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    call_deltas,
)
from harness.turns.fold import fold
from harness.wire.framing import iter_frames
from tests.dialects.oracle_agreement import assert_agrees, interaction
from tests.dialects.round_trips import ROUND_TRIPS, written_turns
from tests.dialects.scripted_turns import assert_same, read_turn
from tests.dialects.shipped_bodies import cassettes, framed, payloads
from tests.replay_every_way import has_ended
from tests.tables import each_row

each_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))


def test_every_dialect_has_a_row() -> None:
    assert set(ROUND_TRIPS) == set(DIALECTS)


@each_dialect
@given(data=st.data())
def test_written_turns_round_trip_with_any_options(dialect: str, data: st.DataObject) -> None:
    row = ROUND_TRIPS[dialect]
    script, options = data.draw(written_turns(dialect))
    body = b"".join(DIALECTS[dialect].write(script.deltas(), options))
    expected = row.expected(script, options)
    assert_same(read_turn(dialect, body), expected, ids=row.ids(options), text=row.text(options))
    assert_agrees(interaction(dialect, body))


@each_dialect
@given(data=st.data())
def test_the_complete_response_is_the_turn_of_its_stream(dialect: str, data: st.DataObject) -> None:
    row = ROUND_TRIPS[dialect]
    script, options = data.draw(written_turns(dialect, **row.streamed))
    document = row.document(script, options)
    stream = b"".join(DIALECTS[dialect].write(script.deltas(), options))
    assert_same(read_turn(dialect, document), read_turn(dialect, stream), ids=row.ids(options))


@each_dialect
@given(data=st.data(), cut=st.integers(1, 60))
def test_the_oracle_agrees_on_truncated_streams(
    dialect: str, data: st.DataObject, cut: int
) -> None:
    script, options = data.draw(written_turns(dialect))
    body = b"".join(DIALECTS[dialect].write(script.deltas(), options))
    assert_agrees(interaction(dialect, body[:-cut]))


@each_dialect
@given(data=st.data())
def test_a_failure_is_reported_and_no_call_runs(dialect: str, data: st.DataObject) -> None:
    row = ROUND_TRIPS[dialect]
    script, options = data.draw(written_turns(dialect))
    assume(not row.cannot_fail(options))
    deltas = [*script.deltas()[:-1], row.failure]
    turn = read_turn(dialect, b"".join(DIALECTS[dialect].write(deltas, options)))
    assert turn.failure is not None
    assert (turn.failure.code, turn.failure.message) == (row.failure.code, row.failure.message)
    assert turn.tool_calls == ()


@each_dialect
@pytest.mark.parametrize("code", ["interrupted", "empty_stream"])
def test_a_failure_without_an_event_is_reported(dialect: str, code: str) -> None:
    deltas = [StreamFailure(code)]
    body = b"".join(DIALECTS[dialect].write(deltas))
    assert read_turn(dialect, body).failure is not None


@each_row("dialect", [n for n, row in ROUND_TRIPS.items() if row.text_only])
@each_row("delta", [ToolCallStart(0, "t", "f"), ReasoningDelta("x"), ArgumentsDelta(0, "x")])
def test_an_api_of_text_alone_refuses_other_deltas(dialect: str, delta: Delta) -> None:
    with pytest.raises(ValueError, match=f"cannot write {type(delta).__name__}"):
        DIALECTS[dialect].write([delta])


@each_dialect
def test_what_is_not_a_delta_is_refused(dialect: str) -> None:
    with pytest.raises(TypeError, match="not a delta: 'text'"):
        DIALECTS[dialect].write(["text"])


@each_dialect
@pytest.mark.parametrize("index", [0, 3])
def test_the_end_of_a_call_without_a_start_is_refused(dialect: str, index: int) -> None:
    with pytest.raises(ValueError, match="cannot write ToolCallEnd: its call has no start"):
        DIALECTS[dialect].write([ToolCallEnd(index)])


@each_dialect
def test_unknown_options_are_refused(dialect: str) -> None:
    kind = DIALECTS[dialect].writer_options
    name, value = next(iter(msgspec.structs.asdict(kind()).items()))
    with pytest.raises(TypeError, match="nonsense"):
        kind(nonsense=1)
    with pytest.raises(ValueError, match=rf"WriterOptions\.{name} is 'nonsense': expected one of "):
        kind(**{name: "nonsense"})
    with pytest.raises(ValueError, match=r"WriterOptions\.model is 3: expected str"):
        kind(model=3)
    with pytest.raises(msgspec.ValidationError, match="nonsense"):
        msgspec.convert({"nonsense": 1}, kind)
    with pytest.raises(msgspec.ValidationError, match="nonsense"):
        msgspec.convert({name: "nonsense"}, kind)
    assert kind(**{name: value}) == kind()


# Hostile values


def _holes(value: Any, mark: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """Return `value` with each of its members in turn replaced by `mark`."""
    if isinstance(value, dict):
        items = list(value.items())
        found: list[Any] = [
            {**value, name: hole} for name, item in items for hole in _holes(item, mark)
        ]
    elif isinstance(value, list):
        found = [
            [*value[:at], hole, *value[at + 1 :]]
            for at, item in enumerate(value)
            for hole in _holes(item, mark)
        ]
    else:
        found = []
    return [mark, *found]


@lru_cache
def _with_holes(dialect: str) -> tuple[tuple[str, str], ...]:
    """Return events of the dialect, as JSON with a hole, each kind of them once."""
    kinds: dict[tuple[str, str], Any] = {}
    for name, value in payloads(dialect):
        if isinstance(value, dict):
            kinds.setdefault((name, " ".join(map(str, sorted(value)))), value)
    found = [(name, hole) for (name, _), value in kinds.items() for hole in _holes(value, "@hole@")]
    return tuple((name, json.dumps(hole)) for name, hole in found)


HOSTILE = {
    **{f"{depth} deep": "[" * depth + "]" * depth for depth in (200, 300, 10_000)},
    "digits": "9" * 5000,
    "object": '{"a": ' + "9" * 5000 + "}",
}


@each_dialect
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_value_of_any_depth_or_length_raises(dialect: str, kind: str) -> None:
    all_of_them = _with_holes(dialect)
    row = DIALECTS[dialect]
    for name, hole in all_of_them[:: 1 + len(all_of_them) // 24]:
        event = hole.replace('"@hole@"', HOSTILE[kind]).encode()
        for content_type in (row.content_type, "json"):
            body = framed(event, name, content_type) * 2
            assert has_ended(fold(tuple(row.read(iter_frames([body]), ()))))


# Detection


def test_each_bundled_interaction_is_of_a_dialect() -> None:
    assert {each.dialect for it in cassettes() for each in it.interactions} <= set(DIALECTS)


@each_dialect
def test_bundled_cassettes_are_detected(dialect: str) -> None:
    rows = {row.name: row.detection for row in reversed(DIALECTS.values())}
    detectors = (DETECTOR, Detector(rows))
    for cassette in cassettes():
        for each in cassette.interactions:
            if each.dialect != dialect:
                continue
            found = {detect(each, cassette.provider, it).dialect for it in detectors}
            # The quirk of this cassette is that the stream is not of the API of its address.
            assert found == {dialect} or cassette.id.endswith("another-api"), cassette.id


@each_row(
    "dialect",
    [name for name in sorted(DIALECTS) if DIALECTS[name].content_type == "text/event-stream"],
)
def test_an_event_that_is_null_changes_nothing(dialect: str) -> None:
    row = DIALECTS[dialect]
    call = call_deltas(0, "c1", "f", '{"a": 1}') if row.arguments != "none" else ()
    deltas = (TextDelta("Hi"), *call, Finish(FinishReason.STOP))
    body = b"".join(row.write(deltas, row.writer_options()))
    after_null = b"data: null\n\n" + body
    assert read_turn(dialect, after_null) == read_turn(dialect, body)
    readings = (oracle_reading(interaction(dialect, each)) for each in (after_null, body))
    after, expected = map(expectation_from, readings)
    assert after == expected


@pytest.mark.parametrize(
    ("dialect", "finish", "usage"),
    [
        ("openai-chat", b'"finish_reason": "stop"', b'"prompt_tokens"'),
        ("openai-completions", b'"finish_reason": "stop"', b'"prompt_tokens"'),
        ("bedrock-converse", b"messageStop", b"metadata"),
    ],
)
def test_usage_is_written_after_the_finish(dialect: str, finish: bytes, usage: bytes) -> None:
    # A reader may give the counts before the ends of calls, which it finds with the finish.
    counts, end = UsageDelta(Usage(3, 4)), Finish(FinishReason.STOP)
    for deltas in ([TextDelta("a"), counts, end], [TextDelta("a"), end, counts]):
        body = b"".join(DIALECTS[dialect].write(deltas))
        assert 0 < body.index(finish) < body.index(usage)


def test_usage_is_written_after_the_finish_of_a_turn_with_calls() -> None:
    start, *rest = call_deltas(0, "call_a", "f", "{}")
    deltas = [start, *rest[:-1], UsageDelta(Usage(3, 4)), rest[-1], Finish(FinishReason.TOOL_CALLS)]
    body = b"".join(DIALECTS["openai-chat"].write(deltas))
    assert body.index(b'"finish_reason": "tool_calls"') < body.index(b'"prompt_tokens"')
