"""An Ollama request -> what the model was asked with: model, tools, system text.

The body is hostile and often not kept: whatever cannot be read is empty. Never raises.
Source: https://docs.ollama.com/api/chat and /api/generate
"""

from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - other dialects name the model in the address
    """Return what the request body `value`, sent to `uri`, asks for."""
    return ChatRequest(
        model=as_text(value.get("model")) or as_text(value.get("name")),
        tools=tuple(map(_tool, dicts(value.get("tools")))),
        system=_system(value),
        # This API streams unless it is told not to.
        stream=value.get("stream") is not False,
        tools_known=True,
    )


def _tool(declared: dict[str, Any]) -> Tool:
    function = declared.get("function")
    fields = function if isinstance(function, dict) else {}
    return tool(fields.get("name"), fields.get("description"), fields.get("parameters"))


def _system(value: dict[str, Any]) -> str:
    """Return the system messages of a chat, or the `system` of a generate request."""
    texts = [
        text_of(message.get("content"))
        for message in dicts(value.get("messages"))
        if message.get("role") == "system"
    ]
    return "\n".join(texts) or as_text(value.get("system"))
