"""`openai-sdk-responses`: what the last event holds is handed over, and only that."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("openai", reason="the extra openai is not installed")
pytest.importorskip("httpx2", reason="the extra openai is not installed")

from harness.dialects.openai_responses.write import write
from harness.normalizers.discovery import load_normalizer
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns, replayed

SDK = load_normalizer("openai-sdk-responses")
CALL = (ToolCallStart(0, "call_a", "get"), ArgumentsDelta(0, '{"a": 1}'), ToolCallEnd(0))


@given(clean_turns("completed", "completed", usage_first=True), st.data())
def test_a_clean_stream_comes_out_as_they_went_in(said: list[Delta], data: st.DataObject) -> None:
    interaction = an_answer("openai-responses", tuple(write(said)))
    cuts = data.draw(st.sets(st.integers(1, len(interaction.body) - 1), max_size=9))
    done = replayed(SDK, interaction, tuple(sorted(cuts)))
    assert (done.error, done.turn) == ("", fold(said))


def test_a_stream_that_just_ends_gives_agent_code_no_call() -> None:
    events = tuple(write([*CALL, Finish(FinishReason.TOOL_CALLS, "completed")]))
    turn = replayed(SDK, an_answer("openai-responses", events[:-1])).turn
    assert turn.failure is not None
    assert turn.failure.code == "interrupted"
    assert [error.id for error in turn.parse_errors] == ["call_a"]


def test_a_failed_response_is_a_failure_with_its_code() -> None:
    events = tuple(write([*CALL, StreamFailure("server_error", "overloaded")]))
    turn = replayed(SDK, an_answer("openai-responses", events)).turn
    assert turn.failure == StreamFailure("server_error", "overloaded")
    assert not turn.tool_calls


def test_an_action_of_the_client_is_handed_over_with_its_content() -> None:
    action = {"type": "exec", "command": ["date"], "env": {}}
    ids = {"id": "lsh_1", "call_id": "call_s"}
    shell = {"type": "local_shell_call", **ids, "status": "completed", "action": action}
    *first, last = write([Finish(FinishReason.STOP, "completed")])
    ended = last.replace(b'"output": []', b'"output": [' + json.dumps(shell).encode() + b"]")
    turn = replayed(SDK, an_answer("openai-responses", (*first, ended))).turn
    (call,) = turn.tool_calls
    assert (call.id, call.name, call.kind) == ("call_s", "local_shell", "action")
    assert (json.loads(call.arguments), turn.parse_errors) == (action, ())


def test_an_incomplete_response_says_why() -> None:
    events = tuple(write([*CALL, Finish(FinishReason.LENGTH, "max_output_tokens")]))
    finish = replayed(SDK, an_answer("openai-responses", events)).turn.finish
    assert finish == Finish(FinishReason.LENGTH, "max_output_tokens")
