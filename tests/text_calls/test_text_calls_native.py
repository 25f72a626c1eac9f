"""Native calls with leaked markup: cleaned only to an offered name, arguments only told of."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.dialect import Offered
from harness.text_calls.native import clean_name, leaked_token
from harness.turns.turn import Tool
from tests.tables import each_row

_OFFERED = Offered(map(Tool, ("delete_file", "functions.raw", "get_weather", "tool_12")))
_TOKENS = (
    "</arg_value>",
    "</tool_call>",
    "<|channel|>commentary",
    "<|tool_call_argument_begin|>",
    "<\uff5ctool\u2581sep\uff5c>",
    "[ARGS]",
    "[TOOL_CALLS]",
)


@each_row(
    ("name", "clean"),
    [
        ("tool_12</arg_value>", "tool_12"),
        ("get_weather<|channel|>commentary", "get_weather"),
        ("get_weather\n<arg_key>city", "get_weather"),
        ("get_weather<|chan", "get_weather"),
        ("get_weather<", "get_weather"),
        ("get_weather[ARGS]", "get_weather"),
        (" get_weather\n", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.get_weather:0", "get_weather"),
        ("functions.raw", "functions.raw"),
        ("functions.functions.get_weather", "functions.functions.get_weather"),
        ("browser.get_weather", "browser.get_weather"),
        ("get_weather:0", "get_weather:0"),
        ("delete_file2", "delete_file2"),
        ("delete_file and more", "delete_file and more"),
        ("tool_1</arg_value>", "tool_1</arg_value>"),
        ("<tool_call>get_weather", "<tool_call>get_weather"),
        ("", ""),
    ],
)
def test_names(name: str, clean: str) -> None:
    assert clean_name(name, _OFFERED) == clean


@given(st.sampled_from(tuple(_OFFERED)), st.sampled_from(_TOKENS), st.text())
def test_any_token_and_what_follows_it_are_cut_off(name: str, token: str, more: str) -> None:
    assert clean_name(name + token + more, _OFFERED) == name


@given(st.text())
def test_a_clean_name_is_offered_or_the_name_as_it_was(name: str) -> None:
    assert clean_name(name, _OFFERED) in {name, *_OFFERED}


@each_row(
    ("value", "token"),
    [
        ("ls</\uff5cDSML\uff5cparameter>", "</\uff5cDSML\uff5cparameter>"),
        ("ls</\uff5cDSML\uff5cparameter> -la", "</\uff5cDSML\uff5cparameter>"),
        ("ls</|DSML|parameter>\n", "</|DSML|parameter>"),
        ("Oslo<|tool_call_end|>", "<|tool_call_end|>"),
        ("Oslo<|tool_call_end|><|tool_calls_section_end|>", "<|tool_call_end|>"),
        ("Oslo</arg_value>", "</arg_value>"),
        ("Oslo</arg_value>\n<arg_key>unit</arg_key><arg_value>C", "</arg_value>"),
        ("ls</parameter></invoke>", "</parameter>"),
        ("Oslo<tool_call|>", "<tool_call|>"),
        ("Oslo<\uff5ctool\u2581call\u2581end\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>"),
        ("Oslo<|END_ACTION|>", "<|END_ACTION|>"),
        ("Oslo<|eom_id|>", "<|eom_id|>"),
        ("a <tool_call>x</tool_call> </tool_call>", "</tool_call>"),
    ],
)
def test_leaks(value: str, token: str) -> None:
    assert leaked_token(json.dumps({"value": value}, ensure_ascii=False)) == token
    assert leaked_token(json.dumps({value: 1})) == token


@each_row(
    "value",
    [
        "",
        "ends with </tool_call> here",
        "<tool_call>{}</tool_call>",
        '<parameter name="a">1</parameter>',
        '<\uff5cDSML\uff5cinvoke name="f"></\uff5cDSML\uff5cinvoke>',
        "<|tool_call_begin|>functions.f:0<|tool_call_end|>",
        'text.split("<|im_end|>")',
        "<|im_start|>user\nhi<|im_end|>",
        "<|tool_call>call:f{}<tool_call|>",
        "a < b </p>",
        "opens only <tool_call>",
    ],
)
def test_text_about_markup_is_no_leak(value: str) -> None:
    assert leaked_token(json.dumps({"value": value, "other": 1})) == ""
    assert leaked_token(json.dumps({value: [value]}, ensure_ascii=False)) == ""


def test_escaped_angle_brackets_are_angle_brackets() -> None:
    assert leaked_token('{"city": "Oslo\\u003c/arg_value\\u003e"}') == "</arg_value>"


@given(st.text() | st.lists(st.sampled_from((*_TOKENS, '"', "\\", "<", "x"))).map("".join))
def test_nothing_raises_and_a_leak_is_in_the_text(text: str) -> None:
    assert leaked_token(text) in text
    assert clean_name(text, _OFFERED) in {text, *_OFFERED}


_ORDINARY = st.text(st.characters(exclude_characters="<"))


@given(st.dictionaries(_ORDINARY, _ORDINARY | st.integers()))
def test_ordinary_arguments_have_no_leak(arguments: dict[str, str | int]) -> None:
    assert leaked_token(json.dumps(arguments)) == ""
