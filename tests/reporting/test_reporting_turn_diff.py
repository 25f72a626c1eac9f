"""The difference of two turns: which fields, and which part of them."""

from hypothesis import given
from hypothesis import strategies as st

from harness.judging.expectation import ALL_FIELDS
from harness.reporting.pages.cases import Parts, differences
from harness.turns.deltas import Finish, FinishReason, ParseError, StreamFailure, ToolCall, Usage
from harness.turns.turn import Turn

_FULL = Turn(
    text="a",
    reasoning="b",
    tool_calls=(ToolCall("1", "f", '{"city": "Rome"}'),),
    parse_errors=(ParseError("tool_use", "truncated", '{"a'),),
    finish=Finish(FinishReason.STOP, "stop"),
    usage=Usage(1, 2),
    failure=StreamFailure("interrupted"),
)


def _text(parts: Parts) -> str:
    return "".join(piece.text for part in parts for piece in part)


def test_equal_turns_have_no_difference() -> None:
    assert differences(_FULL, _FULL) == ()


def test_every_field_of_a_turn_is_compared() -> None:
    found = differences(_FULL, Turn())
    paths = {each.path.partition("[")[0].partition(".")[0] for each in found}
    # What is sealed is judged in the next request, not in its turn.
    assert paths == set(Turn.__struct_fields__) - {"sealed"}


def test_only_the_different_part_is_between() -> None:
    call = ToolCall("1", "f", '{"city": "Rio"}')
    (found,) = differences(Turn(tool_calls=_FULL.tool_calls), Turn(tool_calls=(call,)))
    assert found.path == "tool_calls[0].arguments"
    assert [_text((part, (), ())) for part in found.expected] == ['{"city": "R', "ome", '"}']
    assert [_text((part, (), ())) for part in found.actual] == ['{"city": "R', "io", '"}']


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_the_parts_of_a_short_text_are_the_text(expected: str, actual: str) -> None:
    for found in differences(Turn(text=expected), Turn(text=actual)):
        assert (_text(found.expected), _text(found.actual)) == (expected, actual)


def test_what_is_open_is_no_difference() -> None:
    wanted = Turn(
        tool_calls=(ToolCall("", "f", '{"a":1,"b":2}'),),
        parse_errors=(ParseError("tool_use", "", "x"),),
        finish=Finish(FinishReason.STOP),
        failure=StreamFailure("*", "quota"),
    )
    got = Turn(
        text="not judged",
        tool_calls=(ToolCall("call_0", "f", '{"a": 1, "b": 2}'),),
        parse_errors=(ParseError("tool_use", "truncated", "axb", "1", "g"),),
        finish=Finish(FinishReason.STOP, "eos"),
        failure=StreamFailure("http_429", "over quota"),
    )
    judged = ALL_FIELDS - {"text"}
    assert differences(wanted, got, judged) == ()
    assert [each.path for each in differences(wanted, got)] == ["text"]


def test_what_must_be_there_and_is_not_is_a_difference_even_where_it_is_open() -> None:
    wanted = Turn(tool_calls=(ToolCall("", "f", "{}"),), failure=StreamFailure("*", "quota"))
    paths = [each.path for each in differences(wanted, Turn())]
    assert paths[:2] == ["tool_calls[0].name", "tool_calls[0].arguments"]
    assert paths[2:] == ["failure.code", "failure.message"]


def test_key_order_and_kinds_of_numbers_count() -> None:
    wanted = Turn(tool_calls=(ToolCall("1", "f", '{"a": 1}'),))
    got = Turn(tool_calls=(ToolCall("1", "f", '{"a": 1.0}'),))
    assert [each.path for each in differences(wanted, got)] == ["tool_calls[0].arguments"]


def test_what_is_absent_says_so() -> None:
    found = differences(Turn(), Turn(finish=Finish(FinishReason.STOP)))
    assert _text(found[0].expected) == "nothing"
