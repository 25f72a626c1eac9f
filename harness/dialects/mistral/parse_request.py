"""A Mistral chat request -> what the model was asked with: model, tools, system text.

The body is hostile and often not kept: whatever cannot be read is empty. Never raises.
Source: https://docs.mistral.ai/api/#tag/chat
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - other dialects name the model in the address
    """Return what the request body `value`, sent to `uri`, asks for."""
    return ChatRequest(
        model=as_text(value.get("model")),
        tools=tuple(_tools(value.get("tools"))),
        system="\n".join(_system_texts(value.get("messages"))),
        stream=value.get("stream") is True,
        tools_known=True,
    )


def _tools(tools: object) -> Iterator[Tool]:
    for item in dicts(tools):
        declared = item.get("function")
        if isinstance(declared, dict):
            parameters = declared.get("parameters")
            yield tool(declared.get("name"), declared.get("description"), parameters)


def _system_texts(messages: object) -> Iterator[str]:
    for message in dicts(messages):
        if message.get("role") == "system":
            yield text_of(message.get("content"))
