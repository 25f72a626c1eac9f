"""`openai-sdk`: clean streams come out as they went in; faults are neither hidden nor mended."""

import json
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("openai", reason="the extra openai is not installed")
pytest.importorskip("httpx2", reason="the extra openai is not installed")

from harness.dialects.openai_chat.write import write
from harness.normalizers.discovery import load_normalizer
from harness.turns.deltas import Delta, Finish, FinishReason, StreamFailure, TextDelta
from harness.turns.fold import fold
from tests.judging.judging_samples import DONE, call, chunk
from tests.normalizers.sdk.sdk_streams import an_answer, clean_turns, replayed

SDK = load_normalizer("openai-sdk")
WEATHER = call('{"city": "Oslo"}', id="call_a", name="get_weather")


@given(clean_turns("stop", "tool_calls"), st.data())
def test_a_clean_stream_comes_out_as_it_went_in(said: list[Delta], data: st.DataObject) -> None:
    interaction = an_answer("openai-chat", tuple(write(said)))
    cuts = data.draw(st.sets(st.integers(1, len(interaction.body) - 1), max_size=9))
    done = replayed(SDK, interaction, tuple(sorted(cuts)))
    assert (done.error, done.turn) == ("", fold(said))


def test_text_is_out_before_the_next_read() -> None:
    events = (chunk({"content": "Hel"}), chunk({"content": "lo"}), chunk(None, "stop"), DONE)
    emitted = replayed(SDK, an_answer("openai-chat", events)).emissions
    assert [e.bytes_read for e in emitted if isinstance(e.delta, TextDelta)] == [
        len(events[0]),
        len(events[0] + events[1]),
    ]


def test_arguments_that_are_no_json_are_reported_and_stay_text() -> None:
    events = (call('{"city": ', id="call_a", name="get_weather"), chunk(None, "tool_calls"), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert not turn.tool_calls
    assert [(error.name, error.snippet) for error in turn.parse_errors] == [
        ("get_weather", '{"city": ')
    ]


def test_empty_names_and_missing_ids_are_handed_over_as_they_are() -> None:
    events = (call("{}", name=""), chunk(None, "tool_calls"), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert [(found.id, found.name) for found in turn.tool_calls] == [("", "")]


def test_a_loop_of_agent_code_executes_no_call_of_an_answer_without_a_finish_reason() -> None:
    turn = replayed(SDK, an_answer("openai-chat", (WEATHER,))).turn
    assert turn.failure is not None
    assert turn.failure.code == "interrupted"
    assert [error.name for error in turn.parse_errors] == ["get_weather"]


def test_a_text_without_a_finish_reason_is_handed_over() -> None:
    turn = replayed(SDK, an_answer("openai-chat", (chunk({"content": "Hi."}),))).turn
    assert (turn.text, turn.failure, turn.finish) == ("Hi.", None, Finish(FinishReason.OTHER, ""))


@pytest.mark.parametrize("word", ["length", "content_filter"])
def test_the_exception_for_a_limit_hands_over_its_completion(word: str) -> None:
    broken = call('{"city": "Os', id="call_b", name="get_time", index=1)
    empty = call("", id="call_c", name="get_date", index=2)
    events = (WEATHER, broken, empty, chunk(None, word), DONE)
    turn = replayed(SDK, an_answer("openai-chat", events)).turn
    assert turn.finish == Finish(FinishReason(word), word)
    assert [found.id for found in turn.tool_calls] == ["call_a"]
    assert [error.id for error in turn.parse_errors] == ["call_b", "call_c"]


def test_an_error_in_the_stream_is_a_failure_with_its_code() -> None:
    error = {"error": {"message": "overloaded", "code": "busy", "type": "server_error"}}
    event = b"data: " + json.dumps(error).encode() + b"\n\n"
    turn = replayed(SDK, an_answer("openai-chat", (WEATHER, event))).turn
    assert turn.failure == StreamFailure("busy", "overloaded")
    assert [error.name for error in turn.parse_errors] == ["get_weather"]


@pytest.mark.parametrize(
    ("body", "code"),
    [(b'{"error": {"message": "no", "code": "bad_key"}}', "bad_key"), (b"", "http_401")],
)
def test_an_error_status_is_a_failure_and_is_not_tried_again(body: bytes, code: str) -> None:
    done = replayed(SDK, an_answer("openai-chat", (body,), 401))
    assert done.error == ""
    assert done.turn.failure is not None
    assert done.turn.failure.code == code


def test_a_refusal_is_a_failure() -> None:
    events = (chunk({"refusal": "I will not."}), chunk(None, "stop"), DONE)
    assert replayed(SDK, an_answer("openai-chat", events)).turn.failure == StreamFailure(
        "refusal", "I will not."
    )


def test_reasoning_is_what_the_package_keeps_of_it() -> None:
    events = (chunk({"reasoning_content": "Hm."}), chunk({"content": "Yes."}), chunk(None, "stop"))
    turn = replayed(SDK, an_answer("openai-chat", (*events, DONE))).turn
    assert (turn.reasoning, turn.text) == ("Hm.", "Yes.")


def test_the_older_field_is_read_where_there_are_no_calls() -> None:
    older = chunk({"function_call": {"name": "get_weather", "arguments": "{}"}})
    turn = replayed(SDK, an_answer("openai-chat", (older, chunk(None, "function_call"), DONE))).turn
    assert [(found.name, found.arguments) for found in turn.tool_calls] == [("get_weather", "{}")]


def test_what_the_package_raises_without_saying_so_is_a_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("index")

    chat = import_module("openai.lib.streaming.chat")
    monkeypatch.setattr(chat.ChatCompletionStreamState, "handle_chunk", broken)
    assert replayed(SDK, an_answer("openai-chat", (WEATHER,))).error == "KeyError: 'index'"
