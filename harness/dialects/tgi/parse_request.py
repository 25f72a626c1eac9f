"""Parse a text-generation-inference request: the model, and whether it requests a stream.

A server has one model, which only the address may name. The input is one text without
roles and tools.
Source: Hugging Face, Text Generation Inference API, `/generate_stream` and `/`.
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json

_STREAM = "/generate_stream"
_MODELS = "/models/"


def parse_request(uri: str, body: Json) -> kit.ChatRequest:
    """Return the content of the request `body` that was sent to `uri`."""
    path = uri.partition("?")[0]
    return kit.ChatRequest(
        model=path.partition(_MODELS)[2].removesuffix(_STREAM),
        stream=body.get("stream") is True or path.endswith(_STREAM),
    )
