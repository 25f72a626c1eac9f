"""An Interactions request -> what the model was asked with: model, tools, system text.

The body is hostile and often not kept: whatever cannot be read is empty. Never raises.
Source: Gemini API reference, "Interactions", `CreateInteraction`.
"""

from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:
    """Return what the request body `value`, sent to `uri`, asks for."""
    return ChatRequest(
        model=as_text(value.get("model") or value.get("agent")),
        tools=tuple(
            tool(declared.get("name"), declared.get("description"), declared.get("parameters"))
            for declared in dicts(value.get("tools"))
            if declared.get("type") == "function"
        ),
        system=text_of(value.get("system_instruction")),
        stream=value.get("stream") is True or "alt=sse" in uri,
        tools_known=True,
    )
