"""DashScope's native API: increments, snapshots, both result formats, and its errors."""

import json
from typing import Any

from harness.dialects.dashscope.writer_options import WriterOptions
from harness.turns.deltas import Delta, ToolCallStart
from scripts.recipes.asking import Api, Asked
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    end_before,
    fails,
    finish,
    fragments,
    raw,
    reasoning,
    stream,
    swap,
    text,
    tokens,
)
from scripts.recipes.tools import declarations

Json = dict[str, Any]

_ADDRESS = "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation"


def _body(asked: Asked) -> Json:
    messages: list[Json] = [
        {"role": "system", "content": asked.system},
        {"role": "user", "content": asked.question},
        *asked.later,
    ]
    parameters: Json = {"result_format": "message", "incremental_output": True}
    parameters |= {"tools": declarations(asked.tools)} if asked.tools else {}
    return {"model": asked.model, "input": {"messages": messages}, "parameters": parameters}


def _body_of_snapshots(asked: Asked) -> Json:
    body = _body(asked)
    body["parameters"]["incremental_output"] = False
    return body


_URIS = {"dashscope": _ADDRESS}
INCREMENTS = Api("dashscope", _URIS, _body)
SNAPSHOTS = Api("dashscope", _URIS, _body_of_snapshots)

_OSLO, _BERGEN = '{"city": "Oslo"}', '{"city": "Bergen"}'
_ONE = (*call("get_weather", _OSLO, call_id="call_d1", pieces=4), *finish("tool_calls"))
_TWO = (
    *call("get_weather", _OSLO, call_id="call_d1"),
    *call("get_weather", _BERGEN, index=1, call_id="call_d2"),
    *finish("tool_calls"),
)
_INVALID: Json = {
    "code": "InvalidParameter",
    "message": "Range of max_tokens should be [1, 8192]",
    "request_id": "request-1",
}
_NO_KEY: Json = {
    "code": "InvalidApiKey",
    "message": "Invalid API-key provided.",
    "request_id": "request-1",
}
_SEARCHED = (
    b'"search_info": {"search_results": [{"index": 1, "title": "Weather", "tool_calls": []}]}'
)


def _weather(
    name: str,
    reply: Reply | tuple[Delta, ...],
    model: str = "qwen-plus",
    **spelling: Any,  # noqa: ANN401 - the switches of Spelling
) -> Recipe:
    """Return a recipe about the weather; deltas are written in the spelling."""
    if not isinstance(reply, Reply):
        reply = stream(reply, spelling=WriterOptions(**spelling))
    api = SNAPSHOTS if spelling.get("output") == "snapshots" else INCREMENTS
    question = "Compare the weather in Oslo and Bergen."
    recipe = f"dashscope/{model}/native-{name}"
    return Recipe(recipe, question, ("get_weather",), (reply,), api=api)


def _talk(name: str, *said: Delta, **spelling: Any) -> Recipe:  # noqa: ANN401 - the switches of Spelling
    reply = stream(said, spelling=WriterOptions(**spelling))
    api = SNAPSHOTS if spelling.get("output") == "snapshots" else INCREMENTS
    return Recipe(f"dashscope/qwen-plus/native-{name}", "Tell a joke.", (), (reply,), api=api)


_JOKE = (*text("A snowman ", "walks into ", "a sauna."), *finish("stop"), *tokens(20, 9))

RECIPES = (
    _weather("single-call", (*_ONE, *tokens(180, 14))),
    _weather("parallel", _TWO),
    _weather("name-repeated", _ONE, later_id="repeated", later_name="repeated"),
    _weather("text-then-call", (*text("Let me ", "compare."), *_TWO)),
    _weather(
        "thinking-and-call",
        (*reasoning("They want ", "two cities."), *_TWO),
        model="qwen3-max",
    ),
    _weather("snapshots-call", (*_ONE, *tokens(180, 14)), output="snapshots"),
    _weather("snapshots-parallel", _TWO, output="snapshots"),
    _weather(
        "snapshots-text-then-call",
        (*text("Let me ", "compare ", "both."), *_TWO),
        output="snapshots",
        finish="with-last",
    ),
    _weather(
        "snapshots-length",
        (
            *text("Let me ", "compare ", "both."),
            ToolCallStart(0, "call_d1", "get_weather"),
            *fragments('{"city": "Os'),
            *finish("length"),
        ),
        output="snapshots",
    ),
    _weather(
        "no-arguments-snapshots",
        (*call("get_weather", "{}", call_id="call_d1"), *finish("tool_calls")),
        output="snapshots",
    ),
    _talk("plain-text", *_JOKE),
    _talk("snapshots-text", *_JOKE, output="snapshots"),
    _talk("snapshots-short", *text("哈", "哈。"), *finish("stop"), output="snapshots"),
    _talk("increments-that-repeat", *text("哈", "哈", "哈哈", "。"), *finish("stop")),
    _talk("result-text", *_JOKE, result_format="text"),
    _talk("result-text-snapshots", *_JOKE, result_format="text", output="snapshots"),
    _talk("content-parts", *_JOKE, content="parts"),
    _weather(
        "search-info",
        stream(
            text("Oslo: snow. ", "Bergen: rain."),
            finish("stop"),
            spelling=WriterOptions(),
            edits=(swap(b'"choices": [', _SEARCHED + b', "choices": ['),),
        ),
    ),
    _weather(
        "arguments-object",
        _ONE,
        arguments="object",
        document=True,
        index="absent",
    ),
    _weather("plain-response", (*text("Comparing."), *_TWO, *tokens(180, 30)), document=True),
    _weather(
        "length-in-call",
        (
            ToolCallStart(0, "call_d1", "get_weather"),
            *fragments('{"city": "Os'),
            *finish("length"),
        ),
    ),
    _weather(
        "error-event", (*text("Let me ", "compare."), *fails("Throttling.RateLimit", "Slow down."))
    ),
    _weather(
        "http-400",
        raw(
            b"id:1\nevent:error\n:HTTP_STATUS/400\ndata:" + json.dumps(_INVALID).encode() + b"\n\n",
            status=400,
            content_type="application/json",
        ),
    ),
    _weather(
        "http-401",
        raw(json.dumps(_NO_KEY).encode(), status=401, content_type="application/json"),
    ),
    _weather(
        "end-before-finish",
        stream(
            _ONE, spelling=WriterOptions(), edits=(end_before(b'"finish_reason": "tool_calls"'),)
        ),
    ),
    _weather("empty-body", raw(b"\n")),
)
