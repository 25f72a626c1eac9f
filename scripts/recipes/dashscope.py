"""DashScope's compatible mode, as the story of the seed system tells it."""

import json

from harness.dialects.openai_chat.writer_options import PROFILES, WriterOptions
from scripts.recipes.kit import (
    Recipe,
    call,
    choice,
    finish,
    insert,
    reasoning,
    stream,
    text,
    tokens,
)

_EMPTY_LATER = PROFILES["dashscope"]
_NULL_LATER = WriterOptions(later_id="null", later_name="null", call_type="first", idle="null")
_ARTICLE = json.dumps({"title": "Spring", "content": "The snow is gone."})
_ARTICLE_ZH = json.dumps({"title": "春天", "content": "雪化了。\n花开了。"}, ensure_ascii=False)
_MEMORY = json.dumps({"key": "language", "value": "Chinese"})

_NAMELESS = choice(
    {
        "tool_calls": [
            {"index": 1, "id": "", "type": "function", "function": {"name": "", "arguments": "{}"}}
        ]
    }
)

RECIPES = (
    Recipe(
        "dashscope/qwen-plus/split-chunks",
        "写一篇关于春天的短文。",
        ("writing", "set_memory"),
        (
            stream(
                call("writing", _ARTICLE_ZH, call_id="call_9f2c", pieces=5),
                finish("tool_calls"),
                tokens(212, 31),
                spelling=_EMPTY_LATER,
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-plus/split-chunks-null",
        "Write a short text about spring.",
        ("writing",),
        (
            stream(
                call("writing", _ARTICLE, call_id="call_9f2d", pieces=4),
                finish("tool_calls"),
                spelling=_NULL_LATER,
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-plus/set-memory",
        "Remember that I prefer Chinese.",
        ("set_memory", "writing"),
        (
            stream(
                call("set_memory", _MEMORY, call_id="call_5a01"),
                finish("tool_calls"),
                spelling=_EMPTY_LATER,
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-plus/multi-round",
        "Remember that I prefer Chinese.",
        ("set_memory", "writing"),
        (
            stream(
                text("I will ", "note that."),
                call("set_memory", _MEMORY, call_id="call_5a02"),
                finish("tool_calls"),
                spelling=_EMPTY_LATER,
            ),
            stream(text("好的。", "已经记住了。"), finish("stop"), spelling=_EMPTY_LATER),
        ),
        later=(
            (
                {
                    "role": "assistant",
                    "content": "I will note that.",
                    "tool_calls": [
                        {
                            "id": "call_5a02",
                            "type": "function",
                            "function": {"name": "set_memory", "arguments": _MEMORY},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "call_5a02", "content": "saved"},
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-plus/additional-kwargs",
        "Write a short text about spring.",
        ("writing",),
        (
            stream(
                call("writing", _ARTICLE, call_id="call_9f2e", pieces=4),
                finish("tool_calls"),
                spelling=WriterOptions(
                    where="additional-kwargs", later_id="empty", later_name="empty", idle="empty"
                ),
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-plus/nameless-beside-good",
        "Remember that I prefer Chinese.",
        ("set_memory",),
        (
            stream(
                call("set_memory", _MEMORY, call_id="call_5a03"),
                finish("tool_calls"),
                spelling=_EMPTY_LATER,
                edits=(insert(4, _NAMELESS),),
            ),
        ),
    ),
    Recipe(
        "dashscope/deepseek-v3/narration-and-call",
        "What is the weather in Oslo?",
        ("get_weather",),
        (
            stream(
                text("Let me ", "check."),
                call("get_weather", '{"city": "Oslo"}', call_id="call_77", pieces=4),
                finish("tool_calls"),
                spelling=_EMPTY_LATER,
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen-plus/parallel",
        "Compare the weather in Oslo and Bergen.",
        ("get_weather",),
        (
            stream(
                call("get_weather", '{"city": "Oslo"}', call_id="call_a"),
                call("get_weather", '{"city": "Bergen"}', index=1, call_id="call_b"),
                finish("tool_calls"),
                spelling=_EMPTY_LATER,
            ),
        ),
    ),
    Recipe(
        "dashscope/qwen3-max/thinking-and-call",
        "What time is it?",
        ("get_time",),
        (
            stream(
                reasoning("The user wants ", "the time."),
                call("get_time", "{}", call_id="call_t"),
                finish("tool_calls"),
                spelling=_EMPTY_LATER,
            ),
        ),
    ),
)
