"""Tools as text: each parameter with its type, whether it is needed, and what it means."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.prompts import descriptions
from harness.conversation.prompts.descriptions import describe, json_text
from harness.turns.turn import Tool, referenced_schema

COLUMNS = Tool(
    "schema.list_columns",
    "获取指定表的列信息",
    {
        "type": "object",
        "properties": {
            "table_name": {"type": "string", "description": "表名"},
            "include_types": {"type": "boolean", "description": "是否包含数据类型信息"},
        },
        "required": ["table_name"],
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "anyOf",
                    "allOf",
                    "oneOf",
                    "$ref",
                    "enum",
                    "const",
                    "required",
                    "additionalProperties",
                    "default",
                    "minimum",
                    "description",
                    "format",
                    "a",
                ]
            ),
            inner
            | st.sampled_from(["#", "#/properties/a", "#/a", "object", "array", "https://x/y"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


def lines(properties: dict[str, Any], **more: Any) -> list[str]:  # noqa: ANN401 - of a schema
    schema = {"type": "object", "properties": properties, **more}
    return describe([Tool("f", "", schema)]).split("\n")[2:]


def test_in_chinese_as_the_third_seed_system_has_it() -> None:
    assert describe([COLUMNS], "zh") == (
        "### schema.list_columns\n"
        "获取指定表的列信息\n"
        "参数：\n"
        "  - table_name (string, 必需): 表名\n"
        "  - include_types (boolean, 可选): 是否包含数据类型信息"
    )


def test_in_english() -> None:
    assert "  - table_name (string, required): 表名\n" in describe([COLUMNS])
    assert "  - include_types (boolean, optional)" in describe([COLUMNS])


def test_tools_have_an_empty_line_between_them() -> None:
    assert describe([Tool("a", "A."), Tool("b")]) == (
        "### a\nA.\nParameters: none\n\n### b\nParameters: none"
    )
    assert describe([]) == ""


def test_types_are_told_in_a_few_words() -> None:
    told = lines(
        {
            "tags": {"type": "array", "items": {"type": "string"}},
            "size": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
            "unit": {"enum": ["c", "f"], "default": "c"},
            "kind": {"const": "x"},
            "at": {"type": "string", "format": "date"},
            "either": {"anyOf": [{"type": "string"}, {"anyOf": [{"type": ["integer", "string"]}]}]},
            "scores": {"type": "object", "additionalProperties": {"type": "number"}},
            "anything": {},
            "whatever": True,
        }
    )
    assert told == [
        "  - tags (array<string>, optional)",
        "  - size (integer | null, optional, at least 1, at most 9)",
        '  - unit (string, optional, one of "c" | "f", default "c")',
        '  - kind (string, optional, always "x")',
        "  - at (string, optional, format date)",
        "  - either (string | integer, optional)",
        "  - scores (object<string, number>, optional)",
        "  - anything (any, optional)",
        "  - whatever (any, optional)",
    ]


def test_parameters_inside_parameters_are_indented() -> None:
    item = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert lines({"items": {"type": "array", "items": item, "description": "All\n  of them."}}) == [
        "  - items (array<object>, optional): All of them.",
        "    - n (integer, required)",
    ]


def test_a_reference_to_an_anchor_is_followed() -> None:
    node = {"$anchor": "Node", "type": "string", "description": "A node."}
    told = lines({"a": {"$ref": "#Node"}, "b": {"$ref": "#Nothing"}}, **{"$defs": {"N": node}})
    assert told == ["  - a (string, optional): A node.", "  - b (any, optional)"]


def test_a_search_for_an_anchor_is_bounded() -> None:
    named = {"$anchor": "A"}
    assert referenced_schema({"anyOf": [*[True] * 1_000, named]}, "#A") == named
    assert referenced_schema({"anyOf": [*[True] * 100_000, named]}, "#A") is True


def test_references_are_followed_but_not_in_circles() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}},
    }
    told = lines({"list": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
    assert told == [
        "  - list (object, optional)",
        "    - next (object, optional)",
        "    - n (integer, optional)",
    ]


def test_parts_of_all_of_are_joined_and_forms_told_apart() -> None:
    one = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    two = {"type": "object", "properties": {"b": {"type": "string"}}}
    assert lines({"both": {"allOf": [one, two]}})[1:] == [
        "    - b (string, optional)",
        "    - a (string, required)",
    ]
    assert lines({"either": {"oneOf": [one, two]}})[1:] == [
        "    - option 1",
        "      - a (string, required)",
        "    - option 2",
        "      - b (string, optional)",
    ]


def test_long_lists_of_values_are_cut_and_say_so() -> None:
    (told,) = lines({"n": {"enum": list(range(100))}})
    assert "39 (and 60 more)" in told


def test_a_schema_that_grows_without_end_is_bounded() -> None:
    again = {"type": "object", "properties": {f"p{n}": {"$ref": "#/$defs/A"} for n in range(40)}}
    other = {"type": "object", "properties": {f"q{n}": {"$ref": "#/$defs/B"} for n in range(40)}}
    told = lines({"x": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": other, "B": again}})
    assert len(told) < 20_000
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"properties": {"a": deep}, "items": deep, "anyOf": [deep]}
    assert len(lines({"a": deep})) < 20_000


@given(JSON)
def test_no_schema_raises(schema: object) -> None:
    parameters = schema if isinstance(schema, dict) else {"properties": {"a": schema}}
    assert describe([Tool("f", "", parameters)]).startswith("### f\n")


def test_schemas_that_are_equal_in_python_or_json_are_described_apart() -> None:
    defaults = (1, 1.0, True, "1", float("nan"), float("inf"), 10**30, {"a": 1}, {1: 1}, object)
    tools = [Tool("f", "", {"properties": {"a": {"default": it}}}) for it in defaults]
    for _ in range(2):
        found = [describe([tool]) for tool in tools]
        assert [json_text(it) in text for it, text in zip(defaults, found, strict=True)] == [
            True for _ in defaults
        ]
    assert describe([tools[0]], "zh") != describe([tools[0]], "en")


def test_no_more_tools_are_kept_than_a_few_hundred() -> None:
    for number in range(1000):
        assert describe([Tool(f"f{number}")]).startswith(f"### f{number}\n")
    assert descriptions._described_once.cache_info().currsize <= 256
