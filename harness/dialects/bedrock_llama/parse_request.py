"""A Llama request to Bedrock -> which model was asked, and whether for a stream.

The prompt is one text without roles and tools. Never raises.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, path_of, unescaped

_STREAM = "/invoke-with-response-stream"


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - the address says it all
    """Return what the request body `value`, sent to `uri`, asks for."""
    path = path_of(uri)
    return ChatRequest(
        model=unescaped(path.partition("/model/")[2].rpartition("/")[0]),
        stream=path.endswith(_STREAM),
        tools_known=True,
    )
