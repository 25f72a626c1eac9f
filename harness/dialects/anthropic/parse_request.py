"""A messages request -> what the model was asked with: model, tools, system text.

Clouds name the model in the address and leave it out of the body. Tools that the provider runs
itself are none of the client's. The body is hostile and often not kept: never raises.
Source: Anthropic API reference, "Messages"; Amazon Bedrock and Vertex AI, Anthropic models.
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool

# Between these stands the model: Vertex AI, then Amazon Bedrock.
_PLACES = (
    ("/publishers/anthropic/models/", ":"),
    ("/model/", "/"),
)
_STREAMS = (":streamRawPredict", "/invoke-with-response-stream")
# Types of tools that Anthropic defines and the client runs; a date follows.
_CLIENT_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_")
_SYSTEM_ROLES = frozenset({"system", "developer"})


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:
    """Return what the request body `value`, sent to `uri`, asks for."""
    path = uri.partition("?")[0]
    return ChatRequest(
        model=as_text(value.get("model")) or _model(path),
        tools=tuple(_tools(value)),
        system="\n".join(_system_texts(value)),
        stream=value.get("stream") is True or path.endswith(_STREAMS),
        tools_known=True,
    )


def _model(path: str) -> str:
    for before, after in _PLACES:
        name = path.partition(before)[2].partition(after)[0]
        if name:
            return name.replace("%3A", ":").replace("%3a", ":").replace("%40", "@")
    return ""


def _tools(value: dict[str, Any]) -> Iterator[Tool]:
    for item in dicts(value.get("tools")):
        if (as_text(item.get("type")) or "custom").startswith(_CLIENT_TOOLS):
            yield tool(item.get("name"), item.get("description"), item.get("input_schema"))


def _system_texts(value: dict[str, Any]) -> Iterator[str]:
    if text := text_of(value.get("system")):
        yield text
    for message in dicts(value.get("messages")):
        if as_text(message.get("role")) in _SYSTEM_ROLES:
            yield text_of(message.get("content"))
