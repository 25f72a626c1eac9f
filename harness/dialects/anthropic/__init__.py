"""The dialect `anthropic`: the messages stream of content blocks, direct or by way of a cloud."""

from harness.dialects.anthropic.parse_request import parse_request
from harness.dialects.anthropic.read import read
from harness.dialects.anthropic.write import write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    "anthropic",
    "Anthropic Messages API, also on Vertex AI, Azure and Amazon Bedrock",
    read,
    write,
    parse_request,
)
