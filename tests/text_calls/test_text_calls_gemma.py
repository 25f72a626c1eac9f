"""Gemma's three formats: round trips, values, and sentences that name a marker."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.dialect import Offered, RawBlock
from harness.text_calls.dialects.gemma import ESCAPE, Gemma, read_object, write_object
from harness.turns.turn import Turn
from tests.text_calls.round_trip import (
    SIZES,
    TOOLS,
    Piece,
    arguments,
    check_round_trip,
    conversations,
    read,
)

GEMMA = Gemma()

_FUNCTION_GEMMA = "<start_function_call>call:{}<end_function_call>"


def _read(text: str, size: int = 3) -> Turn:
    return read(text, ("gemma",), size)


def _called(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


@given(conversations(GEMMA), SIZES)
def test_gemma_4_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(GEMMA, said, size)


@given(arguments(), SIZES)
def test_function_gemma_comes_out_as_it_went_in(value: dict[str, object], size: int) -> None:
    body = write_object(json.dumps(value, ensure_ascii=False), ESCAPE)
    turn = _read(f"a {_FUNCTION_GEMMA.format(f'f{body}')} b", size)
    assert _called(turn) == [("f", value)]
    assert (turn.text, turn.parse_errors) == ("a  b", ())


def test_strings_hold_anything_and_digits_are_kept() -> None:
    turn = _read(
        '<|tool_call>call:f{city:<|"|> {a:"b"},\n<tool_call|> <|"|>,n:1.50,ok:true,nothing:null,'
        'items:[<|"|>007<|"|>,[]],options:{k:{}}}<tool_call|><|tool_response>'
    )
    (call,) = turn.tool_calls
    assert '"n": 1.50' in call.arguments
    assert json.loads(call.arguments) == {
        "city": ' {a:"b"},\n<tool_call|> ',
        "n": 1.5,
        "ok": True,
        "nothing": None,
        "items": ["007", []],
        "options": {"k": {}},
    }
    assert turn.text == ""


@pytest.mark.parametrize(
    "body",
    [
        "f{city:Paris}",
        "f{city:}",
        "f{city:007}",
        "f{n:1 2}",
        "f{n:1}}",
        "f{n:1} and more",
        "f{<escape>x<escape>}",
        "f(city: 1)",
        "f{n:[1,]}",
        "f{n:[1}",
        "f{n:NaN}",
        "f{n:1",
    ],
)
def test_another_notation_is_rejected_and_hidden(body: str) -> None:
    turn = _read(f"a {_FUNCTION_GEMMA.format(body)} b")
    assert (turn.text, turn.tool_calls) == ("a  b", ())
    assert [error.name for error in turn.parse_errors] == ["f"]


def test_a_string_that_never_ends_quotes_all_that_follows() -> None:
    call = _FUNCTION_GEMMA.format("f{n:1}")
    turn = _read(f"a {_FUNCTION_GEMMA.format('f{city:<escape>x}')} b {call}{call} c")
    assert (turn.text, turn.tool_calls) == ("a ", ())
    assert [error.name for error in turn.parse_errors] == ["f"]


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ('print(get_weather(city="Oslo"))', [("get_weather", {"city": "Oslo"})]),
        ("get_time()\nf(n=2)", [("get_time", {}), ("f", {"n": 2})]),
        ("[get_time(), f(n=2)]", [("get_time", {}), ("f", {"n": 2})]),
        ("print(default_api.f(city='a ``` b'))", [("f", {"city": "a ``` b"})]),
        ("print([get_time(), f()])", [("get_time", {}), ("f", {})]),
    ],
)
def test_a_tool_code_fence_calls(body: str, calls: list[tuple[str, object]]) -> None:
    for size in (1, 7, 400):
        turn = _read(f"I look.\n```tool_code\n{body}\n```", size)
        assert _called(turn) == calls
        assert (turn.text, turn.parse_errors) == ("I look.\n", ())


def test_several_fences_call_where_nothing_follows_them() -> None:
    fences = "```tool_code\nget_time()\n```\n\n```tool_code\nf(n=2)\n```\n<end_of_turn>"
    for size in (1, 7, 400):
        turn = _read(f"I look.\n{fences}", size)
        assert _called(turn) == [("get_time", {}), ("f", {"n": 2})]
        assert (turn.text.strip(), turn.parse_errors) == ("I look.", ())


@pytest.mark.parametrize(
    "body", ["x = f(n=2)", "print(f(n=2)", "f(n=2) + 1", "f(n=g())", "print(f(2))"]
)
def test_an_offered_tool_in_other_code_is_rejected(body: str) -> None:
    turn = _read(f"```tool_code\nf()\n{body}\n```")
    assert turn.parse_errors
    assert _called(turn) == [("f", {})] or body.startswith("f(n=2) +")


@pytest.mark.parametrize(
    "text",
    [
        "The model writes <|tool_call> before a call.",
        "It writes <|tool_call> and call: comes next.",
        "See <start_function_call>, then the call.",
        "```tool_code\nprint(1 + 1)\n```",
        "```tool_code\nrm(path='/')\n```",
        "```\n<|tool_call>call:f{n:1}<tool_call|>\n```\nNo call.",
        "`<|tool_call>call:f{n:1}<tool_call|>` is a call.",
        "<|channel> begins a channel.",
        'You would write:\n```tool_code\nget_weather(city="Paris")\n```\nto call it.',
        "```tool_code\nf()\n```\n\nand then\n\n```python\nf()\n```",
        "```tool_code\nf()\n```\n```tool_code\nf(2)\n```\n.",
    ],
)
def test_examples_and_sentences_stay_text(text: str) -> None:
    for size in (1, 6, 400):
        turn = _read(text, size)
        assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())


def test_a_thought_is_reasoning_and_its_calls_are_drafts() -> None:
    draft = "<|tool_call>call:f{n:1}<tool_call|>"
    turn = _read(f"<|channel>thought\nMaybe {draft}?<channel|>{draft.replace('1', '2')}")
    assert turn.reasoning == f"Maybe {draft}?"
    assert _called(turn) == [("f", {"n": 2})]


@pytest.mark.parametrize(
    "text", ['<|tool_call>call:f{city:<|"|>Par', "<start_function_call>call:f"]
)
def test_a_call_that_is_cut_short_is_rejected_and_hidden(text: str) -> None:
    turn = _read(f"a {text}")
    assert (turn.text, turn.tool_calls, len(turn.parse_errors)) == ("a ", (), 1)


def test_an_undeclared_tool_is_rejected() -> None:
    turn = _read("<|tool_call>call:rm{n:1}<tool_call|>")
    assert [error.name for error in turn.parse_errors] == ["rm"]


def test_a_lost_start_is_reported() -> None:
    turn = _read("call:f{n:1}<tool_call|>")
    assert len(turn.parse_errors) == 1
    assert turn.tool_calls == ()


@given(st.text(alphabet='f(a=:[]{}"\\,1 \n<|escap>`', max_size=60), SIZES)
def test_no_text_raises_and_no_cut_matters(text: str, size: int) -> None:
    offered = Offered(TOOLS)
    for opener in GEMMA.openers[:3]:
        assert isinstance(GEMMA.calls(RawBlock(opener, text, offered, closed=True)), tuple)
        said = f'a {opener}call:f{{city:{text}<|"|><escape><tool_call|>'
        assert _read(said, size) == _read(said, 4000)
    read_object(text, 0)


@pytest.mark.parametrize(
    "text", ["{" * 30_000, "{a:<escape>" * 5_000, '{a:"' + '\\"' * 20_000, "{a:" * 10_000]
)
def test_long_hostile_text_is_read_the_same_however_it_is_cut(text: str) -> None:
    read_object(text, 0)
    for begun in (f"<|tool_call>call:f{text}", f"<|tool_call>{text}"):
        assert _read(begun, 1000) == _read(begun, len(begun))
