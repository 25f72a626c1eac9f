"""What Bedrock's streams mean, case by case."""

import json

import pytest

from harness.dialects.table import read_request
from harness.turns.deltas import Finish, FinishReason, ParseError, StreamFailure, ToolCall, Usage
from harness.turns.turn import Turn
from harness.wire.aws import encode_event
from harness.wire.interaction import Request
from tests.dialects.bedrock_streams import (
    START,
    chunks,
    closed,
    counted,
    delta,
    dumped,
    messages,
    opened,
    piece,
    read_turn,
    stop,
)
from tests.tables import each_row

TOOL_USE = Finish(FinishReason.TOOL_CALLS, "tool_use")
END = Finish(FinishReason.STOP, "end_turn")


def call(arguments: str, call_id: str = "t1", name: str = "f") -> ToolCall:
    return ToolCall(call_id, name, arguments)


@each_row(
    ("events", "turn"),
    [
        (
            [START, opened("f"), piece('{"a"'), piece(":1}"), closed(), stop(), counted(1, 2)],
            Turn(tool_calls=(call('{"a":1}'),), finish=TOOL_USE, usage=Usage(1, 2)),
        ),
        ([opened("f"), closed(), stop()], Turn(tool_calls=(call(""),), finish=TOOL_USE)),
        ([opened("f"), piece(""), stop()], Turn(tool_calls=(call(""),), finish=TOOL_USE)),
        (
            [opened("f"), opened("g", "t2", 1), piece("{}", 1), piece('{"a":1}'), stop()],
            Turn(tool_calls=(call('{"a":1}'), call("{}", "t2", "g")), finish=TOOL_USE),
        ),
        (
            [opened("f"), piece("{}"), opened("g", "t2"), piece('{"a":1}'), stop()],
            Turn(tool_calls=(call("{}"), call('{"a":1}', "t2", "g")), finish=TOOL_USE),
        ),
        (
            [
                delta({"text": "Hi"}),
                delta({"reasoningContent": {"text": "Hm"}}, 1),
                stop("end_turn"),
            ],
            Turn("Hi", "Hm", finish=END),
        ),
        (
            [delta({"reasoningContent": {"signature": "x"}}), delta({"citation": {}}), stop("x")],
            Turn(finish=Finish(FinishReason.OTHER, "x")),
        ),
        (
            [opened("s", type="server_tool_use"), piece("{}"), opened("f", "t2", 1), stop()],
            Turn(tool_calls=(call("", "t2"),), finish=TOOL_USE),
        ),
        (
            [opened("f"), piece({"b": 1.50, "a": None}), stop()],
            Turn(tool_calls=(call('{"b": 1.5, "a": null}'),), finish=TOOL_USE),
        ),
        (
            [opened("f"), stop("max_tokens")],
            Turn(
                parse_errors=(
                    ParseError(
                        "tool_use",
                        "the provider stopped before the arguments began",
                        id="t1",
                        name="f",
                    ),
                ),
                finish=Finish(FinishReason.LENGTH, "max_tokens"),
            ),
        ),
        (
            [delta({"text": "Hi"}), ("throttlingException", {"message": "slow"}), stop("end_turn")],
            Turn("Hi", failure=StreamFailure("throttlingException", "slow")),
        ),
        (
            [stop("malformed_model_output"), counted(1, None)],
            Turn(
                failure=StreamFailure(
                    "malformed_model_output", "the model stopped with 'malformed_model_output'"
                ),
                usage=Usage(1),
            ),
        ),
        (
            [START, ("somethingNew", {"message": "x"}), delta({"text": "Hi"})],
            Turn(
                "Hi",
                failure=StreamFailure("interrupted", "the stream ended without a finish reason"),
            ),
        ),
    ],
)
def test_a_stream_is_read(events: list[tuple[str, object]], turn: Turn) -> None:
    assert read_turn(messages(*events)) == turn


def test_recorded_events_have_their_names_as_keys() -> None:
    events = [START, opened("f"), piece('{"a":1}'), closed(), stop()]
    lines = b"".join(dumped(dict([event])) + b"\n" for event in events)
    whole = dumped([dict([event]) for event in events])
    assert read_turn(lines) == read_turn(whole) == read_turn(messages(*events))
    failed = read_turn(dumped({"validationException": {"message": "no"}}) + b"\n")
    assert failed.failure == StreamFailure("validationException", "no")


@pytest.mark.parametrize("size", [1, 40, -1])
def test_a_message_that_is_cut_short_says_nothing(size: int) -> None:
    events = messages(START, opened("f"), piece("{}"), closed())
    turn = read_turn(events + messages(stop())[:size])
    assert turn.failure is not None
    assert turn.failure.code == "interrupted"
    assert not turn.tool_calls
    ended = read_turn(events + messages(stop()) + messages(counted(1, 2))[:size])
    assert ended == Turn(tool_calls=(call("{}"),), finish=TOOL_USE)


def test_a_damaged_message_fails_the_turn_even_at_its_end() -> None:
    body = messages(START, opened("f"), piece("{}"), stop())
    damaged = messages(counted(1, 2)).replace(b"1", b"7")
    turn = read_turn(body + damaged + messages(counted(1, 2)))
    assert turn.failure is not None
    assert turn.failure.code == "bad_event"
    assert not turn.tool_calls


# What is no stream


def test_a_complete_answer_keeps_the_spelling_of_its_inputs() -> None:
    content = (
        '[{"text": "Hi"}, {"citationsContent": {"content": [{"text": "!"}]}}, {"reasoningContent":'
        ' {"reasoningText": {"text": "Hm"}}}, {"toolUse": {"toolUseId": "t1", "name": "f",'
        ' "input": {"a": 1.50, "a": 10000000000000000000000}}}, {"toolUse": {"toolUseId": "t2",'
        ' "name": "s", "type": "server_tool_use", "input": {}}}]'
    )
    body = f'{{"output": {{"message": {{"content": {content}}}}}, "stopReason": "tool_use"}}'
    turn = read_turn(body.encode())
    assert (turn.text, turn.reasoning) == ("Hi!", "Hm")
    (error,) = turn.parse_errors  # a key that is given twice
    assert error.snippet == '{"a": 1.50, "a": 10000000000000000000000}'
    assert read_turn(body.replace('"a": 10', '"b": 10').encode()).tool_calls == (
        call('{"a": 1.50, "b": 10000000000000000000000}'),
    )


@each_row(
    ("body", "failure"),
    [
        (b"", StreamFailure("empty_stream", "the stream held no event")),
        (dumped({"message": "no"}), StreamFailure("error", "no")),
        (
            dumped({"__type": "com.amazon.coral#AccessDenied", "Message": "no"}),
            StreamFailure("AccessDenied", "no"),
        ),
        (
            dumped({"Output": {"__type": "x#UnknownOperation"}, "Version": "1.0"}),
            StreamFailure("UnknownOperation", ""),
        ),
        (
            dumped({"choices": []}),
            StreamFailure("unknown_envelope", 'no event of this API: {"choices": []}'),
        ),
        (
            encode_event(b'{"x": 1}', "initial-response"),
            StreamFailure("unknown_envelope", 'no event of this API: {"x": 1}'),
        ),
    ],
)
def test_what_is_no_stream_fails(body: bytes, failure: StreamFailure) -> None:
    assert read_turn(body) == Turn(failure=failure)


# Llama

METRICS = {"inputTokenCount": 3, "outputTokenCount": 9}


@pytest.mark.parametrize(
    ("values", "turn"),
    [
        (
            [
                {"generation": "a", "prompt_token_count": 3, "generation_token_count": 1},
                {"generation": "b", "generation_token_count": 2, "stop_reason": "stop"},
            ],
            Turn("ab", finish=Finish(FinishReason.STOP, "stop"), usage=Usage(3, 2)),
        ),
        (
            [
                {"generation": "a", "stop_reason": "length"},
                {"amazon-bedrock-invocationMetrics": METRICS},
            ],
            Turn("a", finish=Finish(FinishReason.LENGTH, "length"), usage=Usage(3, 9)),
        ),
        (
            [{"generation": "a", "stop_reason": None}],
            Turn(
                "a", failure=StreamFailure("interrupted", "the stream ended without a stop reason")
            ),
        ),
        ([{"message": "no such model"}], Turn(failure=StreamFailure("error", "no such model"))),
        (
            [{"outputText": "a"}],
            Turn(
                failure=StreamFailure(
                    "unknown_envelope", 'no event of this API: {"outputText": "a"}'
                )
            ),
        ),
    ],
)
def test_llama_is_read(values: list[object], turn: Turn) -> None:
    assert read_turn(chunks(*values), "bedrock-llama") == turn
    if len(values) == 1:
        assert read_turn(dumped(values[0]), "bedrock-llama") == turn


def test_llama_events_of_other_kinds_say_nothing() -> None:
    other = messages(("initial-response", {}), ("audit", {"generation": "no"}))
    piece_of_text = chunks({"generation": "a", "stop_reason": "stop"})
    turn = Turn("a", finish=Finish(FinishReason.STOP, "stop"))
    assert read_turn(other + piece_of_text, "bedrock-llama") == turn
    failure = StreamFailure("interrupted", "the stream ended without a stop reason")
    assert read_turn(other, "bedrock-llama") == Turn(failure=failure)


# Requests

CONVERSE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse"


def test_a_converse_request_is_read() -> None:
    body = {
        "messages": [],
        "system": [{"text": "Be"}, {"cachePoint": {}}, {"text": "brief."}],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}},
                {"systemTool": {"name": "nova_grounding"}},
                {"toolSpec": None},
            ]
        },
    }
    asked = read_request(
        "bedrock-converse", Request(uri=f"{CONVERSE}-stream?x=1", body=dumped(body))
    )
    assert (asked.model, asked.stream, asked.tools_known) == ("amazon.nova-lite-v1:0", True, True)
    assert asked.system == "Be\n\nbrief."
    assert [(tool.name, tool.parameters) for tool in asked.tools] == [("f", {"type": "object"})]
    plain = read_request("bedrock-converse", Request(uri=CONVERSE, body=b'{"toolConfig": 1}'))
    assert (plain.stream, plain.tools) == (False, ())
    named = read_request("bedrock-converse", Request(uri="/", body=b'{"modelId": "m"}'))
    assert named.model == "m"


def test_a_llama_request_is_read() -> None:
    uri = "https://bedrock/model/meta.llama3-70b-instruct-v1%3A0/invoke-with-response-stream"
    asked = read_request("bedrock-llama", Request(uri=uri, body=json.dumps({}).encode()))
    assert (asked.model, asked.stream) == ("meta.llama3-70b-instruct-v1:0", True)
