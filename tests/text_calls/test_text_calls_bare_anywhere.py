"""Bare JSON anywhere in an answer: calls among words, and never one inside something else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.boundaries import MORE
from harness.text_calls.dialects.bare_json import BARE_ANYWHERE
from harness.text_calls.json_scan import LooseEnd
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.text_calls.round_trip import calls

POLICY = TextPolicy(dialects=frozenset(("tagged-json", "bare-json")), bare="anywhere")
TOOLS = tuple(map(Tool, ("get_weather", "search", "schema.list_tables", "get_time", "f")))
CALL = '{"name": "search", "arguments": {"query": "{[Oslo]}"}}'
WORDS = st.text(st.sampled_from("ab äö 北京.,;:()<\n"), max_size=30)
SIZES = st.integers(1, 40)


def read(text: str, size: int = 1_000_000) -> Turn:
    said: list[Delta] = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    return fold(read_text_calls([*said, Finish(FinishReason.STOP, "stop")], TOOLS, POLICY))


@given(calls(), st.lists(WORDS, min_size=4, max_size=4), SIZES)
def test_calls_among_words_come_out_and_the_words_stay(
    spelled: list[WrittenCall], words: list[str], size: int
) -> None:
    text = shown = words[-1]
    for call, after in zip(spelled, words, strict=False):
        text += f"{BARE_ANYWHERE.write([call])} {after}"
        shown += f" {after}"
    got = read(text, size)
    found = [(call.name, json.loads(call.arguments)) for call in got.tool_calls]
    assert found == [(call.name, json.loads(call.arguments)) for call in spelled]
    assert (got.text, got.parse_errors) == (shown, ())


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "plan", "arguments": %s}',
        '{"tool": "plan", "arguments": %s,}',
        '{"steps": [%s, %s]}',
        '[%s, "and more"]',
        "{tool: 'plan', arguments: %s}",
        "{'plan': %s}",
        "{{%s}}",
        "function f() { return %s; }",
        'Text {1: %s} and "more".',
        '{"name": "plan", "arguments":\n\n%s',
        "`%s`",
        '"%s"',
        "```\n%s\n```",
        "> %s",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_call_inside_something_else_is_not_run(text: str, size: int) -> None:
    said = text.replace("%s", CALL)
    got = read(said, size)
    assert (got.tool_calls, got.parse_errors) == ((), ())
    assert got.text == said


@pytest.mark.parametrize(
    "before",
    [
        "Use {city} here: ",
        "It is [1, 2] and {}. ",
        'An object {"a": 1} first.\n',
        "A brace { alone, and ( another.\n\n",
        "See [the docs](x) and a[0].\n",
        "{ is no JSON\n  \n",
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_call_after_other_brackets_is_found(before: str, size: int) -> None:
    got = read(f"{before}{CALL} Done.", size)
    assert [it.name for it in got.tool_calls] == ["search"]
    assert got.text == f"{before} Done."


@pytest.mark.parametrize("before", ["An open { brace\n", '\n"{\n', '"[\n  ', "„{ is no JSON\n\n"])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_tags_on_a_line_after_an_open_bracket_are_found(before: str, size: int) -> None:
    tag = f"<tool_call>\n{CALL}\n</tool_call>"
    got = read(before + tag + tag, size)
    assert [it.name for it in got.tool_calls] == ["search", "search"]
    assert got.text == before.removesuffix("\n")


@pytest.mark.parametrize(
    "text",
    [
        '"{\n"a": "<tool_call>%s</tool_call>"}',
        '{"note": "\\n<tool_call>%s</tool_call>"}',
        '"{"a": 1}\n<tool_call>%s</tool_call>"',
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_tags_inside_a_string_or_a_quotation_are_no_calls(text: str, size: int) -> None:
    said = text.replace("%s", json.dumps(CALL)[1:-1])
    got = read(said, size)
    assert (got.tool_calls, got.parse_errors, got.text) == ((), (), said)


@pytest.mark.parametrize("cut", ['{"name": "search", "arguments": {"query": "Os', CALL[:-1]])
def test_a_call_that_breaks_off_is_reported(cut: str) -> None:
    got = read(f"Wait. {cut}")
    assert got.tool_calls == ()
    assert [it.name for it in got.parse_errors] == ["search"]
    assert got.text == "Wait. "


def test_text_with_brackets_passes_before_its_end() -> None:
    said = [TextDelta("one {two} "), TextDelta("three ["), TextDelta("4] five ")]
    deltas = read_text_calls(iter(said), TOOLS, POLICY)
    assert next(deltas) == TextDelta("one {two} ")
    assert next(deltas) == TextDelta("three ")


@given(st.text(st.sampled_from('{}[]"\\\n <a:1,'), max_size=60), SIZES)
def test_the_end_is_the_same_however_the_text_is_cut(text: str, size: int) -> None:
    keys = frozenset(("a",))
    whole = LooseEnd(keys).feed(text, 0)
    ending = LooseEnd(keys)
    ends = (ending.feed(text[at : at + size], 0) for at in range(0, len(text), size))
    assert next((end for end in ends if end != MORE), MORE) == whole


@given(st.text(st.sampled_from('{}[]"\\\n <a:1,`>'), max_size=80), SIZES)
def test_nothing_is_lost_whatever_the_brackets(text: str, size: int) -> None:
    got = read(text, size)
    assert got == read(text)
    assert got.text == text
