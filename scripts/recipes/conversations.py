"""Conversations of several rounds: native tools, tags, the action protocol, and what goes wrong.

The requests are those that a careful client sends; agents are judged on their own requests,
which are answered in order whatever these say.
"""

import json

from harness.dialects.ollama.writer_options import WriterOptions as OllamaSpelling
from harness.dialects.openai_chat.writer_options import PROFILES
from scripts.recipes.asking import OPENAI_CHAT, Api
from scripts.recipes.kit import (
    Json,
    Recipe,
    Reply,
    append,
    call,
    chunk,
    cut_after,
    end_before,
    finish,
    spelled,
    stream,
    text,
    tokens,
)
from scripts.recipes.ollama import CHAT as OLLAMA_CHAT

_DASHSCOPE = PROFILES["dashscope"]
_ACTION: Json = {"response_format": {"type": "json_object"}}


def fed_back(said: str, *calls: tuple[str, str, str, str]) -> tuple[Json, ...]:
    """Return what the next request adds: a turn, and (id, name, arguments, result) of its calls."""
    entries = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments, _ in calls
    ]
    turn: Json = {"role": "assistant", "content": said, "tool_calls": entries}
    results: list[Json] = [
        {"role": "tool", "tool_call_id": call_id, "content": result}
        for call_id, _, _, result in calls
    ]
    return (turn, *results)


def told(said: str, user: str) -> tuple[Json, ...]:
    """Return the same where results and corrections are told in words."""
    return ({"role": "assistant", "content": said}, {"role": "user", "content": user})


_MEMORY = json.dumps({"key": "language", "value": "中文"}, ensure_ascii=False)
_SPRING = json.dumps({"title": "春天", "content": "雪化了。\n花开了。"}, ensure_ascii=False)
_NATIVE = (
    Recipe(
        "dashscope/qwen-plus/memory-then-writing",
        "请记住我用中文，然后写一篇关于春天的短文。",
        ("set_memory", "writing"),
        (
            stream(
                text("好的，", "我先记下来。"),
                call("set_memory", _MEMORY, call_id="call_m1"),
                finish("tool_calls"),
                spelling=_DASHSCOPE,
            ),
            stream(
                call("writing", _SPRING, call_id="call_w1", pieces=5),
                finish("tool_calls"),
                tokens(301, 44),
                spelling=_DASHSCOPE,
            ),
            stream(text("已经记住，", "短文也写好了。"), finish("stop"), spelling=_DASHSCOPE),
        ),
        later=(
            fed_back("好的，我先记下来。", ("call_m1", "set_memory", _MEMORY, '{"ok": true}')),
            fed_back("", ("call_w1", "writing", _SPRING, "saved as 春天.md")),
        ),
    ),
    Recipe(
        "dashscope/qwen-turbo/parallel-one-bad-then-answer",
        "What is the weather in Oslo and in Bergen?",
        ("get_weather",),
        (
            stream(
                call("get_weather", '{"city": "Oslo"}', call_id="call_o1"),
                call("get_weather", '{"city": Bergen}', index=1, call_id="call_b1"),
                finish("tool_calls"),
                spelling=_DASHSCOPE,
            ),
            stream(
                text("It is 4 degrees in Oslo; ", "I could not look up Bergen."),
                finish("stop"),
                spelling=_DASHSCOPE,
            ),
        ),
        later=(
            fed_back(
                "",
                ("call_o1", "get_weather", '{"city": "Oslo"}', '{"temperature": 4}'),
                ("call_b1", "get_weather", "{}", "not executed: the arguments are no JSON"),
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-turbo/stream-ends-inside-second-call",
        "Remember that I prefer Chinese, and then write about spring.",
        ("set_memory", "writing"),
        (
            stream(
                call("set_memory", '{"key": "language", "value": "Chinese"}', call_id="call_m2"),
                finish("tool_calls"),
                spelling=_DASHSCOPE,
            ),
            stream(
                call("writing", '{"title": "Spring", "content": "x"}', call_id="call_w2"),
                finish("tool_calls"),
                spelling=_DASHSCOPE,
                edits=(cut_after(b'{\\"title\\": '),),
            ),
        ),
        later=(
            fed_back(
                "",
                ("call_m2", "set_memory", '{"key": "language", "value": "Chinese"}', "true"),
            ),
        ),
    ),
    Recipe(
        "compatible/any/error-after-call-of-second-round",
        "What is the weather in Oslo and in Bergen?",
        ("get_weather",),
        (
            stream(
                call("get_weather", '{"city": "Oslo"}', call_id="call_o2"), finish("tool_calls")
            ),
            stream(
                call("get_weather", '{"city": "Bergen"}', call_id="call_b2"),
                finish("tool_calls"),
                edits=(
                    end_before(b'"finish_reason": "tool_calls"'),
                    append(chunk(error={"code": "overloaded", "message": "try again later"})),
                ),
            ),
        ),
        later=(fed_back("", ("call_o2", "get_weather", '{"city": "Oslo"}', '{"temperature": 4}')),),
    ),
)


def _ollama(said: str) -> Reply:
    return stream(spelled(said), tokens(190, 30), finish("stop"), spelling=OllamaSpelling())


def _chat(said: str, word: str = "stop") -> Reply:
    return stream(spelled(said), finish(word))


_SEARCH = '<tool_call>\n{"name": "search", "arguments": {"query": "Oslo weather"}}\n</tool_call>'
_LIST = json.dumps(
    {
        "reasoning": "先看有哪些表",
        "action": "tool_call",
        "tool_calls": [{"name": "schema.list_tables", "arguments": {"database": "sales"}}],
    },
    ensure_ascii=False,
)
_COLUMNS = json.dumps(
    {
        "reasoning": "再看列",
        "action": "tool_call",
        "tool_calls": [{"name": "schema.list_columns", "arguments": {"table_name": "orders"}}],
    },
    ensure_ascii=False,
)
_SQL = json.dumps(
    {"reasoning": "信息足够", "action": "finish", "content": "SELECT SUM(amount) FROM orders"},
    ensure_ascii=False,
)
_FENCED = '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'


def _taught(  # noqa: PLR0913, PLR0917 - one switch each
    name: str,
    question: str,
    tools: tuple[str, ...],
    prompt: str,
    replies: tuple[Reply, ...],
    later: tuple[tuple[Json, ...], ...],
    *,
    api: Api = OPENAI_CHAT,
    request: Json | None = None,
) -> Recipe:
    return Recipe(name, question, tools, replies, later, request or {}, api, prompt)


_IN_WORDS = (
    _taught(
        "ollama/qwen2.5/search-by-tag-then-answer",
        "What is the weather in Oslo?",
        ("search", "get_time"),
        "tag-tools/v1",
        (_ollama(f"I will look that up.\n{_SEARCH}"), _ollama("It is 4 degrees in Oslo.")),
        (told(f"I will look that up.\n\n{_SEARCH}", "1. Oslo: 4 degrees. Answer from these."),),
        api=OLLAMA_CHAT,
    ),
    _taught(
        "dashscope/qwen-plus/schema-in-three-turns",
        "统计全部订单的金额。",
        ("schema.list_tables", "schema.list_columns"),
        "action-protocol-zh/v1",
        (_chat(_LIST), _chat(_COLUMNS), _chat(_SQL)),
        (told(_LIST, '["orders", "customers"]'), told(_COLUMNS, '["id", "amount"]')),
        request=_ACTION,
    ),
    _taught(
        "compatible/small/truncated-json-then-good",
        "What is the weather in Oslo?",
        ("get_weather",),
        "json-fallback/v1",
        (
            _chat('```json\n{"name": "get_weather", "arguments": {"city": "Os'),
            _chat(_FENCED),
            _chat("It is 4 degrees in Oslo."),
        ),
        (
            told("The call was cut off.", "Write the whole call again."),
            told(_FENCED, '{"temperature": 4}'),
        ),
    ),
)

RECIPES = _NATIVE + _IN_WORDS
