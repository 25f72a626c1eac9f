"""Parse a Converse request, and convert its messages to OpenAI's format.

The address names the model and requests the stream. Tools are `toolSpec`s with a JSON Schema.
Source: Amazon Bedrock API reference, `ConverseStream`, `ContentBlock`, `ToolResultBlock`.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_dict, as_text, dicts, listed, text_of
from harness.turns.turn import Tool

_STREAM = "/converse-stream"


def parse_request(uri: str, body: Json) -> kit.ChatRequest:
    """Return the content of the request `body` that was sent to `uri`."""
    path = kit.path_of(uri)
    return kit.ChatRequest(
        model=kit.unescaped(path.partition("/model/")[2].rpartition("/")[0])
        or as_text(body.get("modelId")),
        tools=tuple(map(_tool, _declarations(body))),
        system="\n".join(as_text(part.get("text")) for part in dicts(body.get("system"))),
        stream=path.endswith(_STREAM),
    )


def _tool(spec: Json) -> Tool:
    parameters = as_dict(spec.get("inputSchema")).get("json")
    return kit.tool(spec.get("name"), spec.get("description"), parameters)


def _messages(body: Json) -> Iterator[object]:
    return kit.joined_messages(_groups(body))


def _groups(body: Json) -> Iterator[Iterable[object]]:
    instructions = text_of(body.get("system"))
    if instructions:
        yield [{"role": "system", "content": instructions}]
    for message in listed(body.get("messages")):
        if not isinstance(message, dict):
            yield [message]
            continue
        parts = [part for block in dicts(message.get("content")) for part in _parts(block)]
        if message.get("role") == "assistant":
            yield [kit.assistant_message(parts)]
        else:
            yield kit.user_messages(parts, message.get("role", ""))


def _parts(block: Json) -> Iterator[kit.Part]:
    call, answer = block.get("toolUse"), block.get("toolResult")
    if isinstance(block.get("text"), str):
        yield kit.TextPart(block["text"])
    elif isinstance(call, dict):
        arguments = kit.object_arguments(call.get("input"))
        yield kit.CallPart(str(call.get("toolUseId") or ""), call.get("name"), arguments)
    elif isinstance(answer, dict):
        yield kit.ResultPart(answer.get("toolUseId"), _result(answer.get("content")))
    elif isinstance(block.get("reasoningContent"), dict):
        yield from _reasoning(block["reasoningContent"])
    else:
        yield kit.OtherPart(block)


def _result(content: object) -> object:
    """Return what a tool returned; content that is neither text nor JSON is unchanged."""
    blocks = list(dicts(content))
    if not isinstance(content, list) or len(blocks) != len(content):
        return content
    if any(block.keys().isdisjoint(("text", "json")) for block in blocks):
        return [{"type": "other", **block} for block in blocks]  # pictures and files
    return "".join(
        block["text"] if isinstance(block.get("text"), str) else kit.json_text(block.get("json"))
        for block in blocks
    )


def _reasoning(content: Json) -> Iterator[kit.Part]:
    text = content.get("reasoningText")
    if isinstance(text, dict):
        yield kit.ReasoningPart(str(text.get("text") or ""))
        yield from [kit.SealedPart("reasoningText")] if text.get("signature") else []
    else:
        yield kit.SealedPart("redactedContent")


def _declarations(body: Json) -> Iterator[Json]:
    """Yield the declarations of tools, without system tools and cache markers."""
    declared = dicts(as_dict(body.get("toolConfig")).get("tools"))
    return (item["toolSpec"] for item in declared if isinstance(item.get("toolSpec"), dict))


MESSAGES: Final = kit.MessageForm(
    _messages, _declarations, frozenset(("messages", "system", "toolConfig"))
)
