"""`anthropic-sdk`: clean streams come out as they went in, guessed arguments as guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("anthropic", reason="the extra anthropic is not installed")
pytest.importorskip("httpx2", reason="the extra anthropic is not installed")

from harness.dialects.anthropic.write import write
from harness.normalizers.discovery import load_normalizer
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns, replayed, with_same_arguments

SDK = load_normalizer("anthropic-sdk")
CALL = (ToolCallStart(0, "call_a", "get"), ArgumentsDelta(0, '{"a": 1}'), ToolCallEnd(0))


@given(clean_turns("end_turn", "tool_use"), st.data())
def test_written_streams_round_trip(said: list[Delta], data: st.DataObject) -> None:
    interaction = an_answer("anthropic", tuple(write(said)))
    cuts = data.draw(st.sets(st.integers(1, len(interaction.body) - 1), max_size=9))
    done, expected = replayed(SDK, interaction, tuple(sorted(cuts))), fold(said)
    assert (done.error, with_same_arguments(done.turn, expected)) == ("", expected)


def test_the_tool_runner_executes_no_call_of_a_message_without_an_end() -> None:
    events = tuple(write([TextDelta("So."), *CALL, StreamFailure("interrupted")]))
    at = next(n for n, event in enumerate(events) if b'1}"' in event)
    begun = events[at].replace(rb"1}", b"1")
    turn = replayed(SDK, an_answer("anthropic", (*events[:at], begun))).turn
    assert (turn.failure, turn.finish) == (None, Finish(FinishReason.OTHER, ""))
    assert [error.snippet for error in turn.parse_errors] == ['{"a": 1}']


@pytest.mark.parametrize(
    ("word", "is_run"),
    [("tool_use", True), ("end_turn", False), ("max_tokens", False), ("refusal", False)],
)
def test_the_tool_runner_executes_no_call_of_a_message_with_another_reason(
    word: str, *, is_run: bool
) -> None:
    events = tuple(write([*CALL, Finish(FinishReason.OTHER, word)]))
    turn = replayed(SDK, an_answer("anthropic", events)).turn
    assert [call.id for call in turn.tool_calls] == ["call_a"] * is_run
    assert [error.id for error in turn.parse_errors] == ["call_a"] * (not is_run)


def test_an_error_event_is_a_failure_with_its_code() -> None:
    events = tuple(write([*CALL, StreamFailure("overloaded_error", "busy")]))
    turn = replayed(SDK, an_answer("anthropic", events)).turn
    assert turn.failure == StreamFailure("overloaded_error", "busy")
    assert [error.name for error in turn.parse_errors] == ["get"]
