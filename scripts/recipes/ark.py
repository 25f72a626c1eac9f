"""Volcano Ark: the chat completions of Doubao and the models that it hosts, in Ark's spelling."""

import json
from typing import Any

from msgspec.structs import replace

from harness.dialects.openai_chat.writer_options import PROFILES
from harness.turns.deltas import Delta, ToolCallStart
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
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

Json = dict[str, Any]

_PRO, _SEED, _HOSTED = "doubao-1-5-pro-32k", "doubao-seed-1-6", "deepseek-v3"
_ARK = PROFILES["volcengine"]
_BEIJING = '{"query": "北京 今天 天气"}'
_SHANGHAI = '{"query": "上海 今天 天气"}'
_ONE = (*call("search", _BEIJING, call_id="call_k1"), *finish("tool_calls"))
_TWO = (
    *call("search", _BEIJING, call_id="call_k1"),
    *call("search", _SHANGHAI, index=1, call_id="call_k2"),
    *finish("tool_calls"),
)
_ANSWER = (*text("北京今天", "晴。", "最高 3 度。"), *finish("stop"), *tokens(96, 14))
_BUSY: Json = {
    "error": {
        "code": "RateLimitExceeded.EndpointTPMExceeded",
        "message": "The tokens per minute limit of the endpoint was exceeded.",
        "param": "",
        "type": "TooManyRequests",
    }
}
_COMPLETION: Json = {
    "id": "021760000000000000000000000000000000000000000000000",
    "object": "chat.completion",
    "created": 1760000000,
    "model": _PRO,
    "service_tier": "default",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": "我来查一下。",
                "tool_calls": [
                    {
                        "id": "call_k1",
                        "type": "function",
                        "function": {"name": "search", "arguments": _BEIJING},
                    }
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 96, "completion_tokens": 21, "total_tokens": 117},
}


def _recipe(
    name: str,
    reply: Reply | tuple[Delta, ...],
    model: str = _PRO,
    **spelling: Any,  # noqa: ANN401 - the switches of Spelling
) -> Recipe:
    """Return a recipe; deltas are written in Ark's spelling, with these changes."""
    if not isinstance(reply, Reply):
        reply = stream(reply, spelling=replace(_ARK, **spelling))
    return Recipe(f"volcengine/{model}/{name}", "今天北京的天气。", ("search",), (reply,))


RECIPES = (
    _recipe("single-call", (*_ONE, *tokens(96, 21))),
    _recipe(
        "newline-beside-call",
        stream(
            _ONE,
            spelling=_ARK,
            edits=(
                swap(
                    b'"role": "assistant", "tool_calls"',
                    b'"content": "\\n", "role": "assistant", "tool_calls"',
                ),
            ),
        ),
    ),
    _recipe("parallel", _TWO),
    _recipe("parallel-in-one-chunk", _TWO, one_chunk=True),
    _recipe("text-then-call", (*text("我来", "查一下。"), *_ONE)),
    _recipe(
        "no-arguments",
        (*call("search", "{}", call_id="call_k1"), *finish("tool_calls")),
    ),
    _recipe("thinking-and-call", (*reasoning("用户想知道", "天气。"), *_ONE), _SEED),
    _recipe(
        "thinking-and-text",
        (*reasoning("用户想知道", "天气。"), *_ANSWER),
        _SEED,
        finish="own-chunk",
    ),
    _recipe("hosted-fragments", _TWO, _HOSTED, arguments="fragments", finish="own-chunk"),
    _recipe("plain-text", _ANSWER, finish="own-chunk"),
    Recipe(
        f"volcengine/{_PRO}/search-and-answer",
        "今天北京的天气。",
        ("search",),
        (
            stream(_ONE, spelling=_ARK),
            stream(_ANSWER, spelling=replace(_ARK, finish="own-chunk")),
        ),
        later=(
            (
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": "call_k1",
                            "type": "function",
                            "function": {"name": "search", "arguments": _BEIJING},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "call_k1", "content": "晴 -6 到 3 度"},
            ),
        ),
    ),
    _recipe(
        "length-in-call",
        (
            ToolCallStart(0, "call_k1", "search"),
            *fragments('{"query": "北京'),
            *finish("length"),
        ),
    ),
    _recipe("content-filter", (*text("我不"), *finish("content_filter")), finish="own-chunk"),
    _recipe(
        "end-in-call",
        stream(text("我来查。"), _ONE, spelling=_ARK, edits=(cut_after('\\"北京'.encode()),)),
    ),
    _recipe(
        "error-in-stream", (*text("我来"), *fails("InternalServiceError", "The service failed."))
    ),
    _recipe(
        "http-429",
        raw(json.dumps(_BUSY).encode(), status=429, content_type="application/json"),
    ),
    _recipe(
        "json-for-stream",
        raw(json.dumps(_COMPLETION, ensure_ascii=False).encode(), content_type="application/json"),
    ),
)
