"""A Converse request -> what it contains, and its messages in OpenAI's form.

The address names the model and requests the stream. Tools are `toolSpec`s with a JSON Schema.
Source: Amazon Bedrock API reference, `ConverseStream`, `ContentBlock`, `ToolResultBlock`.
"""

from collections.abc import Iterator
from typing import Final

from harness.dialects.kit.parse_request import (
    CallPart,
    ChatRequest,
    Json,
    MessageForm,
    OtherPart,
    Part,
    ReasoningPart,
    ResultPart,
    SealedPart,
    TextPart,
    as_text,
    assistant_message,
    dicts,
    json_text,
    listed,
    object_arguments,
    path_of,
    text_of,
    tool,
    unescaped,
    user_messages,
)
from harness.turns.turn import Tool

_STREAM = "/converse-stream"


def parse_request(uri: str, body: Json) -> ChatRequest:
    """Return what the request `body`, sent to `uri`, contains."""
    path = path_of(uri)
    return ChatRequest(
        model=unescaped(path.partition("/model/")[2].rpartition("/")[0])
        or as_text(body.get("modelId")),
        tools=tuple(map(_tool, _declarations(body))),
        system="\n".join(as_text(part.get("text")) for part in dicts(body.get("system"))),
        stream=path.endswith(_STREAM),
        tools_known=True,
    )


def _tool(spec: Json) -> Tool:
    schema = spec.get("inputSchema")
    parameters = schema.get("json") if isinstance(schema, dict) else None
    return tool(spec.get("name"), spec.get("description"), parameters)


def _messages(body: Json) -> Iterator[object]:
    instructions = text_of(body.get("system"))
    if instructions:
        yield {"role": "system", "content": instructions}
    for message in listed(body.get("messages")):
        if not isinstance(message, dict):
            yield message
            continue
        parts = [part for block in dicts(message.get("content")) for part in _parts(block)]
        if message.get("role") == "assistant":
            yield assistant_message(parts)
        else:
            yield from user_messages(parts, message.get("role", ""))


def _parts(block: Json) -> Iterator[Part]:
    call, answer = block.get("toolUse"), block.get("toolResult")
    if isinstance(block.get("text"), str):
        yield TextPart(block["text"])
    elif isinstance(call, dict):
        arguments = object_arguments(call.get("input"))
        yield CallPart(str(call.get("toolUseId") or ""), call.get("name"), arguments)
    elif isinstance(answer, dict):
        yield ResultPart(answer.get("toolUseId"), _result(answer.get("content")))
    elif isinstance(block.get("reasoningContent"), dict):
        yield from _reasoning(block["reasoningContent"])
    else:
        yield OtherPart(block)


def _result(content: object) -> object:
    """Return what a tool returned; content that is neither text nor JSON is unchanged."""
    blocks = list(dicts(content))
    if not isinstance(content, list) or len(blocks) != len(content):
        return content
    if any(block.keys().isdisjoint(("text", "json")) for block in blocks):
        return [{"type": "other", **block} for block in blocks]  # pictures and files
    return "".join(
        block["text"] if isinstance(block.get("text"), str) else json_text(block.get("json"))
        for block in blocks
    )


def _reasoning(content: Json) -> Iterator[Part]:
    text = content.get("reasoningText")
    if isinstance(text, dict):
        yield ReasoningPart(str(text.get("text") or ""))
        yield from [SealedPart("reasoningText")] if text.get("signature") else []
    else:
        yield SealedPart("redactedContent")


def _declarations(body: Json) -> Iterator[Json]:
    """Yield the declared tools; a system tool or a cache marker is not one."""
    config = body.get("toolConfig")
    declared = dicts(config.get("tools") if isinstance(config, dict) else None)
    return (item["toolSpec"] for item in declared if isinstance(item.get("toolSpec"), dict))


MESSAGES: Final = MessageForm(
    _messages, _declarations, frozenset(("messages", "system", "toolConfig"))
)
