"""Converse messages: blocks told apart by their only member, results in the user's messages.

Source: Amazon Bedrock API reference, `ConverseStream`, `ContentBlock`, `ToolResultBlock`.
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
from harness.judging.conversations.session import as_text


def _messages(body: Json) -> Iterator[object]:
    instructions = text_of({"content": body.get("system")})
    if instructions:
        yield {"role": "system", "content": instructions}
    listed = body.get("messages")
    for message in listed if isinstance(listed, list) else ():
        if not isinstance(message, dict):
            yield message
            continue
        parts = [part for block in dicts(message.get("content")) for part in _parts(block)]
        if message.get("role") == "assistant":
            yield of_the_model(parts)
        else:
            yield from of_the_user(parts, message.get("role", ""))


def _parts(block: Json) -> Iterator[Part]:
    call, answer = block.get("toolUse"), block.get("toolResult")
    if isinstance(block.get("text"), str):
        yield Text(block["text"])
    elif isinstance(call, dict):
        arguments = object_text(call.get("input"))
        yield Called(str(call.get("toolUseId") or ""), call.get("name"), arguments)
    elif isinstance(answer, dict):
        yield Answered(answer.get("toolUseId"), _result(answer.get("content")))
    elif isinstance(block.get("reasoningContent"), dict):
        yield from _reasoning(block["reasoningContent"])
    else:
        yield Other(block)


def _result(content: object) -> object:
    """Return what a tool returned; where it is neither text nor JSON, it stays what it is."""
    blocks = list(dicts(content))
    if not isinstance(content, list) or len(blocks) != len(content):
        return content
    if any(block.keys().isdisjoint(("text", "json")) for block in blocks):
        return [{"type": "other", **block} for block in blocks]  # pictures and files
    return "".join(
        block["text"] if isinstance(block.get("text"), str) else as_text(block.get("json"))
        for block in blocks
    )


def _reasoning(content: Json) -> Iterator[Part]:
    said = content.get("reasoningText")
    if isinstance(said, dict):
        yield Thought(str(said.get("text") or ""))
        yield from [Sealed("reasoningText")] if said.get("signature") else []
    else:
        yield Sealed("redactedContent")


def _tools(body: Json) -> Iterator[object]:
    config = body.get("toolConfig")
    listed = config.get("tools") if isinstance(config, dict) else None
    return (tool["toolSpec"] for tool in dicts(listed) if isinstance(tool.get("toolSpec"), dict))


FORM: Final = Form(_messages, _tools, frozenset(("messages", "system", "toolConfig")))
