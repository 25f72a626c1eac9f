"""Long texts of a case are cut, and nothing else is changed."""

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.case import shorten
from harness.judging.results import Emission
from harness.turns.deltas import ArgumentsDelta, FinishReason, TextDelta, ToolCall
from harness.turns.turn import Turn
from harness.wire.frames import Frame


def test_shorten_cuts_each_long_text_and_states_the_rest() -> None:
    turn = Turn(text="a" * 50, tool_calls=(ToolCall("c1", "f", "b" * 20),))
    short = shorten(turn, 10)
    assert short.text == "a" * 10 + "… (+40 characters)"
    assert short.tool_calls[0].arguments == "b" * 10 + "… (+10 characters)"
    assert (short.tool_calls[0].id, short.reasoning) == ("c1", "")


def test_shorten_cuts_each_row() -> None:
    rows = (Emission(TextDelta("x" * 9), 3), Emission(ArgumentsDelta(0, "y" * 9), 4))
    assert [type(row.delta) for row in shorten(rows, 5)] == [TextDelta, ArgumentsDelta]
    assert shorten((Frame(b"z" * 9, "", 7),), 5) == (Frame(b"z" * 5, "", 7),)


def test_shorten_keeps_enumerations() -> None:
    assert shorten((FinishReason.CONTENT_FILTER,), 3) == (FinishReason.CONTENT_FILTER,)


@given(st.text(max_size=40))
def test_shorten_returns_the_same_object_when_it_fits(text: str) -> None:
    turn = Turn(text=text)
    assert shorten(turn, 40) is turn
