"""How a turn ends: reasons that are wrong, doubled, early, unknown or missing."""

from harness.dialects.openai_chat.writer_options import WriterOptions
from harness.turns.deltas import ToolCallStart
from scripts.recipes.kit import (
    Recipe,
    Reply,
    append,
    call,
    choice,
    cut_after,
    end_before,
    finish,
    fragments,
    insert,
    stream,
    text,
    tokens,
)

_CALL = tuple(call("get_weather", '{"city": "Oslo"}', call_id="call_a"))


def _weather(name: str, reply: Reply, model: str = "compatible/any") -> Recipe:
    return Recipe(f"{model}/{name}", "What is the weather in Oslo?", ("get_weather",), (reply,))


def _plain(name: str, reply: Reply, model: str = "compatible/any") -> Recipe:
    return Recipe(f"{model}/{name}", "Say hello.", (), (reply,))


_HELLO = tuple(text("Hello", ", you", "."))
_CUT_SIBLING = (
    *_CALL,
    ToolCallStart(1, "call_b", "get_weather"),
    *fragments('{"city": "Ber', index=1, pieces=2),
)

RECIPES = (
    _weather("stop-with-calls", stream(_CALL, finish("stop"))),
    _weather(
        "finish-empty-until-last",
        stream(_CALL, finish("tool_calls"), spelling=WriterOptions(finish="empty-until-last")),
    ),
    _weather(
        "finish-twice",
        stream(
            _CALL,
            finish("tool_calls"),
            tokens(40, 9),
            spelling=WriterOptions(finish="twice", usage="with-finish"),
        ),
    ),
    _weather(
        "tool-calls-then-stop",
        stream(_CALL, finish("tool_calls"), spelling=WriterOptions(finish="then-stop")),
    ),
    _plain(
        "stop-too-early",
        stream(_HELLO, finish("stop"), spelling=WriterOptions(finish="stop-too-early")),
    ),
    _weather(
        "stop-too-early-call",
        stream(_CALL, finish("tool_calls"), spelling=WriterOptions(finish="stop-too-early")),
    ),
    _weather(
        "finish-with-call",
        stream(_CALL, finish("tool_calls"), spelling=WriterOptions(finish="with-call")),
    ),
    _weather("unknown-reason-call", stream(_CALL, finish("eos"))),
    _plain("unknown-reason-text", stream(_HELLO, finish("eos"))),
    _weather("length-with-siblings", stream(_CUT_SIBLING, finish("length")), "openai/gpt-4o-mini"),
    _weather(
        "length-empty-arguments",
        stream((ToolCallStart(0, "call_a", "get_weather"),), finish("length")),
        "openai/gpt-4o-mini",
    ),
    _plain("length-text", stream(_HELLO[:2], finish("length")), "openai/gpt-4o-mini"),
    _plain("content-filter", stream(_HELLO[:1], finish("content_filter")), "openai/gpt-4o-mini"),
    _weather(
        "finish-missing-call",
        stream(_CALL, finish("tool_calls"), spelling=WriterOptions(finish="absent")),
    ),
    _plain(
        "finish-missing-text",
        stream(_HELLO, finish("stop"), spelling=WriterOptions(finish="absent")),
    ),
    _weather(
        "done-missing", stream(_CALL, finish("tool_calls"), spelling=WriterOptions(done=False))
    ),
    _weather(
        "end-in-call",
        stream(_CALL, finish("tool_calls"), edits=(end_before(b'"}"'),)),
    ),
    _weather(
        "end-in-event",
        stream(_CALL, finish("tool_calls"), edits=(cut_after(b'\\"Os'),)),
    ),
    _weather(
        "end-after-whole-call",
        stream(_CALL, finish("tool_calls"), edits=(end_before(b'"finish_reason": "tool'),)),
    ),
    _plain(
        "end-in-text", stream(_HELLO, finish("stop"), edits=(end_before(b'"finish_reason": "st'),))
    ),
    _weather("calls-missing", stream(text("Let me check."), finish("tool_calls"))),
    _plain(
        "text-after-finish",
        stream(_HELLO, finish("stop"), edits=(insert(-1, choice({"content": " Bye."})),)),
    ),
    _plain(
        "usage-after-done",
        stream(
            _HELLO,
            finish("stop"),
            edits=(append(b'data: {"choices": [], "usage": {"total_tokens": 42}}\n\n'),),
        ),
    ),
    _weather(
        "call-after-done",
        stream(
            _HELLO,
            finish("stop"),
            edits=(
                append(
                    choice(
                        {
                            "tool_calls": [
                                {
                                    "index": 0,
                                    "id": "call_late",
                                    "type": "function",
                                    "function": {"name": "get_weather", "arguments": "{}"},
                                }
                            ]
                        },
                        "tool_calls",
                    )
                ),
            ),
        ),
    ),
)
