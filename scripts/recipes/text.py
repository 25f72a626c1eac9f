"""Turns of text, reasoning and usage: what calls are streamed beside."""

from typing import Any

from harness.dialects.openai_chat.writer_options import WriterOptions
from harness.turns.deltas import Delta
from scripts.recipes.kit import Recipe, call, finish, reasoning, stream, text, tokens

_HELLO = (*text("Hello", ", you", "."), *finish("stop"))
_COUNTED = (*_HELLO, *tokens(12, 5))


def _recipe(
    name: str,
    deltas: tuple[Delta, ...],
    *,
    model: str = "compatible/any",
    tools: tuple[str, ...] = (),
    **spelling: Any,  # noqa: ANN401 - the switches of Spelling
) -> Recipe:
    reply = stream(deltas, spelling=WriterOptions(**spelling))
    options = {"stream_options": {"include_usage": True}}
    return Recipe(f"{model}/{name}", "Say hello.", tools, (reply,), request=options)


RECIPES = (
    _recipe("plain-text", _COUNTED, model="openai/gpt-4o-mini"),
    _recipe("usage-choices-null", _COUNTED, usage="choices-null"),
    _recipe("usage-choices-absent", _COUNTED, usage="choices-absent"),
    _recipe("usage-with-finish", _COUNTED, usage="with-finish"),
    _recipe("tool-calls-empty-array", _HELLO, idle="empty", tools=("get_weather",)),
    _recipe(
        "tool-calls-null",
        (
            *text("Let me ", "check."),
            *call("get_weather", '{"city": "Oslo"}', call_id="call_a"),
            *finish("tool_calls"),
        ),
        idle="null",
        tools=("get_weather",),
    ),
    _recipe(
        "reasoning-content",
        (*reasoning("They greet ", "me."), *_HELLO),
        reasoning_field="reasoning_content",
    ),
    _recipe(
        "reasoning",
        (*reasoning("They greet ", "me."), *_HELLO),
        model="openrouter/any",
        reasoning_field="reasoning",
    ),
    _recipe(
        "multi-byte-text",
        (*text("你好。", "世界。", "👋🏽", " naïve", " \u2028end"), *finish("stop")),
        model="openai/gpt-4o-mini",
    ),
)
