"""The dialect `anthropic`: the messages stream of content blocks, direct or by way of a cloud."""

from harness.dialects.anthropic.build_request import REQUEST_FORMS
from harness.dialects.anthropic.detect import DETECTION
from harness.dialects.anthropic.oracle import AnthropicOracle
from harness.dialects.anthropic.parse_request import parse_request
from harness.dialects.anthropic.read import read
from harness.dialects.anthropic.write import write
from harness.dialects.anthropic.writer_options import WriterOptions
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="anthropic",
    title="Anthropic Messages API, also on Vertex AI, Azure and Amazon Bedrock",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=AnthropicOracle,
    parse_request=parse_request,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
