"""Parse an Interactions request.

Source: Gemini API reference, "Interactions", `CreateInteraction`.
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_text, dicts, text_of


def parse_request(uri: str, body: Json) -> kit.ChatRequest:
    """Return the content of the request `body` that was sent to `uri`."""
    return kit.ChatRequest(
        model=as_text(body.get("model") or body.get("agent")),
        tools=tuple(
            kit.declared_tool(declared)
            for declared in dicts(body.get("tools"))
            if declared.get("type") == "function"
        ),
        system=text_of(body.get("system_instruction")),
        stream=body.get("stream") is True or "alt=sse" in uri,
    )
