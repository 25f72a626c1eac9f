"""A text-generation-inference request -> which model was asked, and whether for a stream.

The server has one model, which at most the address names; the input is one text without
roles and tools. Never raises.
Source: Hugging Face, Text Generation Inference API, `/generate_stream` and `/`.
"""

from typing import Any

from harness.dialects.kit.parse_request import ChatRequest

_STREAM = "/generate_stream"
_MODELS = "/models/"


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:
    """Return what the request body `value`, sent to `uri`, asks for."""
    path = uri.partition("?")[0]
    return ChatRequest(
        model=path.partition(_MODELS)[2].removesuffix(_STREAM),
        stream=value.get("stream") is True or path.endswith(_STREAM),
        tools_known=True,
    )
