"""The dialect `bedrock-converse`: one API of Amazon Bedrock for the models of all makers."""

from harness.dialects.bedrock_converse.build_request import REQUEST_FORMS, build_request
from harness.dialects.bedrock_converse.detect import DETECTION
from harness.dialects.bedrock_converse.oracle import BedrockConverseOracle
from harness.dialects.bedrock_converse.parse_request import MESSAGES, parse_request
from harness.dialects.bedrock_converse.read import read
from harness.dialects.bedrock_converse.write import write
from harness.dialects.bedrock_converse.writer_options import WriterOptions
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="bedrock-converse",
    title="Amazon Bedrock ConverseStream",
    content_type="application/vnd.amazon.eventstream",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=BedrockConverseOracle,
    parse_request=parse_request,
    messages=MESSAGES,
    build_request=build_request,
    meaningful_options=frozenset(("metadata",)),
    id_pattern="[a-zA-Z0-9_-]{1,64}",  # source: API reference, `toolUseId`
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
