"""The dialect `anthropic`: the messages stream of content blocks, direct or by way of a cloud."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="anthropic",
    title="Anthropic Messages API, also on Vertex AI, Azure and Amazon Bedrock",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.AnthropicOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    request_headers=(("anthropic-version", "2023-06-01"),),
    done="added",
    unknown_events=({"type": "ping"}, {"type": "x_progress", "percent": 50}),
    id_pattern="[a-zA-Z0-9_-]{1,64}",  # source: API reference, `tool_use.id`
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
)
