"""How the events are framed: line ends, comments, spaces, marks, blank lines."""

from typing import Any

from harness.dialects.openai_chat.writer_options import WriterOptions
from scripts.recipes.kit import (
    Edit,
    Recipe,
    call,
    choice,
    cut_after,
    each,
    finish,
    insert,
    stream,
    swap,
    text,
)

_TURN = (
    *text("Let me check."),
    *call("get_weather", '{"city": "Oslo"}', call_id="call_a"),
    *finish("tool_calls"),
)


def _recipe(name: str, *edits: Edit, model: str = "compatible/any", **spelling: Any) -> Recipe:  # noqa: ANN401 - the switches of Spelling
    reply = stream(_TURN, edits=edits, spelling=WriterOptions(**spelling))
    return Recipe(f"{model}/{name}", "What is the weather in Oslo?", ("get_weather",), (reply,))


def _two_lines(event: bytes) -> bytes:
    """Spell the payload in two data lines."""
    return event.replace(b', "choices": ', b',\ndata: "choices": ')


RECIPES = (
    _recipe(
        "comments",
        insert(2, b":\n"),
        model="openrouter/any",
        comment=" OPENROUTER PROCESSING",
    ),
    _recipe("comment-in-event", swap(b', "choices": ', b',\n: ping\ndata: "choices": ')),
    _recipe("comment-as-data", insert(1, b"data: : keepalive\n\n", b"data: : keepalive\n\n")),
    _recipe("comment-after-id", each(lambda event: b"id: 7\n" + event), insert(3, b": ping\n\n")),
    _recipe("empty-data", insert(1, b"event: ping\ndata:\n\n"), insert(4, b"data: \n\n")),
    _recipe("data-null", insert(1, b"data: null\n\n"), insert(4, b"data: null\n\n")),
    _recipe("data-in-two-lines", each(_two_lines)),
    _recipe("byte-order-mark", bom=True),
    _recipe("crlf", model="azure/gpt-4o", line_end="crlf"),
    _recipe("cr-only", line_end="cr"),
    _recipe("mixed-line-ends", insert(2, choice({"content": " Now."}).replace(b"\n", b"\r\n"))),
    _recipe("no-space", space=False),
    _recipe("event-names", event_name="message"),
    _recipe("no-final-blank", cut_after(b'"finish_reason": "tool_calls"}]}')),
    _recipe("retry-and-unknown-fields", insert(0, b"retry: 3000\nfoo: bar\ndata\n\n")),
)
