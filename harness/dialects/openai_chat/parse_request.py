"""An openai-chat request -> what the model was asked with: model, tools, system text.

The body is hostile and often not kept: whatever cannot be read is empty. Never raises.
Source: OpenAI API reference, "Create chat completion".
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool

_SYSTEM_ROLES = frozenset({"system", "developer"})


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - other dialects name the model in the address
    """Return what the request body `value`, sent to `uri`, asks for."""
    return ChatRequest(
        model=as_text(value.get("model")),
        tools=tuple(_tools(value)),
        system="\n".join(_system_texts(value.get("messages"))),
        stream=value.get("stream") is True,
        tools_known=True,
    )


def _tools(value: dict[str, Any]) -> Iterator[Tool]:
    """Yield the declared tools, legacy `functions` after `tools`."""
    for item in dicts(value.get("tools")):
        declared = item.get("function") or item.get("custom")
        if isinstance(declared, dict):
            yield _tool(declared)
    for declared in dicts(value.get("functions")):
        yield _tool(declared)


def _tool(declared: dict[str, Any]) -> Tool:
    return tool(declared.get("name"), declared.get("description"), declared.get("parameters"))


def _system_texts(messages: object) -> Iterator[str]:
    for message in dicts(messages):
        if as_text(message.get("role")) in _SYSTEM_ROLES:
            yield text_of(message.get("content"))
