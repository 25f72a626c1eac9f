"""Parse a request of Mistral's chat API.

Source: https://docs.mistral.ai/api/#tag/chat
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_text


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return the content of the request `body` that was sent to `uri`."""
    return kit.ChatRequest(
        model=as_text(body.get("model")),
        tools=tuple(kit.function_tools(body.get("tools"))),
        system=kit.system_text(body.get("messages"), frozenset(("system",))),
        stream=body.get("stream") is True,
    )
