"""The oracle of cohere: what is special to it."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import oracle_reading
from harness.judging.expected import expectation_from
from harness.turns.oracle_reading import OracleReading
from tests.dialects.openai_chat_streams import sse
from tests.dialects.oracle_agreement import assert_agrees, interaction
from tests.dialects.test_dialects_cohere_read import (
    EVENTS,
    PIECES,
    end,
    lines,
    start,
    text,
    v1,
    v1_end,
    v2,
)
from tests.tables import each_row

SHIPPED = sorted((Path(__file__).parents[2] / "cassettes" / "cohere").glob("*/*.yaml"))


def read(*values: Any) -> OracleReading:  # noqa: ANN401 - events, or lines of them
    return oracle_reading(interaction("cohere", sse(*values)))


@given(st.lists(EVENTS, max_size=4), st.integers(0, 40), st.booleans())
def test_oracle_agrees_with_the_reader_or_abstains_on_hostile_events(
    values: list[Any],
    missing: int,
    framed: bool,  # noqa: FBT001 - drawn
) -> None:
    body = sse(*(json.dumps(value) for value in values)) if framed else lines(*values)
    assert_agrees(interaction("cohere", body[: len(body) - missing] if missing else body))


@each_row(
    "values",
    [
        (start("x", "f", {"a": 1}), end("TOOL_CALL")),
        (start("x"), start("y"), end("TOOL_CALL")),  # the same index
        (start("x", index=None), end("TOOL_CALL")),
        (v2("tool-call-start", tool_calls="no call"), end("TOOL_CALL")),
        (start("x", "f", "{}"), end("TOOL_CALL"), text("late")),
        (*PIECES, v1_end(tool_calls=[{"name": "g", "parameters": {"a": 1}}])),
        (*PIECES, end("COMPLETE")),  # two versions
        ({"choices": []},),
    ],
)
def test_oracle_abstains_if_the_calls_are_ambiguous(values: tuple[Any, ...]) -> None:
    assert read(*values).calls is None


@each_row(
    ("values", "quirk"),
    [
        ((text("a"), end("ERROR")), "COH-FINISH-ERROR"),
        ((text("a"), end("TOOL_CALL")), "FINISH-TOOLCALLS-WITHOUT-CALLS"),
        ((start("x", "f", "{}"), end()), "FINISH-STOP-WITH-CALLS"),
        ((start("x", "f", '{"a'), end("MAX_TOKENS")), "FINISH-LENGTH-WITH-CALL"),
        ((v1("text-generation", text="a"), v1_end(text="a")), "COH-ANSWER-TWICE"),
        ((v1("text-generation", text="a"), v1_end(text="b")), "COH-ANSWER-TWICE"),
        ((text("a"), {"message": "no"}), "ERR-IN-200"),
        ((text("a"),), "SSE-EOF-MIDCALL"),
        ((text("a"), end("NEW")), "FINISH-UNKNOWN"),
    ],
)
def test_quirks_of_the_bytes_are_noted(values: tuple[Any, ...], quirk: str) -> None:
    assert quirk in read(*values).quirks


def test_a_list_with_other_arguments_rejects_the_call_or_one_of_both_counts() -> None:
    reading = read(*PIECES, v1_end(tool_calls=[{"name": "f", "parameters": {"a": 2}}]))
    assert "COH-TOOL-EVENTS" in reading.quirks
    admitted = [[call.arguments for call in it.calls] for it in expectation_from(reading).readings]
    assert admitted == [[], [{"a": 2}], [{"a": 1}]]


def test_an_answer_repeated_in_another_text_is_ambiguous() -> None:
    reading = read(v1("text-generation", text="a"), v1_end(text="b"))
    assert not reading.knows("text")
