"""One JSON object -> a call, data, or an error: nothing is dropped, and no schema runs."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.json_calls import read_json_calls, read_members, read_pairs, repeated_key
from harness.turns.turn import Tool
from tests.tables import each_row

_STRING = {"type": "string"}


def _tool(name: str, /, *required: str, **properties: object) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, "", schema)


OFFERED = Offered(
    (
        _tool("get_weather", "city", city=_STRING, days={"type": "integer"}),
        _tool("search", "query", query=_STRING, n={"type": "integer"}),
        _tool("get_time"),
        _tool("add_user", "name", name=_STRING, id=_STRING, args={"type": "array"}),
        _tool("validate", "type", type=_STRING, properties={"type": "object"}),
    )
)
_OSLO = '{"city": "Oslo"}'
_SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'
_TOLD = f'"name": "get_weather", "description": "Tells the weather.", "parameters": {_SCHEMA}'


def _one(text: str, *, marked: bool = True) -> WrittenCall:
    calls = read_json_calls(text, OFFERED, marked=marked)
    assert calls is not None
    assert len(calls) == 1
    return calls[0]


@each_row(
    ("text", "name", "arguments", "call_id"),
    [
        (f'{{"name": "get_weather", "arguments": {_OSLO}}}', "get_weather", _OSLO, ""),
        (
            f'{{"id": "c1", "function": {{"name": "get_weather", "id": "c2", "args": {_OSLO}}}}}',
            "get_weather",
            _OSLO,
            "c2",
        ),
        (
            f'{{"name": "get_weather", "tool": "get_weather", "args": {_OSLO}}}',
            "get_weather",
            _OSLO,
            "",
        ),
        ('{"tool": "get_weather", "city": "A", "id": "c1"}', "get_weather", '{"city": "A"}', "c1"),
        (
            '{"tool": "add_user", "name": "Bo", "id": "7", "args": [1]}',
            "add_user",
            '{"name": "Bo", "id": "7", "args": [1]}',
            "",
        ),
        (
            '{"name": "validate", "arguments": {"type": "object", "properties": {}}}',
            "validate",
            '{"type": "object", "properties": {}}',
            "",
        ),
        ('{"tool": "get_time"}', "get_time", "{}", ""),
    ],
)
@each_row("marked", [True, False])
def test_each_form_is_a_call(
    text: str, name: str, arguments: str, call_id: str, *, marked: bool
) -> None:
    assert _one(text, marked=marked) == WrittenCall(name, arguments, call_id)


@each_row(
    ("text", "says"),
    [
        (f"{{{_TOLD}}}", "describes"),
        (f'{{"type": "function", "function": {{{_TOLD}}}}}', "describes"),
        (f'{{"name": "get_weather", "parameters": {_SCHEMA}}}', "describes"),
        (f'{{"name": "search", "arguments": {json.dumps(_SCHEMA)}}}', "describes"),
        ('{"name": "get_time", "parameters": {"type": "object", "properties": {}}}', "describes"),
        ('{"tool": "search", "description": "Searches."}', "describes"),
        ('{"tool": "get_weather", "input": {"a": 1}, "city": "A"}', "'city' is next to"),
        ('{"name": "get_weather", "arguments": {}, "city": "A"}', "'city' is next to"),
        ('{"tool": "add_user", "id": "7", "arguments": {"name": "A"}}', "'id' is next to"),
        ('{"name": "get_weather", "args": {}, "input": {}}', "under 'args' and 'input'"),
        (f'{{"name": "search", "name": "get_weather", "arguments": {_OSLO}}}', "'name' occurs"),
        (f'{{"name": "get_weather", "arguments": {_OSLO}, "arguments": {{}}}}', "occurs twice"),
        ('{"tool": "get_weather", "city": "A", "city": "B"}', "'city' occurs twice"),
        (f'{{"name": "search", "tool": "get_weather", "arguments": {_OSLO}}}', "and another"),
        ('{"name": "get_weather"}', "no arguments"),
        ('{"name": "get_time", "version": 1}', "no arguments"),
    ],
)
@each_row("marked", [True, False])
def test_what_nobody_can_run_says_why(text: str, says: str, *, marked: bool) -> None:
    assert says in _one(text, marked=marked).error


@each_row(
    "text",
    [
        '{"tool": "search", "status": "ok", "results": 5}',
        '{"tool": "search", "query": "a", "hits": 5}',
        '{"tool": "search", "n": 5}',
        '{"name": "get_time"}',
        '{"name": "search", "input": 5}',
        '{"name": "search", "input": "some words"}',
    ],
)
def test_what_may_be_data_needs_a_marker(text: str) -> None:
    assert _one(text, marked=False).error


def test_a_tool_that_needs_nothing_can_be_named_alone_behind_a_marker() -> None:
    assert _one('{"name": "get_time"}') == WrittenCall("get_time")


def test_arguments_that_lack_a_parameter_are_still_a_call() -> None:
    text = '{"name": "get_weather", "arguments": {"days": 2}}'
    assert _one(text, marked=False) == WrittenCall("get_weather", '{"days": 2}')


@given(st.dictionaries(st.text(), st.none() | st.text() | st.lists(st.integers())), st.booleans())
def test_the_members_of_an_object_are_all_there(
    value: dict[str, object],
    indented: bool,  # noqa: FBT001 - an example of Hypothesis
) -> None:
    found = read_pairs(json.dumps(value, indent=2 if indented else None))
    assert found is not None
    assert {key: json.loads(text) for key, text in found} == value
    assert repeated_key(found) == ""
    assert repeated_key((*found, ("a", "1"), ("a", "2"))) == "a"


@each_row("text", ["", "[]", "{", '{"a": 1,}', '{"a": NaN}', "{} {}", '{"a": "\n"}'])
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert read_pairs(text) is None
    assert read_members(text) is None


_PARTS = st.sampled_from(
    ['{"', '"name"', '"tool"', ":", '"get_time"', "{", "}", "[", "]", ",", "\\ud800", '"', " ", "1"]
)


@given(st.lists(_PARTS, max_size=30).map("".join), st.booleans())
def test_no_text_is_too_odd(text: str, marked: bool) -> None:  # noqa: FBT001 - as above
    calls = read_json_calls(text, OFFERED, marked=marked)
    assert calls is None or any(call.name or call.error for call in calls)
