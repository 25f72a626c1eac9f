"""The oracles of Google's dialects: what is special to them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import oracle_reading
from harness.judging.expected import expectation_from
from harness.wire import cassette_file
from harness.wire.interaction import Interaction
from tests.dialects.google_streams import sse
from tests.dialects.oracle_agreement import assert_agrees, interaction

ROOT = Path(__file__).parents[2] / "cassettes"
SHIPPED = [
    each
    for path in sorted(ROOT.glob("google-*/*/*.yaml"))
    for each in cassette_file.load_cassette(path).interactions
    if each.dialect in ("gemini", "google-interactions")
]


each_dialect = pytest.mark.parametrize("dialect", ["gemini", "google-interactions"])

# Members and words of both APIs, with values of any type

_WORDS = st.sampled_from(
    ("STOP", "MALFORMED_FUNCTION_CALL", "completed", "failed", "f", "$.a", "$.a[0]", "{}", "x",
     "function_call", "model_output", "thought", "text", "arguments_delta", "interaction",
     "step.start", "step.delta", "step.stop", "interaction.completed", "content.delta", "error")
)  # fmt: skip
_SCALARS = _WORDS | st.none() | st.booleans() | st.integers(-1, 12) | st.floats(allow_nan=False)


def _objects(names: tuple[str, ...], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(names), values, max_size=4)


_PIECES = _objects(
    ("jsonPath", "stringValue", "numberValue", "nullValue", "willContinue"), _SCALARS
)
_CALLS = _objects(
    ("name", "id", "args", "partialArgs", "willContinue"),
    _SCALARS | st.lists(_PIECES, max_size=3) | _objects(("a", "b"), _SCALARS),
)
_PARTS = _objects(("text", "thought", "functionCall", "function_call"), _SCALARS | _CALLS)
_CONTENTS = _objects(("parts", "role"), _SCALARS | st.lists(_PARTS | _SCALARS, max_size=3))
_CANDIDATES = _objects(("content", "finishReason", "index"), _SCALARS | _CONTENTS)
_STEPS = _objects(("type", "id", "name", "arguments", "text", "content", "summary"), _SCALARS)
_EVENTS = _objects(
    ("candidates", "error", "promptFeedback", "response", "usageMetadata"),
    _SCALARS | st.lists(_CANDIDATES | _SCALARS, max_size=2) | _objects(("blockReason",), _SCALARS),
) | _objects(
    ("event_type", "index", "step", "delta", "interaction", "status", "steps", "object"),
    _SCALARS | _STEPS | st.lists(_STEPS | _SCALARS, max_size=2),
)


@each_dialect
@given(events=st.lists(_EVENTS | _SCALARS, max_size=5), array=st.booleans())
def test_oracle_never_raises_and_agrees_if_it_is_certain(
    dialect: str, events: list[Any], *, array: bool
) -> None:
    body = json.dumps(events).encode() if array else sse(*map(json.dumps, events))
    assert_agrees(interaction(dialect, body))


@pytest.mark.parametrize("feedback", [{}, {"promptFeedback": {"blockReason": "STOP"}}])
def test_an_error_of_a_type_that_the_api_does_not_specify_leaves_the_turn_open(
    feedback: dict[str, Any],
) -> None:
    one = interaction("gemini", sse(json.dumps({"candidates": None, "error": 1} | feedback)))
    assert_agrees(one)
    assert {part for part, _ in oracle_reading(one).unknown} == {
        "calls",
        "text",
        "reasoning",
        "end",
    }


def growing(*pieces: dict[str, Any], ends: bool) -> Interaction:
    """Return a call whose last part does or does not announce another one."""
    first = {"name": "f", "willContinue": True}
    calls = [first, {"partialArgs": list(pieces)} | ({} if ends else {"willContinue": True})]
    content = {"parts": [{"functionCall": call} for call in calls]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    return interaction("gemini", sse(json.dumps(answer)))


@given(st.dictionaries(st.sampled_from("abc"), st.text("xyz"), min_size=1))
def test_a_call_that_should_go_on_is_rejected_or_complete(values: dict[str, str]) -> None:
    pieces = [{"jsonPath": f"$.{key}", "stringValue": value} for key, value in values.items()]
    for ends in (True, False):
        one = growing(*pieces, ends=ends)
        admitted = [
            [call.arguments for call in it.calls]
            for it in expectation_from(oracle_reading(one)).readings
        ]
        assert admitted == ([[values]] if ends else [[], [values]])
        assert_agrees(one)


@pytest.mark.parametrize("unfinished", [{"willContinue": True}, {"jsonPath": "$.a[1]"}])
def test_a_value_that_did_not_end_or_a_gap_is_ambiguous(unfinished: dict[str, Any]) -> None:
    piece = {"jsonPath": "$.a", "stringValue": "x"} | unfinished
    assert oracle_reading(growing(piece, ends=False)).calls is None
