"""Parse an openai-completions request: the model, and whether it requests a stream.

The prompt is one text without roles and without tools.
Source: OpenAI API reference, "Create completion" (legacy).
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_text


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return the content of the request `body` that was sent to `uri`."""
    return kit.ChatRequest(
        model=as_text(body.get("model")),
        stream=body.get("stream") is True,
    )
