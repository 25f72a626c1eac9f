"""Line ends next to markup, as the chat templates write them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.text_calls.line_ends import MOST_LINE_ENDS, Output
from tests.text_calls.round_trip import read

ALL = tuple(name for name in TEXT_DIALECTS if name != "action-protocol")
CALL = WrittenCall("get_weather", '{"city": "Oslo"}')
SIZES = pytest.mark.parametrize("size", [1, 2, 3, 1000])


@SIZES
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", [it for it in ALL if TEXT_DIALECTS[it].line_ends])
def test_as_many_as_the_template_writes_belong_to_the_call(name: str, end: str, size: int) -> None:
    dialect = TEXT_DIALECTS[name]
    most = end * dialect.line_ends
    call = dialect.write([CALL]).replace("\n", end)
    turn = read(f"Hi{end}{most}{call}{most}{call}{most}", [name], size)
    assert (turn.text, len(turn.tool_calls)) == (f"Hi{end}", 2)
    # None is lost where words follow, if the call may be before words.
    if dialect.last:
        return
    text = f"Hi{end}{most}{call}{most}Bye{end}"
    assert read(text, [name], size).text == text.replace(call, "")


@SIZES
@pytest.mark.parametrize(
    ("text", "reasoning", "shown"),
    [
        ("<think>\nHm.\n</think>\n\nHi\n", "Hm.", "Hi\n"),
        ("<think>\r\nHm.\r\n</think>\r\n\r\nHi", "Hm.", "Hi"),
        ("<think>\n\n</think>\n\nHi", "", "Hi"),
        ("\n<think>Hm.</think>Hi", "Hm.", "Hi"),
        ("Hi.\n<think>Hm.</think>\nHi", "Hm.", "Hi.\nHi"),
        ("<think>\n\n\nHm.\n\n\n</think>\n\n\nHi", "\nHm.\n", "\nHi"),
        ("<think>\r\rHm.\r</think>\rHi", "\r\rHm.\r", "\rHi"),
        ("[THINK]\nHm.\n[/THINK]\n\nHi", "\nHm.\n", "\n\nHi"),
        ("Hi\n\n\n", "", "Hi\n\n\n"),
        ("<think>\nA\n</think>\n<think>\nB\n</think>\nHi", "A\nB", "Hi"),
        ("<think>A</think><think>B</think>Hi", "A\nB", "Hi"),
    ],
)
def test_those_around_reasoning(text: str, reasoning: str, shown: str, size: int) -> None:
    turn = read(text, ["tagged-json", "mistral-tool-calls"], size)
    assert (turn.reasoning, turn.text) == (reasoning, shown)


@SIZES
def test_text_that_turns_out_to_be_no_call_keeps_them(size: int) -> None:
    drafted = '<think>Hm.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nNo.</think>Hi'
    turn = read(drafted, ["tagged-json"], size)
    assert turn.reasoning == drafted.partition("</think>")[0].removeprefix("<think>")
    assert (turn.text, turn.tool_calls) == ("Hi", ())


MARKUP = st.tuples(st.integers(0, MOST_LINE_ENDS), st.integers(0, MOST_LINE_ENDS), st.booleans())
STEPS = st.lists(st.text("ab \r\n", max_size=8) | MARKUP, max_size=8)


def emitted(steps: list[Any], size: int) -> str:
    output = Output()
    for step in steps:
        if isinstance(step, str):
            for at in range(0, len(step), size):
                output.emit(step[at : at + size], as_reasoning=False)
        else:
            output.meet(step[0], step[1], section=step[2])
    output.end()
    return "".join(text for _, text in output.take())


@given(STEPS, st.integers(1, 9))
def test_it_is_the_same_however_the_text_is_cut(steps: list[Any], size: int) -> None:
    assert emitted(steps, size) == emitted(steps, 9)


@given(STEPS)
def test_only_line_ends_are_dropped_and_none_without_markup(steps: list[Any]) -> None:
    said = "".join(step for step in steps if isinstance(step, str))
    left = iter(said)
    # A subsequence, without line ends only.
    assert all(each in left for each in emitted(steps, 9))
    words = str.maketrans("", "", "\r\n")
    assert emitted(steps, 9).translate(words) == said.translate(words)
    plain = [step for step in steps if isinstance(step, str)]
    assert emitted(plain, 9) == said
