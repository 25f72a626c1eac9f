"""The dialect `bedrock-llama`: text of Meta's Llama, as Bedrock's invoke calls stream it."""

from harness.dialects.bedrock_llama.parse_request import parse_request
from harness.dialects.bedrock_llama.read import read
from harness.dialects.bedrock_llama.write import write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    "bedrock-llama",
    "Meta's Llama under Amazon Bedrock InvokeModelWithResponseStream",
    read,
    write,
    parse_request,
    content_type="application/vnd.amazon.eventstream",
)
