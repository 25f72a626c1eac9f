"""The dialect `bedrock-converse`: one API of Amazon Bedrock for the models of all makers."""

from harness.dialects.kit.dialect import Dialect

from . import build_request, detect, oracle, parse_request, read, write, writer_options

DIALECT = Dialect(
    name="bedrock-converse",
    title="Amazon Bedrock ConverseStream",
    content_type="application/vnd.amazon.eventstream",
    read=read.read,
    write=write.write,
    writer_options=writer_options.WriterOptions,
    oracle=oracle.BedrockConverseOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    meaningful_options=frozenset(("metadata",)),
    id_pattern="[a-zA-Z0-9_-]{1,64}",  # source: API reference, `toolUseId`
    request_forms=build_request.REQUEST_FORMS,
    detection=detect.DETECTION,
)
