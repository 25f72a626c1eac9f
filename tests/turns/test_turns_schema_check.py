"""Arguments against schemas, hostile schemas included: a text or nothing, never an exception."""

import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.turns.schema_check import Checker
from harness.turns.turn import Tool
from tests.tables import each_row

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


def problem(schema: dict[str, Any], arguments: dict[str, Any]) -> str:
    return Checker().problem(Tool("f", parameters=schema), arguments)


def test_valid_arguments_have_no_problem() -> None:
    assert problem(CITY, {"city": "Kraków", "days": 10**25}) == ""
    assert problem({}, {"anything": 1}) == ""


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({}, "city"),
        ({"city": 1}, "/city"),
        ({"city": "a", "x": 1}, "x"),
        ({"city": "a", "days": "1"}, "/days"),
    ],
)
def test_a_problem_names_its_place(arguments: dict[str, Any], place: str) -> None:
    assert place in problem(CITY, arguments)


VALUES = st.none() | st.integers() | st.text(max_size=3)


@given(st.dictionaries(st.sampled_from(["city", "days", "type"]), VALUES))
def test_types_in_googles_form_have_the_same_problems(arguments: dict[str, Any]) -> None:
    fields = {"city": {"type": "STRING"}, "days": {"type": "INTEGER"}}
    google = {**CITY, "type": "OBJECT", "properties": fields}
    assert problem(google, arguments) == problem(CITY, arguments)


@given(VALUES)
def test_a_nullable_value_may_be_null(value: object) -> None:
    schema = {"properties": {"a": {"type": "STRING", "enum": ["x"], "nullable": True}}}
    assert (problem(schema, {"a": value}) == "") is (value in (None, "x"))


@each_row(
    "schema",
    [
        {"type": "nope"},
        {"pattern": "(("},
        {"$schema": "http://schemas.invalid/"},
        {"$ref": "http://schemas.invalid/a.json"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": "#/missing"},
        {"properties": 1},
        {"description": "x" * (1 << 20)},
    ],
)
def test_unusable_schemas_count_as_none(schema: dict[str, Any]) -> None:
    assert problem(schema, {"a": 1}) == ""


def test_no_file_is_read_for_a_schema(tmp_path: Path) -> None:
    other = tmp_path / "nothing_fits.json"
    other.write_text('{"not": {}}', encoding="utf-8")
    assert problem({"$ref": other.as_uri()}, {"a": 1}) == ""


def test_no_connection_is_made_for_a_schema() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        assert problem({"$ref": f"http://127.0.0.1:{port}/a.json"}, {"a": 1}) == ""
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"properties": {"a": {"pattern": "^(?=(a+)+$)(a|aa)*b$"}}},
    ],
)
def test_schemas_that_go_round_come_to_an_end(schema: dict[str, Any]) -> None:
    assert len(problem(schema, {"a": "a" * 5000})) <= 200


def test_deep_values_come_to_an_end() -> None:
    schema: dict[str, Any] = {}
    value: dict[str, Any] = {}
    for _ in range(900):
        schema, value = {"properties": {"a": schema}}, {"a": value}
    assert problem(schema, value) == ""
    assert len(problem(CITY, value)) <= 200


def test_half_of_a_surrogate_pair_comes_to_an_end() -> None:
    assert len(problem(CITY, {"city": "\ud83d"})) <= 200


def test_equal_schemas_share_a_validator() -> None:
    checker = Checker()
    for name in "fg":
        checker.problem(Tool(name, parameters=dict(CITY)), {})
    assert len(checker._validators) == 1


@given(
    st.dictionaries(
        st.sampled_from(["type", "properties", "required", "$ref", "items", "enum", "pattern"]),
        st.none() | st.text(max_size=5) | st.lists(st.text(max_size=3)) | st.dictionaries(
            st.text(max_size=3), st.just({"type": "string"})
        ),
    ),
    st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=3) | st.integers()),
)  # fmt: skip
def test_any_schema_gets_a_verdict(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    assert isinstance(problem(schema, arguments), str)


def _doubling(depth: int, kind: str, leaf: dict[str, Any]) -> Tool:
    """Return a tool of less than 3 KB whose schema takes 2**depth steps."""
    parts = {f"d{n}": {kind: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{depth}": leaf}}
    return Tool("f", "", schema)


@each_row("kind", ["allOf", "anyOf", "oneOf"])
@each_row("leaf", [{"type": "string"}, {"type": "object"}])
def test_a_schema_that_would_never_end_is_reported_and_fulfilled(
    kind: str, leaf: dict[str, Any]
) -> None:
    tool, checker = _doubling(40, kind, leaf), Checker()
    assert checker.problem(tool, {}) == ""
    assert "arguments not checked" in checker.unchecked(tool, {})


def test_a_schema_that_branches_with_each_level_of_the_arguments_is_reported() -> None:
    again = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}
    tool, checker = Tool("f", "", {"properties": {"a": again}}), Checker()
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"a": deep}
    assert checker.unchecked(tool, {"a": {}}) == ""
    assert "arguments not checked" in checker.unchecked(tool, deep)


def test_a_schema_of_references_in_a_circle_is_reported() -> None:
    names = range(9)
    each = {"allOf": [{"$ref": f"#/$defs/{n}"} for n in names]}
    tool = Tool("f", "", {"$ref": "#/$defs/0", "$defs": {str(n): each for n in names}})
    assert "arguments not checked" in Checker().unchecked(tool, {})


def test_a_recursive_schema_is_checked_however_deep_the_arguments() -> None:
    items = {"type": "array", "items": {"$ref": "#"}}
    tool = Tool("f", "", {"properties": {"v": {"type": "integer"}, "c": items}})
    tree: dict[str, Any] = {"v": 1}
    for n in range(60):
        tree = {"v": n, "c": [tree]}
    checker = Checker()
    assert (checker.problem(tool, tree), checker.unchecked(tool, tree)) == ("", "")
    tree["c"][0]["v"] = "x"
    assert "is not of type" in checker.problem(tool, tree)


def test_a_misfit_that_is_too_large_to_explain_is_still_found() -> None:
    checker = Checker()
    tool = _doubling(14, "anyOf", {"type": "string"})
    assert "too large to say where" in checker.problem(tool, {})
    many = Tool("f", "", {"anyOf": [{"required": [f"r{n}"]} for n in range(300)]})
    assert "too large to say where" in checker.problem(many, {"a": "x" * 100_000})
