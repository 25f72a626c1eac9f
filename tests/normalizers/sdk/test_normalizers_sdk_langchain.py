"""`langchain-openai`: clean streams come out as they went in, guessed arguments as guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

pytest.importorskip("langchain_openai", reason="the extra langchain-openai is not installed")
pytest.importorskip("httpx2", reason="the extra langchain-openai is not installed")

from harness.dialects.openai_chat.write import write
from harness.normalizers.discovery import load_normalizer
from harness.turns.deltas import Delta, Finish, FinishReason, StreamFailure
from harness.turns.fold import fold
from harness.wire.interaction import Request
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


@pytest.mark.parametrize("reason", ["length", "tool_calls"])
def test_a_call_that_was_cut_off_is_handed_over_as_the_agent_loop_executes_it(reason: str) -> None:
    """Whether a tool accepts the arguments depends on the tool, which is the user's code."""
    function = {"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}
    asked = json.dumps({"tools": [{"type": "function", "function": function}]}).encode()
    events = (call('{"unit": "C', id="call_a", name="get_weather"), chunk(None, reason), DONE)
    request = Request("POST", "", (), asked)
    interaction = replace(an_answer("openai-chat", events), request=request)
    turn = replayed(SDK, interaction).turn
    assert [(found.name, found.arguments) for found in turn.tool_calls] == [
        ("get_weather", '{"unit": "C"}')
    ]
    assert turn.parse_errors == ()


def test_arguments_that_the_package_cannot_parse_are_reported() -> None:
    events = (call("nothing", id="call_a", name="get_weather"), chunk(None, "tool_calls"), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert [(error.id, error.name) for error in turn.parse_errors] == [("call_a", "get_weather")]


def test_a_stream_that_just_ends_is_an_answer_without_a_reason() -> None:
    turn = replayed(SDK, an_answer("openai-chat", (chunk({"content": "So."}),))).turn
    assert (turn.failure, turn.finish) == (None, Finish(FinishReason.OTHER, ""))


@pytest.mark.parametrize("word", ["stop", "tool_calls"])
def test_the_agent_loop_looks_at_calls_and_the_word_of_the_provider_is_kept(word: str) -> None:
    events = (call("{}", id="call_a", name="get_weather"), chunk(None, word), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert turn.finish == Finish(FinishReason.TOOL_CALLS, word)


def test_the_older_field_is_in_additional_kwargs() -> None:
    older = chunk({"function_call": {"name": "get_weather", "arguments": '{"a": 1}'}})
    turn = replayed(SDK, an_answer("openai-chat", (older, chunk(None, "function_call"), DONE))).turn
    assert [(it.name, it.arguments) for it in turn.tool_calls] == [("get_weather", '{"a": 1}')]
    assert turn.finish == Finish(FinishReason.TOOL_CALLS, "function_call")


def test_a_call_without_a_name_is_answered_with_an_error() -> None:
    events = (call("{}", id="call_a", name=""), chunk(None, "tool_calls"), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert [error.id for error in turn.parse_errors] == ["call_a"]
    assert not turn.tool_calls


@pytest.mark.parametrize("wanted", [None, {"type": "json_object"}])
def test_a_refusal_is_read_if_the_request_had_a_response_format(wanted: object) -> None:
    refused = chunk({"role": "assistant", "refusal": "I will not."})
    answer = an_answer("openai-chat", (refused, chunk(None, "stop"), DONE))
    body = json.dumps({} if wanted is None else {"response_format": wanted}).encode()
    turn = replayed(SDK, replace(answer, request=Request(body=body))).turn
    failure = None if wanted is None else StreamFailure("refusal", "I will not.")
    assert turn.failure == failure
