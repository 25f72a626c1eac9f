"""The oracle of ollama: what is special to it."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import oracle_reading
from harness.judging.expected import expectation_from
from harness.turns.oracle_reading import OracleReading
from tests.dialects.oracle_agreement import assert_agrees, interaction
from tests.dialects.test_dialects_ollama_read import DONE, LINES, called, function, lines, said
from tests.tables import each_row

SHIPPED = sorted((Path(__file__).parents[2] / "cassettes" / "ollama").glob("*/*.yaml"))


def read(*values: object) -> OracleReading:
    return oracle_reading(interaction("ollama", lines(*values)))


@given(st.lists(LINES, max_size=4), st.integers(0, 40))
def test_oracle_agrees_with_the_reader_or_abstains_on_hostile_events(
    values: list[Any], missing: int
) -> None:
    body = lines(*values)
    assert_agrees(interaction("ollama", body[: len(body) - missing] if missing else body))


@each_row(
    "values",
    [
        (called(function("f", [1])), DONE),
        (called("no call"), DONE),
        (called(function(5, {})), DONE),
        (said(tool_calls="no list"), DONE),
        (DONE, called(function("f", {}))),  # after the end
        (said("a") | {"response": "b"}, DONE),
        ({"choices": []}, DONE),
    ],
)
def test_oracle_abstains_if_the_calls_are_ambiguous(values: tuple[object, ...]) -> None:
    assert read(*values).calls is None


def test_arguments_as_text_are_parsed_or_refused() -> None:
    reading = read(called(function("f", '{"a":1}')), DONE)
    parsed, refused = expectation_from(reading).readings
    assert [(it.name, it.arguments_text) for it in parsed.calls] == [("f", '{"a":1}')]
    assert (refused.calls, len(refused.rejected)) == ((), 1)


@each_row(
    ("values", "quirk"),
    [
        ((called(function("f", {}, id="x")), DONE), "OLL-DONE-STOP"),
        ((called(function("f", {})), DONE), "OLL-ARGS-OBJECT"),
        ((called(function("f", "{}")), DONE), "OLL-ARGS-TEXT"),
        ((said("a"), {"done": True}), "OLL-DONE-NO-REASON"),
        ((said("a"), {"error": "no"}), "ERR-IN-200"),
        ((said("a"),), "SSE-EOF-MIDCALL"),
        ((said("a"), DONE | {"done_reason": "new"}), "FINISH-UNKNOWN"),
        ((said("<think>a</think>"), DONE), "REASONING-FIELD-NAMES"),
    ],
)
def test_quirks_of_the_bytes_are_noted(values: tuple[object, ...], quirk: str) -> None:
    assert quirk in read(*values).quirks


def test_arguments_keep_their_json_text() -> None:
    body = lines(called(function("f", "HERE", id="x")), DONE)
    spelt = b'{"n": 12345678901234567890.10,  "n": 1}'
    reading = oracle_reading(interaction("ollama", body.replace(b'"HERE"', spelt)))
    assert reading.calls is not None
    assert reading.calls[0].arguments.encode() == spelt


def test_lines_as_events_of_a_gateway_are_ambiguous() -> None:
    body = b"data: " + json.dumps(said("a")).encode() + b"\n\n"
    reading = oracle_reading(interaction("ollama", body))
    assert (reading.calls, reading.knows("text"), reading.knows("end")) == (None, False, False)
