"""A call in a member that the API does not have makes the calls unknown, in each dialect."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.dialects.kit.dialect import Dialect
from harness.dialects.kit.oracle.unread import unread_calls
from harness.dialects.table import DIALECTS, oracle_reading
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.oracle_reading import OracleReading
from harness.wire.aws import AWS_CONTENT_TYPE
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read
from tests.judging.judging_samples import DONE, an_interaction

QUIRK = "CALL-IN-UNKNOWN-MEMBER"
CALL = {"name": "get_weather", "arguments": '{"city": "Lima"}'}
# The text APIs have no calls, and the messages of AWS have checksums.
WITH_CALLS = [
    row.name
    for row in DIALECTS.values()
    if row.arguments != "none" and row.content_type != AWS_CONTENT_TYPE
]


def _read(*chunks: dict[str, Any]) -> OracleReading:
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return oracle_reading(an_interaction(body + DONE))


def _delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "r", "object": "chat.completion.chunk", "choices": [choice]}


@pytest.mark.parametrize(
    "odd",
    [
        _delta(tool_call={"id": "c1", "function": CALL}),
        _delta(tool_call=CALL),
        _delta(type="tool_use", tool_use_id="c1", name="get_weather"),
        _delta(content=[{"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}}]),
        {**_delta(), "tool_calls": [{"function": CALL}]},
        {"id": "r", "choices": [{"index": 0, "delta": {}, "tool_calls": [{"function": CALL}]}]},
    ],
)
def test_a_call_next_to_the_members_of_a_chunk_is_not_dropped_silently(odd: dict[str, Any]) -> None:
    reading = _read(odd, _delta("stop"))
    assert reading.calls is None
    assert "which the API does not have" in dict(reading.unknown)["calls"]
    assert QUIRK in reading.quirks


def test_a_call_that_came_in_its_own_member_too_is_read() -> None:
    entry = {"index": 0, "id": "c1", "type": "function", "function": CALL}
    reading = _read(_delta(tool_calls=[entry], tool_call=CALL), _delta("tool_calls"))
    assert [call.name for call in reading.calls or ()] == ["get_weather"]
    assert QUIRK not in reading.quirks


@pytest.mark.parametrize(
    "other",
    [
        {"tools": [{"type": "function", "function": CALL}]},
        {"server": {"type": "server_tool_use", **CALL}},
        {"meta": {"name": "get_weather", "city": "Lima"}},
        {"usage": {"prompt_tokens": 3, "input": {"name": ""}}},
    ],
)
def test_what_is_not_a_call_of_the_client_changes_nothing(other: dict[str, Any]) -> None:
    assert QUIRK not in _read({**_delta(content="Hi"), **other}, _delta("stop")).quirks


JSON = st.recursive(st.none() | st.text(), lambda it: st.lists(it) | st.dictionaries(st.text(), it))


@given(JSON)
def test_arguments_are_never_searched(value: Any) -> None:  # noqa: ANN401 - any JSON
    call = {"name": "f", "arguments": value}
    assert list(unread_calls({"odd": call}, frozenset())) == [("odd", "f")]


def _body(row: Dialect) -> Interaction:
    word = next(key for key, value in row.oracle.MEANINGS.items() if value is FinishReason.STOP)
    call = (ToolCallStart(0, "call_abc1", "known"), ArgumentsDelta(0, "{}"), ToolCallEnd(0))
    return row.interaction((TextDelta("Hi"), *call, Finish(FinishReason.STOP, word)))


@pytest.mark.parametrize("name", WITH_CALLS)
def test_each_dialect_notes_a_call_in_an_unknown_member_of_its_first_event(name: str) -> None:
    interaction = _body(DIALECTS[name])
    plain = oracle_reading(interaction)
    assert plain.calls is not None
    assert QUIRK not in plain.quirks
    first = next(iter_frames([interaction.body]))
    odd = {**json.loads(first.data), "odd_calls": [{"id": "c9", **CALL}]}
    body = interaction.body.replace(first.data, json.dumps(odd).encode(), 1)
    found = oracle_reading(replace(interaction, body=body, reads=(Read(len(body)),)))
    assert found.calls is None
    assert QUIRK in found.quirks
