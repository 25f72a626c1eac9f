"""Reading Cohere: what each event means, what fails, and that nothing hostile raises."""

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
from tests.dialects.openai_chat_streams import sse
from tests.dialects.scripted_turns import read_turn
from tests.dialects.test_dialects_openai_chat_hostile import ANYTHING, WORDS
from tests.replay_every_way import has_ended
from tests.tables import each_row

Json = dict[str, Any]
STOP = Finish(FinishReason.STOP, "COMPLETE")
CALLED = Finish(FinishReason.TOOL_CALLS, "TOOL_CALL")


def v2(kind: str, index: object = 0, **message: object) -> Json:
    return {"type": kind, "index": index, "delta": {"message": message}}


def text(piece: str) -> Json:
    return v2("content-delta", content={"text": piece})


def start(
    call_id: str = "x", name: object = "f", arguments: object = "", index: object = 0
) -> Json:
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return v2("tool-call-start", index, tool_calls=call)


def more(arguments: object, index: object = 0) -> Json:
    return v2("tool-call-delta", index, tool_calls={"function": {"arguments": arguments}})


def end(word: object = "COMPLETE", **fields: object) -> Json:
    return {"type": "message-end", "delta": {"finish_reason": word, **fields}}


def v1(kind: str, **fields: object) -> Json:
    return {"is_finished": False, "event_type": kind, **fields}


def v1_end(word: str = "COMPLETE", **response: object) -> Json:
    return v1("stream-end", finish_reason=word, response=response)


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


TOKENS = {"tokens": {"input_tokens": 3.0, "output_tokens": 4}, "billed_units": {"input_tokens": 1}}
PIECES = [
    v1("tool-calls-chunk", tool_call_delta={"index": 0, "name": "f"}),
    v1("tool-calls-chunk", tool_call_delta={"index": 0, "parameters": '{"a":1}'}),
]


@each_row(
    ("events", "turn"),
    [
        ([text("a"), text("b"), end(usage=TOKENS)], Turn("ab", finish=STOP, usage=Usage(3, 4))),
        (
            [text("a"), end(usage={"billed_units": {"input_tokens": 1, "output_tokens": 2}})],
            Turn("a", finish=STOP, usage=Usage(1, 2)),
        ),
        (
            [v2("content-start", content={"type": "thinking", "thinking": "t"}), text("a"), end()],
            Turn("a", "t", finish=STOP),
        ),
        ([v2("tool-plan-delta", tool_plan="p"), end()], Turn(reasoning="p", finish=STOP)),
        (
            [start("x", "f", '{"a":'), more("1}"), end("TOOL_CALL")],
            Turn(tool_calls=(ToolCall("x", "f", '{"a":1}'),), finish=CALLED),
        ),
        (
            [start("x"), start("y", "g", index=1), more("{}"), more("{}", 1), end("TOOL_CALL")],
            Turn(tool_calls=(ToolCall("x", "f", "{}"), ToolCall("y", "g", "{}")), finish=CALLED),
        ),
        (
            [start("x", "f", "{}"), start("y", "f", "{}"), end("TOOL_CALL")],
            Turn(tool_calls=(ToolCall("x", "f", "{}"), ToolCall("y", "f", "{}")), finish=CALLED),
        ),
        (
            [start("x", "f", {"a": 1}), end("TOOL_CALL")],
            Turn(tool_calls=(ToolCall("x", "f", '{"a": 1}'),), finish=CALLED),
        ),
        (
            [text("a"), end("NEW_WORD"), "[DONE]"],
            Turn("a", finish=Finish(FinishReason.OTHER, "NEW_WORD")),
        ),
        (
            [text("a"), end("ERROR_TOXIC"), text("late")],
            Turn("a", finish=Finish(FinishReason.CONTENT_FILTER, "ERROR_TOXIC")),
        ),
        ([text("a"), {"type": "message-end"}], Turn("a", finish=Finish(FinishReason.STOP, ""))),
        ([v1("text-generation", text="a"), v1_end(text="a")], Turn("a", finish=STOP)),
        ([v1("stream-start"), v1_end(text="a")], Turn("a", finish=STOP)),
    ],
)
def test_events_mean(events: list[Json | str], turn: Turn) -> None:
    assert read_turn("cohere", sse(*events)) == turn
    if "[DONE]" not in events:
        assert read_turn("cohere", lines(*events)) == turn


def test_the_list_of_v1_says_again_what_the_pieces_said() -> None:
    listed = v1("tool-calls-generation", text="p", tool_calls=[_v1_call({"a": 1})])
    turn = read_turn("cohere", lines(*PIECES, listed, v1_end(tool_calls=[_v1_call({"a": 1})])))
    assert [(call.name, call.arguments) for call in turn.tool_calls] == [("f", '{"a":1}')]
    assert (turn.text, turn.reasoning) == ("", "p")


@pytest.mark.parametrize("call", [{"name": "f", "parameters": {"a": 2}}, {"name": "g"}])
def test_a_list_that_differs_from_the_pieces_is_no_call_to_run(call: Json) -> None:
    turn = read_turn("cohere", lines(*PIECES, v1_end(tool_calls=[call])))
    assert turn.tool_calls == ()
    assert [error.snippet for error in turn.parse_errors] == ['{"a":1}']


def _v1_call(parameters: object) -> Json:
    return {"name": "f", "parameters": parameters}


def test_parameters_of_v1_keep_every_digit() -> None:
    body = lines(v1_end(tool_calls=[_v1_call("HERE")]))
    spelt = '{"n": 12345678901234567890.10}'
    turn = read_turn("cohere", body.replace(b'"HERE"', spelt.encode()))
    assert turn.tool_calls[0].arguments == spelt


@each_row(
    ("body", "failure"),
    [
        (sse(text("a"), end("ERROR", error="no")), StreamFailure("ERROR", "no")),
        (
            sse(text("a"), end("TIMEOUT")),
            StreamFailure("TIMEOUT", "the provider finished the turn with 'TIMEOUT'"),
        ),
        (sse(text("a"), end("COMPLETE", error="no")), StreamFailure("error", "no")),
        (sse(text("a"), {"message": "too many"}), StreamFailure("error", "too many")),
        (
            sse(text("a"), {"type": "error", "message": "no", "code": 500}),
            StreamFailure("500", "no"),
        ),
        (lines({"id": "1", "message": "invalid api token"}),
         StreamFailure("error", "invalid api token")),
        (lines({"error": {"message": "no"}}), StreamFailure("error", "no")),
        (
            sse(text("a"), "[DONE]"),
            StreamFailure("interrupted", "the stream ended without a finish reason"),
        ),
        (b"", StreamFailure("empty_stream", "the stream held no event")),
    ],
)  # fmt: skip
def test_what_ends_badly_fails(body: bytes, failure: StreamFailure) -> None:
    assert read_turn("cohere", body).failure == failure


@pytest.mark.parametrize(
    "body",
    [
        sse({"choices": [{"index": 0, "delta": {"content": "a"}}]}),
        sse({"type": "message_start", "message": {}}, {"type": "message_stop"}),
        sse({"type": "response.created", "response": {}}),
        lines({"candidates": []}),
        lines({"model": "m", "message": {"content": "a"}, "done": True}),
    ],
)
def test_another_api_is_told(body: bytes) -> None:
    failure = read_turn("cohere", body).failure
    assert failure is not None
    assert failure.code == "unknown_envelope"


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (start("x", ""), "no name"),
        (start("x", 5), "no name"),
        (start("x", "f", [1]), "object"),
        (v2("tool-call-start", tool_calls={"type": "custom", "id": "x"}), "not of a function"),
        (more("{}", 7), "no name"),
    ],
)
def test_a_call_that_is_none_is_reported_and_its_sibling_runs(event: Json, why: str) -> None:
    turn = read_turn("cohere", sse(event, start("y", "g", "{}", index=1), end("TOOL_CALL")))
    assert [error.error for error in turn.parse_errors if why in error.error]
    assert turn.tool_calls == (ToolCall("y", "g", "{}"),)


def test_text_comes_out_before_the_stream_is_over() -> None:
    reads = iter((sse(text("a")), sse(end())))
    deltas = DIALECTS["cohere"].read(iter_frames(reads), ())
    assert next(deltas) == TextDelta("a")
    assert next(reads) == sse(end())


KINDS = st.sampled_from(
    (
        *("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta"),
        *("tool-call-start", "tool-call-delta", "tool-call-end", "message-end", "error", "debug"),
    )
)
V1_KINDS = st.sampled_from(
    ("stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end")
)
CALLS = ANYTHING | st.fixed_dictionaries(
    {},
    optional={
        "id": WORDS | ANYTHING,
        "name": WORDS | ANYTHING,
        "index": st.integers(0, 2) | ANYTHING,
        "parameters": WORDS | ANYTHING,
        "function": ANYTHING
        | st.fixed_dictionaries({}, optional={"name": WORDS, "arguments": WORDS | ANYTHING}),
    },
)
MESSAGES = ANYTHING | st.fixed_dictionaries(
    {},
    optional={
        "content": ANYTHING
        | st.fixed_dictionaries({}, optional={"text": WORDS, "thinking": WORDS}),
        "tool_plan": WORDS | ANYTHING,
        "tool_calls": CALLS | st.lists(CALLS, max_size=3),
    },
)
DELTAS = ANYTHING | st.fixed_dictionaries(
    {}, optional={"message": MESSAGES, "finish_reason": WORDS | ANYTHING, "usage": ANYTHING}
)
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "index": st.integers(0, 2) | ANYTHING,
    "delta": DELTAS,
    "text": WORDS | ANYTHING,
    "tool_call_delta": CALLS,
    "tool_calls": ANYTHING | st.lists(CALLS, max_size=3),
    "finish_reason": st.sampled_from(("COMPLETE", "ERROR", "TOOL_CALL")) | ANYTHING,
    "response": ANYTHING
    | st.fixed_dictionaries({}, optional={"text": WORDS, "tool_calls": st.lists(CALLS)}),
    "message": MESSAGES,
    "generation_id": ANYTHING,
    "error": ANYTHING,
}
EVENTS = (
    ANYTHING
    | st.fixed_dictionaries({"type": KINDS}, optional=OPTIONS)
    | st.fixed_dictionaries({"event_type": V1_KINDS}, optional=OPTIONS)
    | st.fixed_dictionaries({}, optional=OPTIONS)
)


@given(st.lists(EVENTS, max_size=4), st.booleans())
def test_no_event_of_any_shape_raises_or_breaks_the_protocol(
    values: list[Any],
    framed: bool,  # noqa: FBT001 - drawn
) -> None:
    body = sse(*(json.dumps(value) for value in values)) if framed else lines(*values)
    assert has_ended(read_turn("cohere", body))


def test_requests_of_v2_are_read() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    body = {
        "model": "command-a-03-2025",
        "stream": True,
        "messages": [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}],
        "tools": [tool, 7],
    }
    read = read_request("cohere", Request(body=json.dumps(body).encode()))
    assert (read.model, read.system, read.stream) == ("command-a-03-2025", "Be brief.", True)
    assert [(tool.name, tool.parameters) for tool in read.tools] == [("f", {"type": "object"})]


def test_parameters_of_v1_become_a_schema() -> None:
    definitions = {
        "city": {"type": "str", "required": True},
        "days": {"type": "List[int]"},
        "any": {"type": "Whatever"},
        "odd": 5,
    }
    body = {
        "model": "command-r",
        "preamble": "Be brief.",
        "chat_history": [{"role": "SYSTEM", "message": "Be kind."}],
        "tools": [{"name": "f", "description": "d", "parameter_definitions": definitions}],
    }
    read = read_request("cohere", Request(body=json.dumps(body).encode()))
    assert (read.system, read.stream) == ("Be brief.\nBe kind.", False)
    assert read.tools[0].parameters == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "array"}, "any": {}},
        "required": ["city"],
    }
