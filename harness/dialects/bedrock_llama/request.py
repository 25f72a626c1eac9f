"""A Llama request to Bedrock -> which model was asked, and whether for a stream.

The prompt is one text without roles and tools. Never raises.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from typing import Any
from urllib.parse import unquote

from harness.turns.chat_request import ChatRequest

_STREAM = "/invoke-with-response-stream"


def read_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - the address says it all
    """Return what the request body `value`, sent to `uri`, asks for."""
    path = uri.partition("?")[0]
    return ChatRequest(
        model=unquote(path.partition("/model/")[2].rpartition("/")[0]),
        stream=path.endswith(_STREAM),
        tools_known=True,
    )
