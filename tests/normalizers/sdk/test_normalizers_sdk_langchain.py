"""`langchain-openai`: clean streams come out as they went in, guessed arguments as guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langchain_openai", reason="the extra langchain-openai is not installed")
pytest.importorskip("httpx2", reason="the extra langchain-openai is not installed")

from harness.dialects.openai_chat.write import write
from harness.normalizers.discovery import load_normalizer
from harness.turns.deltas import Delta
from harness.turns.fold import fold
from tests.judging.judging_samples import DONE, call, chunk
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns, replayed, with_same_arguments

SDK = load_normalizer("langchain-openai")


@given(clean_turns("stop", "tool_calls"), st.data())
def test_written_streams_round_trip(said: list[Delta], data: st.DataObject) -> None:
    interaction = an_answer("openai-chat", tuple(write(said)))
    cuts = data.draw(st.sets(st.integers(1, len(interaction.body) - 1), max_size=9))
    done, expected = replayed(SDK, interaction, tuple(sorted(cuts))), fold(said)
    assert (done.error, with_same_arguments(done.turn, expected)) == ("", expected)


def test_arguments_that_never_became_whole_are_handed_over_as_the_package_guessed_them() -> None:
    events = (call('{"city": "Os', id="call_a", name="get_weather"), chunk(None, "length"), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert [found.arguments for found in turn.tool_calls] == ['{"city": "Os"}']


def test_arguments_that_the_package_cannot_parse_are_reported() -> None:
    events = (call("nothing", id="call_a", name="get_weather"), chunk(None, "tool_calls"), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert [(error.id, error.name) for error in turn.parse_errors] == [("call_a", "get_weather")]


def test_a_stream_that_just_ends_is_interrupted() -> None:
    turn = replayed(SDK, an_answer("openai-chat", (chunk({"content": "So."}),))).turn
    assert turn.failure is not None
    assert turn.failure.code == "interrupted"
