"""The turn that a client reports becomes deltas: finish words, reasons and failures."""

import pytest

from harness.normalizers.client.lines import ClientCall, ClientFailure, ClientTurn
from harness.normalizers.client.turn import deltas_of_turn
from harness.turns.deltas import FinishReason
from harness.turns.fold import fold
from harness.turns.turn import Turn

CALL = ClientCall(id="a", name="get_time", arguments="{}")


def read(**members: object) -> Turn:
    return fold(deltas_of_turn(ClientTurn(id=1, **members)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("tool-calls", FinishReason.TOOL_CALLS),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("model_length", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("PROHIBITED_CONTENT", FinishReason.CONTENT_FILTER),
        ("moon_phase", FinishReason.OTHER),
        (None, FinishReason.OTHER),
    ],
)
def test_a_word_of_a_provider_is_kept_and_translated(
    word: str | None, reason: FinishReason
) -> None:
    finish = read(finish=word).finish
    assert finish is not None
    assert (finish.reason, finish.raw) == (reason, word or "")


def test_arguments_that_were_sent_are_kept_with_the_converted_ones() -> None:
    call = ClientCall(id="a", name="wait", arguments={"seconds": 5}, sent='{"seconds": "5"}')
    (found,) = read(calls=(call,), finish="tool_calls").tool_calls
    assert (found.arguments, found.sent) == ('{"seconds": 5}', '{"seconds": "5"}')


@pytest.mark.parametrize("value", ["{}", "[]", "0", "null", '"prose"', '{"a": Infinity}'])
def test_a_value_that_the_library_parsed_is_kept_as_it_is(value: str) -> None:
    turn = read(calls=(ClientCall(id="a", name="wait", value=value),), finish="tool_calls")
    assert [call.arguments for call in turn.tool_calls] == [value]
    withheld = ClientCall(id="a", name="wait", value=value, error="not executed")
    (error,) = read(calls=(withheld,), finish="tool_calls").parse_errors
    assert error.snippet == value


@pytest.mark.parametrize("reason", FinishReason)
@pytest.mark.parametrize("word", ["stop", "moon_phase", None])
def test_the_reason_of_the_library_goes_before_the_word(
    word: str | None, reason: FinishReason
) -> None:
    finish = read(finish=word, reason=reason).finish
    assert finish is not None
    assert (finish.reason, finish.raw) == (reason, word or "")


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "error"])
def test_a_word_that_spoils_the_turn_is_a_failure(word: str) -> None:
    turn = read(calls=(CALL,), finish=word)
    assert turn.failure is not None
    assert turn.failure.code == word
    assert (turn.tool_calls, len(turn.parse_errors)) == ((), 1)


def test_a_documented_exception_goes_before_a_finish() -> None:
    error = ClientFailure(type="APIError", documented=True, message="Overloaded.", code="529")
    turn = read(calls=(CALL,), finish="stop", error=error)
    assert turn.failure is not None
    assert (turn.failure.code, turn.failure.message) == ("529", "Overloaded.")
    assert turn.tool_calls == ()
