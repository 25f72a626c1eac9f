"""The oracles of Google's dialects: what is special to them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.expected import expectation_from
from harness.turns.arguments import parse
from harness.turns.fold import fold
from harness.wire import cassette_file
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction, Read, Request
from tests.dialects.google_streams import sse

ROOT = Path(__file__).parents[2] / "cassettes"
SHIPPED = [
    each
    for path in sorted(ROOT.glob("google-*/*/*.yaml"))
    for each in cassette_file.load_cassette(path).interactions
    if each.dialect in ("gemini", "google-interactions")
]


def interaction(dialect: str, body: bytes, status: int = 200) -> Interaction:
    return Interaction(Request(), status, (), body, (Read(len(body)),), dialect=dialect)


def assert_agrees(one: Interaction) -> None:
    """Compare what the reading is sure of."""
    reading = oracle_reading(one)
    expected = expectation_from(reading)
    turn = fold(DIALECTS[one.dialect].read(iter_frames([one.body]), ()))
    if "text" in expected.judged:
        assert (turn.text, turn.reasoning) == (expected.text, expected.reasoning)
    if "calls" in expected.judged:
        found = [(call.name, parse(call.arguments).value) for call in turn.tool_calls]
        assert found == [(call.name, call.arguments) for call in expected.calls]
    if "rejected" in expected.judged:
        names = [error.name for error in turn.parse_errors]
        assert names == [rejected.name for rejected in expected.rejected]
    if "failure" in expected.judged and one.status == 200:
        assert (turn.failure is None) == (expected.failure is None)
        assert turn.failure is None or expected.failure_says[:20] in turn.failure.message
    if "finish" in expected.judged:
        assert (turn.finish.reason if turn.finish else None) == expected.finish


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
