"""An openai-completions request -> which model was asked, and whether for a stream.

The prompt is one text without roles and without tools. Never raises.
Source: OpenAI API reference, "Create completion" (legacy).
"""

from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - other dialects name the model in the address
    """Return what the request body `value`, sent to `uri`, asks for."""
    return ChatRequest(
        model=as_text(value.get("model")),
        stream=value.get("stream") is True,
        tools_known=True,
    )
