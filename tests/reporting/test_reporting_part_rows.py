"""The rows of two turns: which fields differ, with entire values, and what is as expected."""

from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.part_rows import Pieces, differences, part_rows
from harness.results.expectation import ALL_FIELDS
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


def _text(shown: Pieces) -> str:
    return "".join(piece.text for piece in shown)


def test_equal_turns_have_no_difference() -> None:
    assert differences(_FULL, _FULL) == ()


def test_every_field_of_a_turn_is_compared() -> None:
    found = differences(_FULL, Turn())
    paths = {each.path.partition("[")[0].partition(".")[0] for each in found}
    # What is sealed is judged in the next request, not in its turn.
    assert paths == set(Turn.__struct_fields__) - {"sealed"}


def test_values_that_differ_are_entire_and_the_rest_of_the_turn_is_next_to_them() -> None:
    call = ToolCall("1", "f", '{"city": "Rio"}')
    turn = Turn(text="a", tool_calls=(call,), finish=Finish(FinishReason.STOP, "stop"))
    expected = Turn(text="a", tool_calls=_FULL.tool_calls, finish=_FULL.finish)
    rows = part_rows(expected, turn)
    assert [row.label for row in rows] == [
        "text",
        "tool_calls[0].arguments",
        "tool_calls[0]",
        "finish",
    ]
    assert _text(rows[1].expected) == '{"city": "Rome"}'
    assert _text(rows[1].actual) == '{"city": "Rio"}'
    assert [(name, _text(shown)) for name, shown in rows[2].same] == [("name", "f"), ("id", "1")]
    assert all(not row.expected for row in (rows[0], rows[2], rows[3]))


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_short_texts_are_shown_entire(expected: str, actual: str) -> None:
    for row in part_rows(Turn(text=expected), Turn(text=actual)):
        if row.expected or row.actual:
            assert (_text(row.expected), _text(row.actual)) == (expected, actual)
        else:
            assert (row.label, expected) == ("text", actual)


def test_long_texts_begin_shortly_before_their_first_difference() -> None:
    (row,) = part_rows(Turn(text="x" * 5_000 + "a"), Turn(text="x" * 5_000 + "b"))
    assert row.note == "differs from character 5,000"
    assert _text(row.actual) == "4,880 characters before" + "x" * 120 + "b"


def test_a_call_that_is_missing_or_was_not_expected_is_one_row() -> None:
    (missing,) = part_rows(Turn(tool_calls=_FULL.tool_calls), Turn())
    assert (missing.label, _text(missing.actual)) == ("tool_calls[0]", "nothing")
    assert _text(missing.expected) == 'f  1  {"city": "Rome"}'
    surplus, *_ = part_rows(Turn(), Turn(tool_calls=_FULL.tool_calls))
    assert (surplus.label, _text(surplus.expected)) == ("tool_calls[0]", "nothing")


def test_fields_that_are_not_judged_say_so() -> None:
    (row,) = part_rows(Turn(), Turn(text="free"), ALL_FIELDS - {"text"})
    assert (row.label, row.note, row.expected) == ("text", "not judged", ())


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
    assert found[0].expected is None
