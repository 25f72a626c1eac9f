"""What goes wrong between model and client: errors in the stream, and bodies that are none."""

import json

from harness.turns.deltas import ToolCallStart
from scripts.recipes.kit import (
    DONE,
    Recipe,
    Reply,
    append,
    call,
    choice,
    chunk,
    cut_after,
    fails,
    finish,
    fragments,
    raw,
    stream,
    text,
)

_QUESTION = "What is the weather in Oslo?"
_CALL = tuple(call("get_weather", '{"city": "Oslo"}', call_id="call_a"))
_OPEN = (ToolCallStart(0, "call_a", "get_weather"), *fragments('{"city": "Os', pieces=2))
_TURN = (*_CALL, *finish("tool_calls"))

_HTML = (
    b"<!doctype html>\n<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n"
)
_COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1760000000,
    "model": "any",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Let me check.",
                "tool_calls": [
                    {
                        "id": "call_a",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49},
}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _data(value: object) -> bytes:
    return b"data: " + _json(value) + b"\n\n"


def _recipe(name: str, reply: Reply, model: str = "compatible/any") -> Recipe:
    return Recipe(f"{model}/{name}", _QUESTION, ("get_weather",), (reply,))


RECIPES = (
    _recipe(
        "error-first",
        raw(
            _data(
                {"error": {"type": "BadRequestError", "code": 400, "message": "context too long"}}
            ),
            DONE,
        ),
    ),
    _recipe(
        "error-in-call",
        stream(_OPEN, fails("502", "upstream went away")),
    ),
    _recipe(
        "error-after-text", stream(text("Let me ", "check."), fails("rate_limited", "slow down"))
    ),
    _recipe(
        "error-without-choices",
        stream(
            text("Let me check."),
            fails("interrupted"),
            edits=(
                append(
                    chunk(choices=[], error={"code": 502, "message": "provider limit"}),
                    DONE,
                ),
            ),
        ),
        "openrouter/any",
    ),
    _recipe("error-without-code", raw(_data({"error": {"message": "no capacity"}}), DONE)),
    _recipe("error-code-null", raw(_data({"error": {"message": "no capacity", "code": None}}))),
    _recipe(
        "error-unframed",
        raw(_json({"error": {"message": "exceeds the available context size", "code": 400}})),
    ),
    _recipe(
        "error-in-event",
        stream(
            _TURN,
            edits=(
                cut_after(b'\\"Os'),
                append(b'\ndata: {"error": {"message": "stream_read_error"}}\n\n'),
            ),
        ),
    ),
    _recipe(
        "event-glued",
        stream(
            _TURN,
            edits=(
                cut_after(b'\\"Os'),
                append(
                    choice({"tool_calls": [{"index": 0, "function": {"arguments": 'lo"}'}}]}),
                    choice({}, "tool_calls"),
                    DONE,
                ),
            ),
        ),
    ),
    _recipe("html", raw(_HTML, content_type="text/html")),
    _recipe("json-for-stream", raw(_json(_COMPLETION), content_type="application/json")),
    _recipe(
        "json-envelope",
        raw(_json({"success": True, "data": _COMPLETION}), content_type="application/json"),
    ),
    _recipe("only-done", raw(DONE)),
    _recipe("only-comments", raw(b": PROCESSING\n\n", b": PROCESSING\n\n"), "openrouter/any"),
    _recipe("empty-body", raw()),
    _recipe(
        "refusal",
        stream(fails("refusal", "I cannot help with that."), finish("stop")),
        "openai/gpt-4o-mini",
    ),
    _recipe(
        "refusal-in-call",
        stream(_OPEN, fails("refusal", "I cannot help with that."), finish("stop")),
        "openai/gpt-4o-mini",
    ),
    _recipe(
        "http-429",
        raw(
            _json({"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}),
            status=429,
            content_type="application/json",
        ),
    ),
    _recipe("http-502", raw(_HTML, status=502, content_type="text/html")),
)
