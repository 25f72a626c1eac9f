"""Calls in Python's syntax: round trips, literals and their limits, and what stays text."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.text_calls.dialect import BlockStart, Offered
from harness.text_calls.dialects.pythonic import Pythonic, TaggedPythonic
from harness.text_calls.python import read_python_calls
from harness.turns.turn import Turn
from tests.text_calls.round_trip import SIZES, TOOLS, Piece, check_round_trip, conversations, read

PYTHONIC = Pythonic()
TAGGED_PYTHONIC = TaggedPythonic()

_BOTH = ("pythonic", "pythonic-tags")


def _read(text: str, size: int = 3) -> Turn:
    return read(text, _BOTH, size)


def _called(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


@given(conversations(PYTHONIC), SIZES)
def test_a_bare_list_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(PYTHONIC, said, size)


@given(conversations(TAGGED_PYTHONIC), SIZES)
def test_a_tagged_list_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(TAGGED_PYTHONIC, said, size)


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("1.50", "1.50"),
        ("-.5", "-0.5"),
        ("2.", "2.0"),
        ("1_000", "1000"),
        ("+7", "7"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("[True, false, None, null]", "[true, false, null, null]"),
        ("{'a': [1, 2,], }", '{"a": [1, 2]}'),
        (r"'it\'s \d \x41\101 \u00e9'", '"it\'s \\\\d AA é"'),
        (r'r"\d"', '"\\\\d"'),
        ("'''a\n'b' c'''", "\"a\\n'b' c\""),
        ('"\\\nx"', '"x"'),
        (r'"\N{BULLET}"', '"•"'),
        ('") ] <|python_end|>"', '") ] <|python_end|>"'),
    ],
)
def test_a_literal_becomes_the_json_that_means_the_same(literal: str, value: str) -> None:
    call = read_python_calls(f"f(a={literal})").calls[0]
    assert (call.error, call.arguments) == ("", f'{{"a": {value}}}')


@pytest.mark.parametrize(
    "arguments",
    [
        '"Paris"',
        "a=1 + 2",
        "a=007",
        "a=0x1f",
        "a=1j",
        "a=(1, 2)",
        "a={1, 2}",
        "a={1: 2}",
        "a=city",
        "a=",
        "a=1,, b=2",
        "a=[,]",
        "a=[}]",
        "a=--5",
        "a=not True",
        "a='x' 'y'",
        "a=f'{x}'",
        "a=b'x'",
        r"a='\x4'",
        r"a='\N{NO SUCH THING}'",
        "a='x\ny'",
        "a == 1",
        "**[1]",
        "a=[x for x in y]",
        "a=__import__('os').system('ls')",
        "lambda: 1",
    ],
)
def test_what_is_no_literal_is_an_error_and_never_evaluated(arguments: str) -> None:
    call = read_python_calls(f"get_time({arguments})").calls[0]
    assert call.name == "get_time"
    assert call.error
    assert call.arguments == ""


@given(st.text(alphabet="f(a=[]{}'\"\\,:1x *\n<|`", max_size=60))
@example("f(a='\\")
@example("f(**{'")
def test_no_text_raises(text: str) -> None:
    read_python_calls(f"f({text}")
    assert _read(f"[get_time({text}", 2) is not None
    assert _read(f"Words <|python_start|>get_time({text}<|python_end|> words", 2) is not None


@given(st.text(max_size=80), SIZES)
def test_the_cut_makes_no_difference(text: str, size: int) -> None:
    for said in (f"[get_time({text}", f"<|python_start|>[f(city={text}<|python_end|>b"):
        assert _read(said, size) == _read(said, 4000)


@pytest.mark.parametrize(
    "text",
    [
        "[see above]",
        "[1, 2]",
        "[]",
        "[get_weather]",
        "[get_weather (in Paris) tells it]",
        '[get_weather(city="Paris")] is how I would ask.',
        "[delete_all(path='/')]",
        'Say [get_weather(city="Paris")]',
        '```python\n[get_weather(city="Paris")]\n```',
        "The token <|python_start|> stands before a call.",
        "<function_calls> holds calls.",
    ],
)
def test_words_and_other_lists_stay_text(text: str) -> None:
    for size in (1, 5, 400):
        turn = _read(text, size)
        assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())


def test_a_list_that_is_no_call_is_said_at_once() -> None:
    assert PYTHONIC.starts(BlockStart("[", "s", Offered(TOOLS), final=False)) is None
    assert PYTHONIC.starts(BlockStart("[", "see ", Offered(TOOLS), final=False)) is None
    assert PYTHONIC.starts(BlockStart("[", "see]", Offered(TOOLS), final=False)) is False
    assert PYTHONIC.starts(BlockStart("[", "1", Offered(TOOLS), final=False)) is False


def test_only_the_bad_call_of_a_list_is_rejected() -> None:
    turn = _read('[get_weather("Paris"), get_time(), rm(path="/")]')
    assert _called(turn) == [("get_time", {})]
    assert [error.name for error in turn.parse_errors] == ["get_weather", "rm"]
    assert turn.text == ""


@pytest.mark.parametrize("said", ['[get_weather(city="Par', "<|python_start|>[get_weather(ci"])
def test_a_call_that_is_cut_short_is_rejected_and_hidden(said: str) -> None:
    turn = _read(said)
    assert (turn.text, turn.tool_calls, len(turn.parse_errors)) == ("", (), 1)


def test_llama_4_and_olmo_call_among_words() -> None:
    turn = _read(
        'First. <|python_start|>[get_weather(city="a <|python_end|> b")]<|python_end|><|eom|> '
        '<|python_start|>{"name": "f", "parameters": {"n": 1}}<|python_end|> '
        '<function_calls>\nget_weather(city="Oslo")\nget_time()\n</function_calls> Last.'
    )
    assert _called(turn) == [
        ("get_weather", {"city": "a <|python_end|> b"}),
        ("f", {"n": 1}),
        ("get_weather", {"city": "Oslo"}),
        ("get_time", {}),
    ]
    assert turn.text.split() == ["First.", "Last."]


def test_a_broken_string_ends_at_the_closing_tag() -> None:
    turn = _read(
        '<|python_start|>[f(city="Par\n)]<|python_end|> and <|python_start|>[f()]<|python_end|>'
    )
    assert [error.name for error in turn.parse_errors] == ["f"]
    assert (turn.text, _called(turn)) == (" and ", [("f", {})])


@pytest.mark.parametrize(
    "text",
    [
        "f(a='" + "\\'" * 20_000,
        "f(a=" + "[" * 4_000,
        "f(a=" + '"' * 40_001,
        "f(" * 20_000,
        "f(a=1),\n" * 4_000,
        "f(a=" + "1" * 4_000 + "_)",
        "[" * 4_000,
    ],
)
def test_long_hostile_text_is_read_the_same_however_it_is_cut(text: str) -> None:
    read_python_calls(text)
    for begun in ("[f(" + text, "<|python_start|>" + text):
        assert _read(begun, 1000) == _read(begun, len(begun))


_TIME = "<|python_start|>[get_time()]<|python_end|>"


@pytest.mark.parametrize(
    "text",
    [
        f"<|python_start|>[get_weather(city='Use {_TIME}{_TIME} as",
        f"<|python_start|>[get_weather(city='Use\n{_TIME}{_TIME}\nas')]<|python_end|>",
        f"<|python_start|>[get_weather(city='{_TIME}', unit='a\nb')]<|python_end|>",
    ],
)
def test_a_string_that_is_cut_or_broken_is_not_searched_for_a_call(text: str) -> None:
    for size in (1, 7, 4000):
        turn = _read(text, size)
        assert (turn.text, turn.tool_calls) == ("", ())
        assert [error.name for error in turn.parse_errors] == ["get_weather"]


def test_a_missing_quotation_mark_does_not_hide_the_next_call() -> None:
    for size in (1, 7, 4000):
        turn = _read(f"<|python_start|>[get_weather(city='Os\n)]<|python_end|>It{_TIME}", size)
        assert (turn.text, _called(turn)) == ("It", [("get_time", {})])
