"""Values that may be strings or something else are read as the policy `untyped` says."""

import json
from typing import Any

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.policy import Untyped
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row

# All notations whose values have no types.
_XML = (
    "qwen-xml",
    "glm",
    "hunyuan",
    "longcat",
    "k2-horizon",
    "step",
    "minicpm",
    "minimax",
    "minimax-m3",
    "anthropic-invoke",
)
_UNION: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "object"}]}


def _read(name: str, value: str, schema: dict[str, Any] | None, untyped: Untyped) -> Turn:
    """Return the turn of a call whose parameter `a` is written as `value`."""
    properties = {} if schema is None else {"a": schema}
    tool = Tool("plan", "", {"type": "object", "properties": properties, "required": ["b"]})
    text = TEXT_DIALECTS[name].write([WrittenCall("plan", json.dumps({"a": "VALUE"}))])
    deltas: list[Delta] = [TextDelta(text.replace("VALUE", value)), Finish(FinishReason.STOP)]
    return fold(read_text_calls(deltas, [tool], TextPolicy(frozenset([name]), untyped=untyped)))


def _arguments(turn: Turn) -> object:
    return [json.loads(call.arguments) for call in turn.tool_calls]


@each_row("name", _XML)
@each_row(
    ("value", "schema", "expected"),
    [
        ("3", {"description": "how many"}, "3"),
        ("3", None, "3"),
        ("[1]", {}, "[1]"),
        ('{"x": 3}', _UNION, {"x": 3}),
        ("{x}", _UNION, "{x}"),
        ("7", {"type": ["string", "integer"]}, 7),
        ("seven", {"type": ["integer", "string"]}, "seven"),
        ("null", {"type": ["string", "null"]}, None),
        ("3.5", {"type": "float"}, 3.5),
        ("3", {"type": "int"}, 3),
        ("True", {"type": "bool"}, True),
        ('{"x": 1}', {"type": "dict"}, {"x": 1}),
        ('["a"]', {"type": "list[str]"}, ["a"]),
        ("007", {"type": "str"}, "007"),
        ("5", {"type": "str"}, "5"),
    ],
)
def test_values_are_read_as_peers_do(
    name: str, value: str, schema: dict[str, Any] | None, expected: object
) -> None:
    turn = _read(name, value, schema, "as-peers")
    assert (_arguments(turn), turn.parse_errors) == ([{"a": expected}], ())


@each_row("name", _XML)
@each_row(
    ("untyped", "schema", "expected"),
    [
        ("string", {}, "5"),
        ("string", {"type": ["string", "integer"]}, "5"),
        ("json", {}, 5),
        ("json", None, 5),
        ("json", {"type": ["string", "integer"]}, 5),
        # What only one reading fits is never untyped.
        ("json", {"type": "string"}, "5"),
        ("string", {"type": "integer"}, 5),
        ("reject", {"type": "integer"}, 5),
    ],
)
def test_a_policy_chooses_the_reading(
    name: str, untyped: Untyped, schema: dict[str, Any] | None, expected: object
) -> None:
    assert _arguments(_read(name, "5", schema, untyped)) == [{"a": expected}]


@each_row("name", _XML)
@each_row("schema", [{}, None, {"type": ["string", "integer"]}])
def test_a_policy_rejects_what_has_two_readings(name: str, schema: dict[str, Any] | None) -> None:
    turn = _read(name, "5", schema, "reject")
    assert (turn.tool_calls, len(turn.parse_errors)) == ((), 1)


@each_row("name", _XML)
def test_no_reading_fits_a_wrong_type(name: str) -> None:
    turn = _read(name, "many", {"type": "float"}, "as-peers")
    assert (turn.tool_calls, len(turn.parse_errors)) == ((), 1)
