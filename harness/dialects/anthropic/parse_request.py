"""Parse a request of Anthropic's Messages API, and convert its messages to OpenAI's format.

Clouds name the model in the address and leave it out of the body. Tools that the provider executes
are not tools of the client.
Source: Anthropic API reference, "Messages"; Amazon Bedrock and Vertex AI, Anthropic models.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_text, dicts, listed, text_of
from harness.turns.turn import Tool

# The model is between these parts of the path: Vertex AI, then Amazon Bedrock.
_MODEL_PATHS = (("/publishers/anthropic/models/", ":"), ("/model/", "/"))
_STREAMS = (":streamRawPredict", "/invoke-with-response-stream")
# Types of tools that Anthropic defines and the client executes; a date follows.
_CLIENT_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_")


def parse_request(uri: str, body: Json) -> kit.ChatRequest:
    """Return the content of the request `body` that was sent to `uri`."""
    path = uri.partition("?")[0]
    return kit.ChatRequest(
        model=as_text(body.get("model")) or _model(path),
        tools=tuple(_tools(body)),
        system=kit.system_text(body.get("messages"), instructions=text_of(body.get("system"))),
        stream=body.get("stream") is True or path.endswith(_STREAMS),
    )


def _model(path: str) -> str:
    for before, after in _MODEL_PATHS:
        name = path.partition(before)[2].partition(after)[0]
        if name:
            return name.replace("%3A", ":").replace("%3a", ":").replace("%40", "@")
    return ""


def _tools(body: Json) -> Iterator[Tool]:
    for item in dicts(body.get("tools")):
        if (as_text(item.get("type")) or "custom").startswith(_CLIENT_TOOLS):
            yield kit.tool(item.get("name"), item.get("description"), item.get("input_schema"))


def _messages(body: Json) -> Iterator[object]:
    return kit.joined_messages(_groups(body))


def _groups(body: Json) -> Iterator[Iterable[object]]:
    instructions = text_of(body.get("system"))
    if instructions:
        yield [{"role": "system", "content": instructions}]
    for message in listed(body.get("messages")):
        if not isinstance(message, dict):
            yield [message]
        elif message.get("role") == "assistant":
            yield [kit.assistant_message(_parts(message.get("content")))]
        elif isinstance(message.get("content"), list):
            yield kit.user_messages(_parts(message["content"]), message.get("role", ""))
        else:
            yield [message]


def _parts(content: object) -> Iterator[kit.Part]:
    if isinstance(content, str):
        yield kit.TextPart(content)
    for block in dicts(content):
        yield from _part(block)


def _part(block: Json) -> Iterator[kit.Part]:
    kind = block.get("type")
    if kind == "text":
        yield kit.TextPart(str(block.get("text") or ""))
    elif kind == "thinking":
        yield kit.ReasoningPart(str(block.get("thinking") or ""))
        signature = as_text(block.get("signature"))
        yield from [kit.SealedPart("signature", signature)] if signature else []
    elif kind == "redacted_thinking":
        yield kit.SealedPart("redacted_thinking", as_text(block.get("data")))
    elif kind == "tool_use":
        yield kit.CallPart(
            str(block.get("id") or ""), block.get("name"), kit.object_arguments(block.get("input"))
        )
    elif kind == "tool_result":
        # Content may be left out, and then the result is empty.
        yield kit.ResultPart(block.get("tool_use_id"), block.get("content", ""))
    else:
        yield kit.OtherPart(block)


MESSAGES: Final = kit.MessageForm(
    _messages, lambda body: dicts(body.get("tools")), frozenset(("messages", "system", "tools"))
)
