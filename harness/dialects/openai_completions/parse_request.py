"""An openai-completions request -> the model, and whether it requests a stream.

The prompt is one text without roles and without tools.
Source: OpenAI API reference, "Create completion" (legacy).
"""

from harness.dialects.kit.parse_request import ChatRequest, Json, as_text


def parse_request(uri: str, body: Json) -> ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return what the request `body`, sent to `uri`, contains."""
    return ChatRequest(
        model=as_text(body.get("model")),
        stream=body.get("stream") is True,
        tools_known=True,
    )
