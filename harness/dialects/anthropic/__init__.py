"""The dialect `anthropic`: the messages stream of content blocks, direct or by way of a cloud."""

from harness.dialects.anthropic.build_request import REQUEST_FORMS, build_request
from harness.dialects.anthropic.detect import DETECTION
from harness.dialects.anthropic.oracle import AnthropicOracle
from harness.dialects.anthropic.parse_request import MESSAGES, parse_request
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
    messages=MESSAGES,
    build_request=build_request,
    request_headers=(("anthropic-version", "2023-06-01"),),
    done="added",
    unknown_events=({"type": "ping"}, {"type": "x_progress", "percent": 50}),
    id_pattern="[a-zA-Z0-9_-]{1,64}",  # source: API reference, `tool_use.id`
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
