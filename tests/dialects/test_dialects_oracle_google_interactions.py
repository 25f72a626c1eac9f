"""The oracle of google-interactions: events of the first version of the API."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import oracle_reading
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction, Request
from tests.dialects.google_streams import Json, sse

ARGUMENTS = st.dictionaries(st.text("ab", max_size=2), st.integers() | st.text(max_size=3))


def start(index: int, kind: str, **fields: Any) -> Json:  # noqa: ANN401 - members of a content
    return {"index": index, "content": {"type": kind, **fields}, "event_type": "content.start"}


def delta(index: int, kind: str, **fields: Any) -> Json:  # noqa: ANN401 - as above
    return {"index": index, "delta": {"type": kind, **fields}, "event_type": "content.delta"}


def stop(index: int) -> Json:
    return {"index": index, "event_type": "content.stop"}


def called(index: int, call_id: str, arguments: object) -> list[Json]:
    began = start(index, "function_call", id=call_id)
    return [began, delta(index, "function_call", id=call_id, name="f", arguments=arguments)]


def reading(*events: Json, status: str = "requires_action", **interaction: object) -> OracleReading:
    over = {"interaction": {"status": status, **interaction}, "event_type": "interaction.complete"}
    body = sse(*events, over)
    return oracle_reading(Interaction(Request(), 200, (), body, (), dialect="google-interactions"))


@given(text=st.text("xyz"), thought=st.text("xyz"), values=st.lists(ARGUMENTS, max_size=3))
def test_contents_of_the_first_version_are_certain(
    text: str, thought: str, values: list[Json]
) -> None:
    events = [
        start(0, "thought"),
        delta(0, "thought_signature", signature="s"),
        delta(0, "thought_summary", content={"type": "text", "text": thought}),
        stop(0),
        start(1, "text"),
        delta(1, "text", text=text),
        stop(1),
    ]
    for index, value in enumerate(values, 2):
        events += [*called(index, f"c{index}", value), stop(index)]
    found = reading(*events, status="requires_action" if values else "completed")
    assert (found.text, found.reasoning, found.unknown) == (text, thought, ())
    assert [json.loads(it.arguments) for it in found.calls or ()] == values
    assert [it.id for it in found.calls or ()] == [f"c{2 + at}" for at in range(len(values))]
    assert "GINT-FIRST-VERSION" in found.quirks


CALL = called(0, "c", {})


@pytest.mark.parametrize(
    "events",
    [
        [*CALL, delta(0, "function_call", id="c", name="f", arguments={"a": 1})],
        [*CALL[:1], delta(0, "function_call", id="d", name="f", arguments={})],
        called(0, "c", "{}"),
        CALL[:1],
        [CALL[0], stop(0)],
        [start(0, "function_call", id="c", name="f"), CALL[1]],
        [start(0, "text"), delta(0, "thought_summary", content={"type": "text", "text": "a"})],
        [start(0, "text", text="a")],
        [start(0, "audio")],
        [start(0, "text") | {"content": {"type": []}}],
        [delta(0, "text", text="a")],
    ],
)
def test_other_contents_of_the_first_version_are_ambiguous(events: list[Json]) -> None:
    assert reading(*events).calls is None


def test_outputs_at_the_end_are_ambiguous() -> None:
    outputs = [{"type": "function_call", "id": "c", "name": "f", "arguments": {}}]
    assert reading(*CALL, outputs=outputs).calls is None
