"""Text that looks like a call and is none, beside the one call that is meant.

Each answer holds well-formed markup: as an example, a quotation, a draft, a piece of data or
a value of another call. Asked about tool calls, models write such answers.
"""

import json
from typing import Any

from harness.dialects.openai_chat.writer_options import WriterOptions
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
    end_before,
    finish,
    raw,
    reasoning,
    spelled,
    stream,
)

_QWEN, _HERMES = "compatible/qwen2.5-7b-instruct", "compatible/hermes-3-llama-3.1-8b"
_LLAMA, _KIMI = "compatible/llama-3.1-8b-instruct", "compatible/kimi-k2-instruct"
_TOOLS = ("get_weather", "run_command", "write_file")
_THINKING = WriterOptions(reasoning_field="reasoning_content")

_REMOVE = '{"name": "run_command", "arguments": {"command": "rm -r build"}}'
_EXAMPLE = f"<tool_call>\n{_REMOVE}\n</tool_call>"
_INLINE = f"<tool_call>{_REMOVE}</tool_call>"
_OSLO_JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_OSLO = f"<tool_call>\n{_OSLO_JSON}\n</tool_call>"
_SECTION = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>'
)
_HOW = "How does your model spell a tool call?"
_WEATHER = "What is the weather in Oslo?"


def _recipe(
    name: str,
    reply: Reply | str,
    *,
    model: str = _QWEN,
    question: str = _HOW,
    tools: tuple[str, ...] = _TOOLS,
    **request: Any,  # noqa: ANN401 - fields of the request
) -> Recipe:
    made = _said(reply) if isinstance(reply, str) else reply
    return Recipe(f"{model}/{name}", question, tools, (made,), request=request)


def _said(text: str, *, size: int = 7, word: str = "stop") -> Reply:
    return stream(spelled(text, size=size), finish(word))


def _thought(thought: str, answer: str = "") -> Reply:
    pieces = (thought[at : at + 8] for at in range(0, len(thought), 8))
    said = spelled(answer) if answer else ()
    return stream(reasoning(*pieces), said, finish("stop"), spelling=_THINKING)


def _written(content: str) -> str:
    value = {"name": "write_file", "arguments": {"path": "calls.md", "content": content}}
    return f"<tool_call>\n{json.dumps(value, ensure_ascii=False)}\n</tool_call>"


_CODE = (
    _recipe("fence-tildes", f"Like this:\n\n~~~xml\n{_EXAMPLE}\n~~~\n\nThe engine runs it."),
    _recipe(
        "fence-in-fence",
        f"In Markdown:\n\n````markdown\n```xml\n{_EXAMPLE}\n```\n{_EXAMPLE}\n````\n\nDone.",
    ),
    _recipe("fence-never-closed", f"Like this:\n\n```\n{_EXAMPLE}\n"),
    _recipe("fence-in-list", f"1. Write this:\n\n    ```xml\n    {_INLINE}\n    ```\n\n2. Wait."),
    _recipe("fence-opens-list-item", f"Steps:\n\n- ```xml\n  {_INLINE}\n  ```\n- Wait."),
    _recipe("fence-crlf", f"Like this:\n\n```\n{_EXAMPLE}\n```\n\nDone.".replace("\n", "\r\n")),
    _recipe(
        "fence-then-call",
        f"I would write\n\n```xml\n{_EXAMPLE}\n```\n\nbut you asked for this:\n{_OSLO}",
        question=_WEATHER,
    ),
    _recipe("inline-code", f"Write `{_INLINE}` and stop there."),
    _recipe("inline-code-two-ticks", f"Write `` {_INLINE} `` and stop there."),
    _recipe(
        "block-quote",
        f"The log says:\n\n> {_EXAMPLE.replace(chr(10), chr(10) + '> ')}\n\nIt was refused.",
    ),
)

_QUOTED = (
    _recipe("quoted", f'The log has "{_INLINE}" in its last line.', model=_HERMES),
    _recipe("quoted-curly", f"The log has “{_INLINE}” in its last line.", model=_HERMES),
    _recipe("quoted-chinese", f"模型会写「{_INLINE}」，然后停下。", question="工具调用怎么写？"),
    _recipe(
        "full-width-brackets",
        _EXAMPLE.replace("<", "\uff1c").replace(">", "\uff1e"),
        question="工具调用怎么写？",
    ),
)

_REASONING = (
    _recipe(
        "think-draft-only",
        f"<think>\nShould I remove it?\n{_EXAMPLE}\nNo, nobody asked.\n</think>\n\nNothing to do.",
    ),
    _recipe(
        "think-same-call-twice",
        f"<think>\nThe user wants Oslo.\n{_OSLO}\nYes.\n</think>\n\n{_OSLO}",
        question=_WEATHER,
    ),
    _recipe(
        "think-never-closed",
        f"<think>\nThe user wants Oslo.\n{_OSLO}",
        model=_HERMES,
        question=_WEATHER,
    ),
    _recipe(
        "think-never-closed-no-call",
        f"<think>\nI could write\n{_EXAMPLE}\nbut nobody asked for it",
    ),
    _recipe("think-in-prose", "Between <think> and </think> the model drafts its calls."),
    _recipe("think-in-fence", "```xml\n<think>\nHm.\n</think>\n```\n\nThat is its format."),
    _recipe(
        "channel-draft",
        _thought(f"Should I remove it?\n{_EXAMPLE}\nNo, nobody asked.", "Nothing to do."),
    ),
    _recipe(
        "channel-draft-then-call",
        _thought(f"The user wants Oslo.\n{_OSLO}\nYes.", _OSLO),
        question=_WEATHER,
    ),
    _recipe(
        "channel-ends-in-section",
        _thought(f"The user wants Oslo. {_SECTION}"),
        model=_KIMI,
        question=_WEATHER,
    ),
)

_VALUES = (
    _recipe("value-holds-call", _written(f"Write this:\n{_EXAMPLE}\nand stop.")),
    _recipe("value-holds-closer", f"{_written('It ends with </tool_call>')}\nWritten."),
    _recipe("value-holds-fence", f"{_written('```xml')}\n{_OSLO}", question=_WEATHER),
    _recipe("value-holds-think", f"{_written('<think>')}\n{_OSLO}", question=_WEATHER),
)

_DATA = (
    _recipe("undeclared-tool", '<tool_call>{"name": "drop_table", "arguments": {}}</tool_call>'),
    _recipe("data-package", '{"name": "my-app", "version": "1.0.0"}', model=_LLAMA),
    _recipe("data-with-arguments", '{"name": "ls", "arguments": {"flags": "-l"}}', model=_LLAMA),
    _recipe("data-contacts", '[{"name": "Ada", "age": 36}, {"name": "Linus"}]', model=_LLAMA),
    _recipe(
        "data-in-fence",
        '```json\n{"name": "my-app", "version": "1.0.0"}\n```',
        model=_LLAMA,
        question="Show me the manifest.",
    ),
    _recipe(
        "data-names-a-tool",
        '{"name": "run_command", "description": "Run a command in a shell."}',
        model=_LLAMA,
        question="Describe your tool.",
    ),
    _recipe("bare-json-among-words", f"I would say {_OSLO_JSON} to that.", model=_LLAMA),
    _recipe(
        "inner-object-of-broken-call",
        '{"tool": "schedule", "arguments": {"name": "run_command", "arguments": {}},}',
        model=_LLAMA,
    ),
)

_PROSE = (
    _recipe(
        "marker-in-prose",
        "The model writes <tool_call> before a call. After it comes JSON, then it waits.",
    ),
    _recipe("marker-ends-text", "A call begins with <tool_call>"),
    _recipe("marker-cut-at-end", "A call begins with <tool_ca"),
    _recipe("marker-look-alikes", "Neither <tool_cast> nor <tools> nor <tool_call_id> is a call."),
    _recipe(
        "tools-not-offered",
        f"<think>\nHm.\n</think>\nIt would be\n{_EXAMPLE}\nif I had a tool.",
        tools=(),
    ),
    _recipe("tool-choice-none", f"It would be\n{_EXAMPLE}\nif I might.", tool_choice="none"),
)

_UNCLOSED = (
    _recipe(
        "unclosed-at-stop",
        'I do it now.\n<tool_call>\n{"name": "run_command", "arguments": {"command": "rm -r bu',
    ),
    _recipe(
        "unclosed-at-length",
        _said(
            '<tool_call>\n{"name": "run_command", "arguments": {"command": "rm -r ', word="length"
        ),
    ),
    _recipe("unclosed-whole-body", f"One moment.\n<tool_call>\n{_OSLO_JSON}\n", question=_WEATHER),
    _recipe(
        "interrupted-in-call",
        stream(spelled(_EXAMPLE, size=8), finish("stop"), edits=(cut_after(b"comma"),)),
    ),
    _recipe(
        "interrupted-after-call",
        stream(spelled(f"{_EXAMPLE}\nD"), finish("stop"), edits=(end_before(b'"stop"'),)),
    ),
    _recipe(
        "error-holds-markup",
        raw(
            json.dumps({"error": {"message": f"bad output: {_INLINE}", "code": 500}}).encode(),
            status=500,
            content_type="application/json",
        ),
    ),
    _recipe(
        "native-call-beside-example",
        stream(
            spelled(f"Not like this:\n\n```\n{_EXAMPLE}\n```\n\n"),
            call("get_weather", '{"city": "Oslo"}', call_id="call_a"),
            finish("tool_calls"),
        ),
        question=_WEATHER,
    ),
)

_CHARACTERS = (
    _recipe(
        "chinese-narration",
        f"好的，我来查一下。\n{_OSLO.replace('Oslo', '北京')}\n请稍等。",
        question="北京的天气怎么样？",
    ),
    _recipe("crlf-call", _OSLO.replace("\n", "\r\n"), question=_WEATHER),
    _recipe(
        "emoji-beside-marker", _said(f"👋🏽{_OSLO}👩‍🚀", size=1), model=_HERMES, question=_WEATHER
    ),
    _recipe(
        "letter-by-letter-example",
        _said(f"So:\n```\n{_EXAMPLE}\n```\nThat is <tool_call>.", size=1),
        model=_HERMES,
    ),
    _recipe("identical-calls", f"{_OSLO}\n{_OSLO}", model=_HERMES, question=_WEATHER),
)

RECIPES = (
    *_CODE,
    *_QUOTED,
    *_REASONING,
    *_VALUES,
    *_DATA,
    *_PROSE,
    *_UNCLOSED,
    *_CHARACTERS,
)
