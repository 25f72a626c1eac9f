"""A request of Mistral's chat API -> what it contains.

Source: https://docs.mistral.ai/api/#tag/chat
"""

from harness.dialects.kit.parse_request import (
    ChatRequest,
    Json,
    as_text,
    function_tools,
    system_text,
)


def parse_request(uri: str, body: Json) -> ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return what the request `body`, sent to `uri`, contains."""
    return ChatRequest(
        model=as_text(body.get("model")),
        tools=tuple(function_tools(body.get("tools"))),
        system=system_text(body.get("messages"), frozenset(("system",))),
        stream=body.get("stream") is True,
        tools_known=True,
    )
