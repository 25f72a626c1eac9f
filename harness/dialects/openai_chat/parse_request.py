"""Parse a request of the chat completions API.

Source: OpenAI API reference, "Create chat completion".
"""

from collections.abc import Iterator

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_text, dicts
from harness.turns.turn import Tool


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return the content of the request `body` that was sent to `uri`."""
    return kit.ChatRequest(
        model=as_text(body.get("model")),
        tools=tuple(_tools(body)),
        system=kit.system_text(body.get("messages")),
        stream=body.get("stream") is True,
    )


def _tools(body: Json) -> Iterator[Tool]:
    """Yield the declared tools, the legacy `functions` after `tools`."""
    for item in dicts(body.get("tools")):
        declared = item.get("function") or item.get("custom")
        if isinstance(declared, dict):
            yield kit.declared_tool(declared)
    yield from map(kit.declared_tool, dicts(body.get("functions")))
