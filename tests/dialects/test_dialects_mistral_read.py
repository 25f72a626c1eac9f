"""What the Mistral reader makes of what its writer never spells."""

import json
from typing import Any

import pytest

from harness.dialects.kit.parse_request import ChatRequest
from harness.dialects.mistral import DIALECT
from harness.turns.turn import Tool, Turn
from tests.dialects.scripted_turns import read_turn
from tests.tables import each_row

Json = dict[str, Any]
OSLO, ROME = '{"city":"Oslo"}', '{"city":"Rome"}'


def chunk(delta: object, finish: object = None, **fields: object) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "r1", "object": "chat.completion.chunk", "choices": [choice], **fields}


def entry(name: object = "f", arguments: object = OSLO, **fields: object) -> Json:
    return {"function": {"name": name, "arguments": arguments}, **fields}


def sse(*events: Json | bytes) -> bytes:
    payloads = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in events]
    return b"".join(b"data: " + payload + b"\n\n" for payload in payloads)


def read(*events: Json | bytes) -> Turn:
    return read_turn("mistral", sse(*events))


def calls(*entries: Json) -> Turn:
    """Read entries, each in a delta of its own."""
    deltas = [chunk({"tool_calls": [each]}) for each in entries]
    return read(*deltas, chunk({}, "tool_calls"), b"[DONE]")


def said(turn: Turn) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in turn.tool_calls]


def failure(turn: Turn) -> tuple[str, str]:
    assert turn.failure is not None
    return turn.failure.code, turn.failure.message


# Calls


@pytest.mark.parametrize(
    "first",
    [{}, {"id": "null"}, {"id": ""}, {"id": None}, {"index": 0, "id": "null"}],
    ids=str,
)
def test_whole_calls_without_an_id_stay_apart(first: Json) -> None:
    turn = calls(entry(**first), entry(arguments=ROME, **first))
    assert said(turn) == [("f", OSLO), ("f", ROME)]


def test_an_id_that_comes_later_is_the_calls() -> None:
    turn = calls(entry(arguments="", index=0), entry("", OSLO, index=0, id="x1"))
    assert said(turn) == [("f", OSLO)]


def test_a_name_that_comes_again_without_an_id_continues_its_call() -> None:
    turn = calls(entry(arguments='{"city":'), entry(arguments='"Oslo"}'))
    assert said(turn) == [("f", OSLO)]


def test_another_name_at_the_same_index_is_another_call() -> None:
    turn = calls(entry(index=0), entry("g", ROME, index=0))
    assert said(turn) == [("f", OSLO), ("g", ROME)]


def test_fragments_of_two_calls_may_alternate() -> None:
    turn = calls(
        entry(arguments='{"city":', id="a", index=0),
        entry(arguments='{"city":', id="b", index=1),
        entry("", '"Oslo"}', index=0),
        entry("", '"Rome"}', index=1, id="null"),
    )
    assert said(turn) == [("f", OSLO), ("f", ROME)]


def test_siblings_may_share_an_id_where_their_index_tells_them_apart() -> None:
    turn = calls(entry(id="x", index=0), entry(arguments=ROME, id="x", index=1))
    assert said(turn) == [("f", OSLO), ("f", ROME)]
    assert len({call.id for call in turn.tool_calls}) == 2


def test_an_object_keeps_digits_and_repeated_keys() -> None:
    text = '{"n": 1.10, "n": 12345678901234567890123}'
    event = json.dumps(chunk({"tool_calls": [entry(arguments={})]}, "tool_calls"))
    turn = read(event.replace('"arguments": {}', f'"arguments": {text}').encode())
    assert [error.snippet for error in turn.parse_errors] == [text]


@pytest.mark.parametrize("bad", [entry(type="custom"), entry(""), entry("", OSLO, id="x")])
def test_what_is_no_function_with_a_name_is_rejected(bad: Json) -> None:
    turn = calls(bad)
    assert turn.tool_calls == ()
    assert len(turn.parse_errors) == 1


# Content


def test_parts_are_text_reasoning_or_silent() -> None:
    parts = [
        {"type": "thinking", "thinking": "a"},
        {"type": "thinking", "thinking": [{"type": "text", "text": "b"}, {"type": "x"}, 1]},
        {"type": "text", "text": "c"},
        "d",
        {"type": "reference", "reference_ids": [1]},
        {"type": "image_url", "image_url": "x", "text": "no"},
        {"type": ["text"], "text": "no"},
    ]
    turn = read(chunk({"content": parts}), chunk({"content": "e"}, "stop"))
    assert (turn.reasoning, turn.text) == ("ab", "cde")


# The end


def test_an_error_as_finish_reason_fails_the_turn_whatever_stands_before() -> None:
    turn = read(chunk({"tool_calls": [entry()]}, "tool_calls"), chunk({}, "error"), b"[DONE]")
    assert failure(turn)[0] == "error"
    assert turn.tool_calls == ()


def test_nothing_takes_the_first_finish_reason_back() -> None:
    turn = read(chunk({"content": "a"}, "length"), chunk({}, "stop"))
    assert turn.finish is not None
    assert turn.finish.raw == "length"


@each_row(
    ("event", "told"),
    [
        ({"object": "error", "message": "m", "type": "t", "code": None}, ("t", "m")),
        ({"object": "error", "message": "m", "type": "t", "code": "1"}, ("1", "m")),
        ({"error": {"message": "m", "code": 429}}, ("429", "m")),
        ({"error": "m"}, ("error", "m")),
        ({"message": "Unauthorized", "request_id": "x"}, ("error", "Unauthorized")),
        ({"detail": "Not Found"}, ("error", "Not Found")),
    ],
)
def test_errors_in_each_shape(event: Json, told: tuple[str, str]) -> None:
    assert failure(read(chunk({"content": "a"}), event)) == told
    assert failure(read_turn("mistral", json.dumps(event).encode())) == told


@pytest.mark.parametrize("event", [{"candidates": []}, {"type": "message_start"}, {}])
def test_what_is_no_event_of_this_api_is_an_unknown_envelope(event: Json) -> None:
    assert failure(read(event))[0] == "unknown_envelope"


@pytest.mark.parametrize("body", [b"", b"data: [DONE]\n\n", b": wait\n\n"])
def test_nothing_is_never_a_success(body: bytes) -> None:
    assert failure(read_turn("mistral", body))[0] == "empty_stream"


# Requests


def test_a_request_says_model_tools_and_system_text() -> None:
    declared = {"name": "f", "description": "d", "parameters": {"type": "object"}}
    value = {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be "}, {"text": "brief."}]},
            {"role": "user", "content": "Hi"},
        ],
        "tools": [{"type": "function", "function": declared}, {"type": "web_search"}, 1],
    }
    wanted = ChatRequest(
        "m", (Tool("f", "d", {"type": "object"}),), "Be brief.", stream=True, tools_known=True
    )
    assert DIALECT.parse_request("https://x/v1/chat/completions", value) == wanted


def test_a_hostile_request_is_empty() -> None:
    value = {"model": 1, "stream": "yes", "messages": {"a": 1}, "tools": [{"function": []}]}
    assert DIALECT.parse_request("", value) == ChatRequest(tools_known=True)
