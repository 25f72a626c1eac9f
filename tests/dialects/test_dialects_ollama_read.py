"""Reading Ollama: what each line means, what fails, and that nothing hostile raises."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS, read_request
from harness.turns.deltas import Finish, FinishReason, StreamFailure, TextDelta, ToolCall, Usage
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from harness.wire.interaction import Request
from tests.dialects.scripted_turns import read_turn
from tests.dialects.test_dialects_openai_chat_hostile import ANYTHING, WORDS
from tests.replay_every_way import has_ended
from tests.tables import each_row

Json = dict[str, Any]
DONE: Json = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
STOP = Finish(FinishReason.STOP, "stop")
CALLED = Finish(FinishReason.TOOL_CALLS, "stop")


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def said(content: str = "", **fields: object) -> Json:
    return {"message": {"role": "assistant", "content": content, **fields}, "done": False}


def called(*calls: object) -> Json:
    return said(tool_calls=list(calls))


def function(name: object = "f", arguments: object = None, **fields: object) -> Json:
    return {**fields, "function": {"name": name, "arguments": arguments}}


@each_row(
    ("values", "turn"),
    [
        (
            [said("a"), said("b"), DONE | {"prompt_eval_count": 3, "eval_count": 4}],
            Turn("ab", finish=STOP, usage=Usage(3, 4)),
        ),
        ([said(thinking="t"), said("a"), DONE], Turn("a", "t", finish=STOP)),
        ([{"response": "a", "done": False}, {"response": "b", "done": True}],
         Turn("ab", finish=Finish(FinishReason.STOP, ""))),
        ([{"response": "", "thinking": "t", "done": True, "done_reason": "stop"}],
         Turn(reasoning="t", finish=STOP)),
        ([DONE | {"done_reason": "unload"}], Turn(finish=Finish(FinishReason.OTHER, "unload"))),
        ([{"done": True, "done_reason": "load"}], Turn(finish=Finish(FinishReason.OTHER, "load"))),
        (
            [called(function("f", {"a": 1}, id="x"))] * 2 + [DONE],
            Turn(tool_calls=(ToolCall("x", "f", '{"a": 1}'),), finish=CALLED),
        ),
        (
            [called(function("f", {"a": n}, id="x")) for n in (1, 2)] + [DONE],
            Turn(
                tool_calls=(ToolCall("x", "f", '{"a": 1}'), ToolCall("x-1", "f", '{"a": 2}')),
                finish=CALLED,
            ),
        ),
        ([called(function("f", None, id="x")), DONE],
         Turn(tool_calls=(ToolCall("x", "f", ""),), finish=CALLED)),
        ([called({"id": "x", "function": {"name": "f"}}), DONE],
         Turn(tool_calls=(ToolCall("x", "f", ""),), finish=CALLED)),
        ([said("a"), DONE, said("b"), {"error": "late"}], Turn("a", finish=STOP)),
    ],
)  # fmt: skip
def test_lines_mean(values: list[Json], turn: Turn) -> None:
    assert read_turn("ollama", lines(*values)) == turn


@each_row(
    ("body", "failure"),
    [
        (lines(said("a"), {"error": "out of memory"}), StreamFailure("error", "out of memory")),
        (
            lines({"error": {"message": "no", "type": "api_error", "code": None}}),
            StreamFailure("api_error", "no"),
        ),
        (lines({"error": ["odd"]}), StreamFailure("error", "['odd']")),
        (
            lines(said("a"), DONE | {"done_reason": "error"}),
            StreamFailure("error", "the provider finished the turn with 'error'"),
        ),
        (
            lines(said("a")),
            StreamFailure("interrupted", "the stream ended without a line that says `done`"),
        ),
        (b"", StreamFailure("empty_stream", "the stream held no event")),
    ],
)
def test_what_ends_badly_fails(body: bytes, failure: StreamFailure) -> None:
    assert read_turn("ollama", body).failure == failure


@pytest.mark.parametrize(
    "body",
    [
        lines({"choices": [{"index": 0, "delta": {"content": "a"}}]}),
        lines({"type": "message-start", "delta": {"message": {}}}),
        lines({"candidates": []}),
        b'data: {"type": "response.created", "response": {}}\n\n',
    ],
)
def test_another_api_is_told(body: bytes) -> None:
    failure = read_turn("ollama", body).failure
    assert failure is not None
    assert failure.code == "unknown_envelope"


@each_row(
    ("call", "why"),
    [
        ("text", "no call of a function"),
        ({"id": "x"}, "no call of a function"),
        (function("", {}), "no name"),
        (function(7, {}), "no name"),
        (function("f", [1]), "object"),
        (function("f", "not json"), "JSON"),
    ],
)
def test_a_call_that_is_none_is_reported_and_its_sibling_runs(call: object, why: str) -> None:
    turn = read_turn("ollama", lines(called(call, function("g", {"b": 1}, id="y")), DONE))
    assert [error.error for error in turn.parse_errors if why in error.error]
    assert turn.tool_calls == (ToolCall("y", "g", '{"b": 1}'),)


def test_arguments_keep_every_key_and_digit() -> None:
    spelt = '{"a": 1.50, "n": 12345678901234567890.10, "s": "\\ud83d"}'
    body = lines(called({"function": {"name": "f", "arguments": "HERE"}}), DONE)
    turn = read_turn("ollama", body.replace(b'"HERE"', spelt.encode()))
    assert turn.tool_calls[0].arguments == spelt


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('"{\\"a\\": \\"\\u00e9\\"}"', '{"a": "é"}'),
        ('"\\ud83d"', "\ufffd"),
        ("[1.50]", "[1.50]"),
        ("1.50", "1.50"),
        ("null", ""),
    ],
)
def test_arguments_of_other_types_keep_their_text(written: str, arguments: str) -> None:
    body = lines(called({"function": {"name": "f", "arguments": "HERE"}}), DONE)
    turn = read_turn("ollama", body.replace(b'"HERE"', written.encode()))
    found = [call.arguments for call in turn.tool_calls] or [it.snippet for it in turn.parse_errors]
    assert found == [arguments]


def test_ids_of_two_responses_differ() -> None:
    first, second = (
        read_turn("ollama", lines(called(function("f", {})) | {"created_at": at}, DONE))
        for at in ("2026-01-05T10:00:00Z", "2026-01-05T10:00:01Z")
    )
    assert first.tool_calls[0].id != second.tool_calls[0].id


def test_text_comes_out_before_the_stream_is_over() -> None:
    reads = iter((lines(said("a")), lines(DONE)))
    deltas = DIALECTS["ollama"].read(iter_frames(reads), ())
    assert next(deltas) == TextDelta("a")
    assert next(reads) == lines(DONE)


LINES = ANYTHING | st.fixed_dictionaries(
    {},
    optional={
        "message": ANYTHING
        | st.fixed_dictionaries(
            {},
            optional={
                "content": WORDS | ANYTHING,
                "thinking": WORDS | ANYTHING,
                "tool_calls": ANYTHING
                | st.lists(
                    ANYTHING
                    | st.fixed_dictionaries(
                        {"function": st.fixed_dictionaries({"name": WORDS, "arguments": ANYTHING})},
                        optional={"id": WORDS},
                    ),
                    max_size=3,
                ),
            },
        ),
        "response": WORDS | ANYTHING,
        "done": st.booleans() | ANYTHING,
        "done_reason": WORDS | ANYTHING,
        "error": ANYTHING,
        "created_at": ANYTHING,
        "prompt_eval_count": ANYTHING,
        "eval_count": ANYTHING,
    },
)


@given(st.lists(LINES, max_size=4), st.booleans())
def test_no_line_of_any_shape_raises_or_breaks_the_protocol(
    values: list[Any],
    framed: bool,  # noqa: FBT001 - drawn
) -> None:
    body = lines(*values)
    if framed:
        body = b"".join(b"data: " + line + b"\n\n" for line in body.splitlines())
    assert has_ended(read_turn("ollama", body))


def test_requests_are_read() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    chat = {
        "model": "qwen3:4b",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "?"}],
        "tools": [tool, "odd", {"type": "function", "function": None}],
    }
    read = read_request("ollama", Request(body=json.dumps(chat).encode()))
    assert (read.model, read.system, read.stream) == ("qwen3:4b", "Be brief.", True)
    assert [(tool.name, tool.parameters) for tool in read.tools] == [
        ("f", {"type": "object"}),
        ("", {}),
    ]


def test_a_generate_request_is_read() -> None:
    body = b'{"model": "gemma3", "prompt": "?", "system": "Be brief.", "stream": false}'
    read = read_request("ollama", Request(body=body))
    assert (read.model, read.system, read.stream) == ("gemma3", "Be brief.", False)
