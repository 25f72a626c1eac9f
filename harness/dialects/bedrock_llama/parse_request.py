"""Parse a Llama request to Bedrock: the model, and whether it requests a stream.

The prompt is one text without roles and tools.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json

_STREAM = "/invoke-with-response-stream"


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - the address contains all of it
    """Return the content of the request `body` that was sent to `uri`."""
    path = kit.path_of(uri)
    return kit.ChatRequest(
        model=kit.unescaped(path.partition("/model/")[2].rpartition("/")[0]),
        stream=path.endswith(_STREAM),
    )
