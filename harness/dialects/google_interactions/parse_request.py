"""An Interactions request -> what it contains.

Source: Gemini API reference, "Interactions", `CreateInteraction`.
"""

from harness.dialects.kit.parse_request import (
    ChatRequest,
    Json,
    as_text,
    declared_tool,
    dicts,
    text_of,
)


def parse_request(uri: str, body: Json) -> ChatRequest:
    """Return what the request `body`, sent to `uri`, contains."""
    return ChatRequest(
        model=as_text(body.get("model") or body.get("agent")),
        tools=tuple(
            declared_tool(declared)
            for declared in dicts(body.get("tools"))
            if declared.get("type") == "function"
        ),
        system=text_of(body.get("system_instruction")),
        stream=body.get("stream") is True or "alt=sse" in uri,
        tools_known=True,
    )
