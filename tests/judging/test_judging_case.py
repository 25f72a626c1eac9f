"""Long texts are cut wherever they stand, and nothing else is touched."""

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.case import shorten
from harness.judging.results import Emission
from harness.turns.deltas import ArgumentsDelta, FinishReason, TextDelta, ToolCall
from harness.turns.turn import Turn
from harness.wire.frames import Frame


def test_each_long_text_of_a_turn_is_cut_and_says_so() -> None:
    turn = Turn(text="a" * 50, tool_calls=(ToolCall("c1", "f", "b" * 20),))
    short = shorten(turn, 10)
    assert short.text == "a" * 10 + "… (+40 characters)"
    assert short.tool_calls[0].arguments == "b" * 10 + "… (+10 characters)"
    assert (short.tool_calls[0].id, short.reasoning) == ("c1", "")


def test_rows_are_cut_one_by_one() -> None:
    rows = (Emission(TextDelta("x" * 9), 3), Emission(ArgumentsDelta(0, "y" * 9), 4))
    assert [type(row.delta) for row in shorten(rows, 5)] == [TextDelta, ArgumentsDelta]
    assert shorten((Frame(b"z" * 9, "", 7),), 5) == (Frame(b"z" * 5, "", 7),)


def test_an_enumeration_stays_one() -> None:
    assert shorten((FinishReason.CONTENT_FILTER,), 3) == (FinishReason.CONTENT_FILTER,)


@given(st.text(max_size=40))
def test_what_fits_is_the_same_object(text: str) -> None:
    turn = Turn(text=text)
    assert shorten(turn, 40) is turn
