"""Cohere's chat API, version 2 and version 1: a plan, calls in pieces, an end with a word."""

import json
from typing import Any

from harness.dialects.cohere.writer_options import WriterOptions
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallStart,
)
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
    end_before,
    insert,
    raw,
    reasoning,
    stream,
    text,
    tokens,
)
from scripts.recipes.tools import declarations

_WEATHER = "What is the weather in Oslo and in Bergen?"
_OSLO = tuple(call("get_weather", '{"city": "Oslo"}', call_id="get_weather_8kx2mq"))
_BERGEN = tuple(call("get_weather", '{"city": "Bergen"}', index=1, call_id="get_weather_v04ztd"))
_OPEN = (
    ToolCallStart(0, "get_weather_8kx2mq", "get_weather"),
    ArgumentsDelta(0, '{"city": '),
    ArgumentsDelta(0, '"Os'),
)
_PLAN = tuple(reasoning("I will look up", " the weather", " in both cities."))
_CALLED = (*tokens(1204, 52), Finish(FinishReason.TOOL_CALLS, "TOOL_CALL"))
_COMPLETE = (*tokens(511, 19), Finish(FinishReason.STOP, "COMPLETE"))
_LENGTH = (*tokens(511, 16), Finish(FinishReason.LENGTH, "MAX_TOKENS"))
_V1 = WriterOptions(version="v1", framing="ndjson")
_V1_TYPE = "application/stream+json"
_JSON_TYPE = "application/json"


def _v2_body(asked: Asked) -> Json:
    messages: list[Json] = [
        {"role": "system", "content": asked.system},
        {"role": "user", "content": asked.question},
        *asked.later,
    ]
    body: Json = {"model": asked.model, "stream": True, "messages": messages}
    return body | ({"tools": declarations(asked.tools)} if asked.tools else {})


def _v1_body(asked: Asked) -> Json:
    start = {
        "model": asked.model,
        "stream": True,
        "preamble": asked.system,
        "message": asked.question,
    }
    tools = [_v1_tool(tool["function"]) for tool in declarations(asked.tools)]
    return start | ({"tools": tools} if tools else {})


def _v1_tool(function: Json) -> Json:
    schema = function["parameters"]
    kinds = {"string": "str", "integer": "int", "number": "float"}
    definitions = {
        name: {"type": kinds[told["type"]], "required": name in schema["required"]}
        for name, told in schema["properties"].items()
    }
    start = {"name": function["name"], "description": function["description"]}
    return {**start, "parameter_definitions": definitions}


_CHAT_V2 = Api("cohere", {"cohere": "https://api.cohere.com/v2/chat"}, _v2_body)
_CHAT_V1 = Api("cohere", {"cohere": "https://api.cohere.com/v1/chat"}, _v1_body)


def _v2(
    name: str, reply: Reply, question: str = _WEATHER, tools: tuple[str, ...] = ("get_weather",)
) -> Recipe:
    return Recipe(f"cohere/{name}", question, tools, (reply,), api=_CHAT_V2)


def _v1(
    name: str,
    *parts: tuple[Delta, ...],
    question: str = _WEATHER,
    tools: tuple[str, ...] = ("get_weather",),
    spelling: WriterOptions = _V1,
) -> Recipe:
    deltas = tuple(delta for part in parts for delta in part)
    reply = Reply(deltas, spelling, content_type=_V1_TYPE)
    return Recipe(f"cohere/{name}", question, tools, (reply,), api=_CHAT_V1)


def _said(*parts: tuple[Delta, ...], **switches: Any) -> Reply:  # noqa: ANN401 - fields of a spelling
    return stream(*parts, spelling=WriterOptions(**switches))


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


_RESPONSE = {
    "id": "c0ffee00-0000-4000-8000-000000000001",
    "message": {
        "role": "assistant",
        "tool_plan": "I will look up the weather in Oslo.",
        "tool_calls": [
            {
                "id": "get_weather_8kx2mq",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
            }
        ],
    },
    "finish_reason": "TOOL_CALL",
    "usage": {
        "billed_units": {"input_tokens": 60, "output_tokens": 20},
        "tokens": {"input_tokens": 1204, "output_tokens": 52},
    },
}

RECIPES = (
    _v2("command-a-03-2025/plan-then-calls", _said(_PLAN, _OSLO, _BERGEN, _CALLED)),
    _v2("command-a-03-2025/single-call", _said(_OSLO, _CALLED)),
    _v2(
        "command-a-03-2025/no-arguments",
        _said(tuple(call("get_time", "", call_id="get_time_5n1r")), _CALLED),
        "What time is it?",
        ("get_time",),
    ),
    _v2(
        "command-a-reasoning/thinking-then-call",
        _said(_PLAN, _OSLO, _CALLED, reasoning="thinking"),
    ),
    _v2(
        "command-a-reasoning/thinking-then-text",
        _said(
            tuple(reasoning("Norwegian", " or Danish?")),
            tuple(text("It is ", "norsk, på bokmål.")),
            _COMPLETE,
            reasoning="thinking",
        ),
        "Which language is this: «Hei på deg»?",
        (),
    ),
    _v2(
        "command-a-03-2025/citations",
        _said(tuple(text("Oslo: 4 °C", ", Bergen: rain.")), _COMPLETE, citations=True),
    ),
    _v2(
        "command-a-03-2025/arguments-with-start",
        _said(_OSLO, _BERGEN, _CALLED, arguments="with-start"),
    ),
    _v2(
        "command-a-03-2025/call-end-missing",
        _said(_OSLO, _BERGEN, _CALLED, tool_call_end=False),
    ),
    _v2("command-a-03-2025/done-missing", _said(_OSLO, _CALLED, done=False)),
    _v2(
        "command-a-03-2025/stop-sequence",
        _said(tuple(text("one, two")), (Finish(FinishReason.STOP, "STOP_SEQUENCE"),)),
        "Count to three.",
        (),
    ),
    _v2("command-a-03-2025/max-tokens-in-text", _said(tuple(text("Bergen is", " a")), _LENGTH)),
    _v2("command-a-03-2025/max-tokens-in-call", _said(_PLAN, _OPEN, _LENGTH)),
    _v2(
        "command-a-03-2025/finish-error",
        _said(_OSLO, (StreamFailure("ERROR", "internal server error"),)),
    ),
    _v2(
        "command-a-03-2025/finish-timeout",
        _said(tuple(text("Oslo is")), (StreamFailure("TIMEOUT", ""),)),
    ),
    _v2(
        "command-a-03-2025/error-object",
        _said(_PLAN, _OPEN, (StreamFailure("error", "upstream connect error"),)),
    ),
    _v2(
        "command-a-03-2025/end-in-call",
        stream(_PLAN, _OSLO, _CALLED, spelling=WriterOptions(), edits=(cut_after(b"Os"),)),
    ),
    _v2(
        "command-a-03-2025/end-before-message-end",
        stream(_OSLO, _CALLED, spelling=WriterOptions(), edits=(end_before(b"message-end"),)),
    ),
    _v2(
        "command-a-03-2025/unknown-event",
        stream(
            _OSLO,
            _CALLED,
            spelling=WriterOptions(),
            edits=(insert(2, b'event: debug\ndata: {"type": "debug", "prompt": "<BOS>"}\n\n'),),
        ),
    ),
    _v2(
        "command-a-03-2025/json-for-stream",
        raw(_json(_RESPONSE), content_type=_JSON_TYPE),
    ),
    _v2(
        "command-a-03-2025/http-429",
        raw(
            _json({"id": "7e1f", "message": "You are past the per minute request limit"}),
            status=429,
            content_type=_JSON_TYPE,
        ),
    ),
    _v2("command-a-03-2025/empty-body", raw(b"\n")),
    _v1("command-r-plus/v1-plan-then-calls", _PLAN, _OSLO, _BERGEN, _COMPLETE),
    _v1(
        "command-r-plus/v1-text",
        tuple(text("Oslo is the capital", " of Norway.")),
        _COMPLETE,
        question="What is the capital of Norway?",
        tools=(),
    ),
    _v1(
        "command-r-plus/v1-list-alone",
        tuple(call("show_order", '{"order": 9007199254740993}')),
        _COMPLETE,
        question="Show order 9007199254740993.",
        tools=("show_order",),
        spelling=WriterOptions(version="v1", framing="ndjson", calls="list"),
    ),
    _v1("command-r-plus/v1-end-in-call", _OPEN, (StreamFailure("interrupted"),)),
)
