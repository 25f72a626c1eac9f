"""Mistral's chat completions: whole calls, parts of content, and how both go wrong."""

import json
from typing import Any

from harness.dialects.mistral.writer_options import WriterOptions
from harness.turns.deltas import Delta, ToolCallStart
from scripts.recipes.asking import Api, Asked
from scripts.recipes.kit import (
    DONE,
    Recipe,
    Reply,
    append,
    call,
    cut_after,
    end_before,
    fails,
    finish,
    fragments,
    insert,
    raw,
    reasoning,
    stream,
    swap,
    text,
    tokens,
)
from scripts.recipes.tools import declarations

Json = dict[str, Any]


def _body(asked: Asked) -> Json:
    messages: list[Json] = [
        {"role": "system", "content": asked.system},
        {"role": "user", "content": asked.question},
        *asked.later,
    ]
    body: Json = {"model": asked.model, "stream": True, "messages": messages}
    return body | ({"tools": declarations(asked.tools)} if asked.tools else {})


MISTRAL = Api("mistral", {"mistral": "https://api.mistral.ai/v1/chat/completions"}, _body)

_SMALL, _REASONING = "mistral-small-latest", "magistral-medium-latest"
_OSLO, _BERGEN = '{"city": "Oslo"}', '{"city": "Bergen"}'
_ONE = (*call("get_weather", _OSLO, call_id="wX2kP9aQz"), *finish("tool_calls"))
_TWO = (
    *call("get_weather", _OSLO, call_id="wX2kP9aQz"),
    *call("get_weather", _BERGEN, index=1, call_id="nR7vB3cTe"),
    *finish("tool_calls"),
)
_ORDER = '{"order": 12345678901234567890123, "weight": 1.10}'
_FAILED: Json = {
    "object": "error",
    "message": "Service tier capacity exceeded for this model.",
    "type": "service_tier_capacity_exceeded",
    "param": None,
    "code": "3505",
}
_UNREADABLE: Json = {
    "detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]
}


def _weather(name: str, reply: Reply | tuple[Delta, ...], **spelling: Any) -> Recipe:  # noqa: ANN401 - the switches of Spelling
    """Return a recipe about the weather; deltas are written in the spelling."""
    if not isinstance(reply, Reply):
        reply = stream(reply, spelling=WriterOptions(**spelling))
    question = "Compare the weather in Oslo and Bergen."
    return Recipe(f"mistral/{_SMALL}/{name}", question, ("get_weather",), (reply,), api=MISTRAL)


def _talk(name: str, reply: Reply, model: str = _REASONING, tools: tuple[str, ...] = ()) -> Recipe:
    question = "How many days has a leap year?"
    return Recipe(f"mistral/{model}/{name}", question, tools, (reply,), api=MISTRAL)


def _data(value: Json) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _other_choice(content: str) -> bytes:
    choice = {"index": 1, "delta": {"content": content}, "finish_reason": None}
    return _data({"id": "cmpl-1", "object": "chat.completion.chunk", "choices": [choice]})


RECIPES = (
    _weather("single-call", (*_ONE, *tokens(81, 12)), padding=True),
    _weather("parallel", _TWO),
    _weather("parallel-index-zero", _TWO, index="zero", calls="apart"),
    _weather("parallel-index-missing", _TWO, index="absent"),
    _weather("type-function", _ONE, call_type="function"),
    _weather("id-null", _TWO, call_id="null"),
    _weather("id-missing", _TWO, call_id="absent", index="absent"),
    _weather("fragments", _TWO, calls="fragments", call_type="function", finish="own-chunk"),
    _weather("fragments-id-null", _ONE, calls="fragments", later_id="null"),
    _weather(
        "text-then-call", (*text("Let me ", "compare."), *_ONE, *tokens(81, 20)), finish="own-chunk"
    ),
    Recipe(
        f"mistral/{_SMALL}/arguments-object",
        "Show the order 12345678901234567890123.",
        ("show_order",),
        (
            stream(
                call("show_order", "{}", call_id="oB4jL8mYd"),
                finish("tool_calls"),
                spelling=WriterOptions(arguments="object"),
                edits=(swap(b'"arguments": {}', b'"arguments": ' + _ORDER.encode()),),
            ),
        ),
        api=MISTRAL,
    ),
    Recipe(
        f"mistral/{_SMALL}/no-arguments",
        "What time is it?",
        ("get_time",),
        (
            stream(
                call("get_time", "{}", call_id="tQ5hN1sUf"),
                finish("tool_calls"),
                spelling=WriterOptions(),
            ),
        ),
        api=MISTRAL,
    ),
    _talk(
        "thinking",
        stream(
            reasoning("A leap year ", "has one more."),
            text("It has ", "366."),
            finish("stop"),
            tokens(24, 19),
            spelling=WriterOptions(closed=True),
        ),
    ),
    _talk(
        "thinking-and-parts",
        stream(
            reasoning("A leap year ", "has one more."),
            text("366 Tage: ", "一年。"),
            finish("stop"),
            spelling=WriterOptions(content="parts"),
        ),
    ),
    _talk(
        "thinking-and-call",
        stream(
            reasoning("I should look ", "it up."),
            call("search", '{"query": "leap year"}', call_id="sM6gV2rKw"),
            finish("tool_calls"),
            spelling=WriterOptions(),
        ),
        tools=("search",),
    ),
    _talk(
        "sources",
        stream(
            text("It has 366. ", "Every fourth year is one."),
            finish("stop"),
            spelling=WriterOptions(content="parts", sources=True),
        ),
        _SMALL,
    ),
    _talk(
        "plain-text",
        stream(
            text("It ", "has ", "366."), finish("stop"), tokens(24, 6), spelling=WriterOptions()
        ),
        _SMALL,
    ),
    _talk(
        "model-length",
        stream(text("It has ", "366 and"), finish("model_length"), spelling=WriterOptions()),
        _SMALL,
    ),
    _weather(
        "length-in-arguments",
        (
            ToolCallStart(0, "wX2kP9aQz", "get_weather"),
            *fragments('{"city": "Os'),
            *finish("length"),
            *tokens(81, 8),
        ),
    ),
    _weather(
        "length-before-arguments",
        (ToolCallStart(0, "wX2kP9aQz", "get_weather"), *finish("length")),
    ),
    _weather("finish-error", (*_ONE[:-1], *finish("error"))),
    _weather("error-in-stream", (*text("Let me ", "compare."), *fails("3505", "No capacity."))),
    _weather(
        "http-429", raw(json.dumps(_FAILED).encode(), status=429, content_type="application/json")
    ),
    _weather(
        "http-422",
        raw(json.dumps(_UNREADABLE).encode(), status=422, content_type="application/json"),
    ),
    _weather("json-for-stream", (*text("Comparing."), *_TWO, *tokens(81, 25)), document=True),
    _weather("done-missing", _ONE, done=False),
    _weather("done-without-finish", stream(_ONE[:-1], spelling=WriterOptions())),
    _weather(
        "end-in-event",
        stream(_ONE, spelling=WriterOptions(), edits=(cut_after(b'\\"city\\": \\"Os'),)),
    ),
    _weather(
        "end-before-finish",
        stream(
            text("Let me ", "compare."),
            _ONE,
            spelling=WriterOptions(finish="own-chunk"),
            edits=(end_before(b'"tool_calls"}'),),
        ),
    ),
    _weather("empty-body", raw(b"\n")),
    _weather("only-done", raw(DONE)),
    Recipe(
        f"mistral/{_SMALL}/two-choices",
        "How many days has a leap year?",
        (),
        (
            stream(
                text("It ", "has ", "366."),
                finish("stop"),
                spelling=WriterOptions(done=False),
                edits=(
                    insert(1, _other_choice("There ")),
                    insert(3, _other_choice("are 366.")),
                    append(DONE),
                ),
            ),
        ),
        request={"n": 2},
        api=MISTRAL,
    ),
)
