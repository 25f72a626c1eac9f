"""Untyped parameters: one reading that fits the schema, or an error."""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.parameters import (
    Elements,
    Exactly,
    Json,
    Printed,
    Value,
    declared_names,
    lacks_required,
)
from harness.text_calls.parameters import type_parameters as type_as
from harness.turns.arguments import parse
from tests.tables import each_row

# Without a guess: test_text_calls_untyped.py has the other values of the policy.
type_parameters = partial(type_as, untyped="reject")
STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BOOLEAN, NULL = {"type": "boolean"}, {"type": "null"}
ARRAY, OBJECT = {"type": "array"}, {"type": "object"}
DEFINED = {
    "properties": {"a": {"$ref": "#/$defs/Count"}},
    "$defs": {"Count": {"anyOf": [INTEGER, {"$ref": "#/$defs/Word"}]}, "Word": {"enum": ["all"]}},
}
TEXTS = st.text(max_size=30) | st.sampled_from(
    ["007", "true", "True", " 1", "null", "[]", "{}", '"x"', "1e5", "-0", "NaN", "'a'", "\n5\n"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.booleans()
    | st.none()
    | st.sampled_from([STRING, INTEGER, {"type": ["string", 5]}, {"type": "date"}, {"enum": "x"}])
    | st.sampled_from([{"$ref": "#"}, {"$ref": "#/a/0"}, {"$ref": 5}, {"const": 1}, {"enum": [1]}]),
    lambda inner: (
        st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"allOf": inner, "properties": inner})
        | st.fixed_dictionaries({"properties": st.fixed_dictionaries({"a": inner})})
        | st.fixed_dictionaries({"items": inner, "additionalProperties": inner})
    ),
    max_leaves=6,
)


def one(value: Value, schema: Any) -> str:  # noqa: ANN401 - any JSON may stand for a schema
    """Return the JSON text of the one argument `a`; "" where it is an error."""
    made = type_parameters([("a", value)], {"type": "object", "properties": {"a": schema}})
    assert bool(made.arguments) != bool(made.error)
    return made.arguments.removeprefix('{"a": ').removesuffix("}")


@each_row(
    ("text", "schema", "value"),
    [
        ("007", STRING, '"007"'),
        ("true", STRING, '"true"'),
        (" leading space", STRING, '" leading space"'),
        ("two\n lines\n", STRING, '"two\\n lines\\n"'),
        ('"quoted"', STRING, '"\\"quoted\\""'),
        ("5", INTEGER, "5"),
        ("007", INTEGER, ""),
        ("5.0", INTEGER, "5.0"),
        ("5.5", INTEGER, ""),
        ("five", INTEGER, ""),
        ("", INTEGER, ""),
        ("\n12345678901234567890.50 ", NUMBER, "12345678901234567890.50"),
        ("NaN", NUMBER, ""),
        ("true", BOOLEAN, "true"),
        # As Python prints it; in no other spelling
        ("True", BOOLEAN, "true"),
        ("False", BOOLEAN, "false"),
        ("TRUE", BOOLEAN, ""),
        ("1", BOOLEAN, ""),
        ("null", NULL, "null"),
        ("None", NULL, "null"),
        ('["a", 1]', ARRAY, '["a", 1]'),
        ("['a']", ARRAY, ""),
        ('{"b": 1.0}', OBJECT, '{"b": 1.0}'),
        ("[1]", OBJECT, ""),
        # Unions
        ("x", {"type": ["string", "null"]}, '"x"'),
        ("5", {"type": ["string", "integer"]}, ""),
        ("null", {"anyOf": [STRING, NULL]}, "null"),
        ("null", {"type": "string", "nullable": True}, "null"),
        ("null", {"type": "string", "nullable": False}, '"null"'),
        ("null", {"anyOf": [STRING, {"type": "integer"}]}, '"null"'),
        ("null", {"enum": ["null", None]}, ""),
        ("null", {"anyOf": [INTEGER, NULL]}, "null"),
        ("null", {"type": "integer", "nullable": True}, "null"),
        ("7", {"oneOf": [INTEGER, {"enum": ["all"]}]}, "7"),
        ("all", {"oneOf": [INTEGER, {"enum": ["all"]}]}, '"all"'),
        ("some", {"oneOf": [INTEGER, {"enum": ["all"]}]}, ""),
        ("5", {"allOf": [{"type": ["integer", "string"]}, INTEGER]}, "5"),
        # Listed values
        ("5", {"enum": ["5", 6]}, '"5"'),
        ("5", {"enum": [5, "x"]}, "5"),
        ("5", {"enum": [5, "5"]}, ""),
        ("1", {"enum": [True, "1"]}, '"1"'),
        ("on", {"const": "on"}, '"on"'),
        # No schema, or one that says nothing
        ("plain", {}, '"plain"'),
        ("5", {}, ""),
        ("True", True, ""),
        ("5", {"type": "any"}, ""),
        ("x", False, ""),
        ("5", {"$ref": "#/$defs/None"}, ""),
    ],
)
def test_a_text_is_what_its_schema_says_or_an_error(text: str, schema: Any, value: str) -> None:  # noqa: ANN401 - any JSON
    assert one(text, schema) == value


@pytest.mark.parametrize(("text", "value"), [("3", "3"), ("all", '"all"'), ("some", "")])
def test_local_references_are_followed(text: str, value: str) -> None:
    expected = f'{{"a": {value}}}' if value else ""
    assert type_parameters([("a", text)], DEFINED).arguments == expected


def test_parameters_of_composed_schemas_are_found() -> None:
    schema = {"anyOf": [{"properties": {"a": INTEGER}}, {"$ref": "#/x"}], "x": {"properties": {}}}
    assert type_parameters([("a", "5")], schema).arguments == '{"a": 5}'
    assert declared_names(schema) == {"a"}


def test_what_is_not_declared_has_the_type_of_the_rest() -> None:
    assert type_parameters([("z", "5")], {"additionalProperties": INTEGER}).arguments == '{"z": 5}'
    assert type_parameters([("z", "5")], {"additionalProperties": False}).error


def test_a_parameter_that_comes_twice_is_an_error() -> None:
    assert "twice" in type_parameters([("a", "x"), ("a", "x")], {}).error


@pytest.mark.parametrize("text", ["1e999", '{"b": 1, "b": 2}', "[" * 2000 + "]" * 2000])
def test_a_value_that_cannot_be_used_makes_the_arguments_unusable(text: str) -> None:
    made = type_parameters(
        [("a", text)], {"properties": {"a": {"type": ["number", "object", "array"]}}}
    )
    assert made.error or parse(made.arguments).error


def test_required_parameters() -> None:
    assert lacks_required(["a"], {"required": ["a", "b"]})
    assert not lacks_required(["a"], {"required": ["a"]})


def test_what_markup_says_needs_no_schema() -> None:
    assert one(Exactly("5"), INTEGER) == '"5"'
    assert one(Json(' [1, "x"] '), STRING) == '[1, "x"]'
    assert one(Json("x"), {}) == ""


@each_row(
    ("text", "schema", "value"),
    [
        ("{'b': ['it\\'s', True, None]}", OBJECT, '{"b": ["it\'s", true, null]}'),
        ("{'b': 1}", STRING, "\"{'b': 1}\""),
        ('{"b": true}', OBJECT, '{"b": true}'),
        ("['b',]", ARRAY, '["b"]'),
        ("{'b': f()}", OBJECT, ""),
        ("['b'] + ['c']", ARRAY, ""),
        ("'b'", INTEGER, ""),
        ("7", INTEGER, "7"),
    ],
)
def test_a_template_may_print_as_python_does(text: str, schema: Any, value: str) -> None:  # noqa: ANN401
    assert one(Printed(text), schema) == value
    assert one(text, ARRAY) == ("" if "'" in text else one(Printed(text), ARRAY))


def test_elements_are_objects_or_arrays() -> None:
    items = Elements((("item", "5"), ("item", "6")))
    assert one(items, {"type": "array", "items": INTEGER}) == "[5, 6]"
    assert one(items, {}) == ""
    assert one(items, OBJECT) == ""
    fields = Elements((("x", "5"), ("y", Elements((), ""))))
    schema = {"type": "object", "properties": {"x": INTEGER, "y": ARRAY}}
    assert one(fields, schema) == '{"x": 5, "y": []}'
    assert one(fields, STRING) == ""
    assert one(Elements((), ""), STRING) == '""'
    assert one(Elements((), ""), {}) == ""


@given(TEXTS)
def test_a_string_stays_what_it_is(text: str) -> None:
    assert json.loads(one(text, STRING)) == text


@given(JSON)
def test_json_stays_what_it_is(value: object) -> None:
    text = json.dumps(value)
    assert one(text, {"type": ["object", "array", "number", "boolean", "null"]}) == text
    allowed = {"type": ["object", "array", "number", "boolean", "null", "string"]}
    assert one(text, allowed) == ("null" if value is None else "")


@given(TEXTS)
def test_without_a_schema_only_what_is_nothing_else_is_a_string(text: str) -> None:
    made = one(text, {})
    assert made == "" or json.loads(made) == text


@given(st.lists(st.tuples(st.sampled_from("ab"), TEXTS), max_size=3), SCHEMAS)
def test_no_schema_raises(parameters: list[tuple[str, str]], schema: Any) -> None:  # noqa: ANN401 - any JSON
    made = type_parameters(parameters, schema)
    assert bool(made.arguments) != bool(made.error)
    declared_names(schema)
    lacks_required(dict(parameters), schema)


def test_a_schema_without_end_and_one_of_great_depth() -> None:
    endless: dict[str, Any] = {"anyOf": [{"$ref": "#/properties/a"}, {"$ref": "#/properties/a"}]}
    assert one("x", endless) == ""
    deep: Any = STRING
    for _ in range(5000):
        deep = {"anyOf": [deep]}
    assert one("x", deep) == '"x"'
    value: Value = "x"
    for _ in range(5000):
        value = Elements((("a", value),))
    assert type_parameters([("a", value)], {}).error


@given(JSON, SCHEMAS)
def test_a_value_that_python_printed_is_read_as_its_json(value: Any, schema: Any) -> None:  # noqa: ANN401 - any JSON
    """Printed lists and dicts mean the same as their JSON; all other text is read as before."""
    printed, written = repr(value), json.dumps(value)
    if isinstance(value, list | dict):
        schema = {"type": ["array", "object"]}
        assert json.loads(one(Printed(printed), schema)) == value
        assert json.loads(one(Printed(written), schema)) == value
    else:
        assert one(Printed(printed), schema) == one(printed, schema)


@each_row(
    "text", ["('a', 'b')", "['a'],", "['a', len('b')]", "['a'", "[a]", "{'a'}", "['a'] + ['b']"]
)
def test_what_python_prints_for_no_json_value_is_an_error(text: str) -> None:
    assert not one(Printed(text), {"type": ["array", "object"]})
    assert json.loads(one(Printed(text), STRING)) == text
