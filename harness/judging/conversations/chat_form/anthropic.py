"""Anthropic's messages: a system text apart, blocks, results in the user's messages.

Source: Anthropic API reference, `POST /v1/messages`, `messages[].content`.
"""

from collections.abc import Iterator
from typing import Final

from harness.judging.conversations.chat_form.form import Form, Json, dicts
from harness.judging.conversations.chat_form.message import text_of
from harness.judging.conversations.chat_form.parts import (
    Answered,
    Called,
    Other,
    Part,
    Sealed,
    Text,
    Thought,
    object_text,
    of_the_model,
    of_the_user,
)


def _messages(body: Json) -> Iterator[object]:
    listed = body.get("messages")
    instructions = text_of({"content": body.get("system")})
    if instructions:
        yield {"role": "system", "content": instructions}
    for message in listed if isinstance(listed, list) else ():
        if not isinstance(message, dict):
            yield message
        elif message.get("role") == "assistant":
            yield of_the_model(_parts(message.get("content")))
        elif isinstance(message.get("content"), list):
            yield from of_the_user(_parts(message["content"]), message.get("role", ""))
        else:
            yield message


def _parts(content: object) -> Iterator[Part]:
    if isinstance(content, str):
        yield Text(content)
    for block in dicts(content):
        yield from _part(block)


def _part(block: Json) -> Iterator[Part]:
    kind = block.get("type")
    if kind == "text":
        yield Text(str(block.get("text") or ""))
    elif kind == "thinking":
        yield Thought(str(block.get("thinking") or ""))
        yield from [Sealed("thinking")] if block.get("signature") else []
    elif kind == "redacted_thinking":
        yield Sealed("redacted_thinking")
    elif kind == "tool_use":
        yield Called(str(block.get("id") or ""), block.get("name"), object_text(block.get("input")))
    elif kind == "tool_result":
        # Content may be left out, and then the result is empty.
        yield Answered(block.get("tool_use_id"), block.get("content", ""))
    else:
        yield Other(block)


def _tools(body: Json) -> Iterator[object]:
    return dicts(body.get("tools"))


FORM: Final = Form(_messages, _tools, frozenset(("messages", "system", "tools")))
