"""Ollama's own API: calls whole in one line, arguments as objects, an end that says `stop`."""

import json

from harness.dialects.ollama.writer_options import WriterOptions
from harness.turns.deltas import Delta, Finish, FinishReason
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
    end_before,
    fails,
    finish,
    raw,
    reasoning,
    stream,
    swap,
    text,
    tokens,
)
from scripts.recipes.tools import declarations

_WEATHER = "What is the weather in Oslo and in Bergen?"
_OSLO = tuple(call("get_weather", '{"city": "Oslo"}', call_id="call_k3v9"))
_BERGEN = tuple(call("get_weather", '{"city": "Bergen"}', index=1, call_id="call_q7d2"))
_STOP = (*tokens(168, 41), *finish("stop"))
_OLD = WriterOptions(call_id="absent", index="without-zero")


def _chat_body(asked: Asked) -> Json:
    messages: list[Json] = [
        {"role": "system", "content": asked.system},
        {"role": "user", "content": asked.question},
        *asked.later,
    ]
    body: Json = {"model": asked.model, "stream": True, "messages": messages}
    return body | ({"tools": declarations(asked.tools)} if asked.tools else {})


def _generate_body(asked: Asked) -> Json:
    return {"model": asked.model, "stream": True, "system": asked.system, "prompt": asked.question}


CHAT = Api("ollama", {"ollama": "http://localhost:11434/api/chat"}, _chat_body)
_GENERATE = Api("ollama", {"ollama": "http://localhost:11434/api/generate"}, _generate_body)


def _recipe(
    name: str,
    reply: Reply,
    question: str = _WEATHER,
    tools: tuple[str, ...] = ("get_weather",),
    api: Api = CHAT,
) -> Recipe:
    return Recipe(f"ollama/{name}", question, tools, (reply,), api=api)


def _said(*parts: tuple[Delta, ...], spelling: WriterOptions | None = None) -> Reply:
    return stream(*parts, spelling=spelling or WriterOptions())


def _document(**message: object) -> bytes:
    """Return a complete response over several lines, as a gateway prints it."""
    value = {
        "model": "qwen3",
        "created_at": "2026-01-05T10:00:00Z",
        "message": {"role": "assistant", "content": "", **message},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 168,
        "eval_count": 41,
    }
    return json.dumps(value, indent=2).encode()


RECIPES = (
    _recipe("granite3/calls-without-ids", _said(_OSLO, _BERGEN, _STOP, spelling=_OLD)),
    _recipe("qwen3/call-then-stop", _said(_OSLO, _STOP)),
    _recipe(
        "qwen3/calls-in-one-line",
        _said(_OSLO, _BERGEN, _STOP, spelling=WriterOptions(calls="one-line")),
    ),
    _recipe(
        "gpt-oss/call-in-the-last-line",
        _said(_OSLO, _STOP, spelling=WriterOptions(calls="with-done")),
    ),
    _recipe(
        "llama3.2/arguments-as-text", _said(_OSLO, _STOP, spelling=WriterOptions(arguments="text"))
    ),
    _recipe(
        "qwen3/text-then-call",
        _said(tuple(text("Let me ", "look, ", "både Oslo og Bergen.")), _OSLO, _BERGEN, _STOP),
    ),
    _recipe(
        "qwen3/thinking-then-call",
        _said(tuple(reasoning("The user wants ", "the weather.")), _OSLO, _STOP),
    ),
    _recipe(
        "qwen3/no-arguments",
        _said(tuple(call("get_time", "{}", call_id="call_t1m3")), _STOP),
        "What time is it?",
        ("get_time",),
    ),
    _recipe(
        "qwen3/long-number",
        _said(tuple(call("show_order", '{"order": 9007199254740993}', call_id="call_o1")), _STOP),
        "Show order 9007199254740993.",
        ("show_order",),
    ),
    _recipe(
        "qwen3/no-final-newline",
        _said(_OSLO, _STOP, spelling=WriterOptions(final_newline=False)),
    ),
    _recipe(
        "gemma3/generate",
        _said(
            tuple(text("One", ", two", ", three", ".")),
            _STOP,
            spelling=WriterOptions(endpoint="generate"),
        ),
        "Count to three.",
        (),
        _GENERATE,
    ),
    _recipe(
        "llama2/no-done-reason",
        _said(tuple(text("Hei", "!")), _STOP, spelling=WriterOptions(done_reason=False)),
        "Say hello in Norwegian.",
        (),
    ),
    _recipe(
        "qwen3/only-loaded",
        _said((Finish(FinishReason.OTHER, "load"),)),
        "",
        (),
    ),
    _recipe(
        "qwen3/length",
        _said(tuple(text("Bergen is ", "known for")), (*tokens(30, 8), *finish("length"))),
        "Tell me about Bergen.",
        (),
    ),
    _recipe(
        "qwen3/error-after-call",
        _said(_OSLO, tuple(fails("error", "model runner has unexpectedly stopped"))),
    ),
    _recipe(
        "qwen3/end-inside-call",
        stream(
            text("I will look."),
            _OSLO,
            _STOP,
            spelling=WriterOptions(),
            edits=(cut_after(b'"arguments": {"city": "Os'),),
        ),
    ),
    _recipe(
        "qwen3/end-after-call",
        stream(_OSLO, _STOP, spelling=WriterOptions(), edits=(end_before(b'"done": true'),)),
    ),
    _recipe(
        "qwen3/arguments-null",
        stream(
            call("get_time", '{"zone": 0}', call_id="call_t1m3"),
            _STOP,
            spelling=WriterOptions(),
            edits=(swap(b'"arguments": {"zone": 0}', b'"arguments": null'),),
        ),
        "What time is it?",
        ("get_time",),
    ),
    _recipe(
        "qwen3/json-for-stream",
        raw(
            _document(
                thinking="Oslo first.",
                tool_calls=[
                    {
                        "id": "call_k3v9",
                        "function": {
                            "index": 0,
                            "name": "get_weather",
                            "arguments": {"city": "Oslo"},
                        },
                    }
                ],
            ),
            content_type="application/json",
        ),
    ),
    _recipe(
        "qwen3/http-404",
        raw(b'{"error":"model \'qwen3\' not found"}', status=404, content_type="application/json"),
    ),
    _recipe("qwen3/empty-body", raw(b"\n")),
)
