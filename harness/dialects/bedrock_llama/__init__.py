"""The dialect `bedrock-llama`: text of Meta's Llama, as Bedrock's invoke calls stream it."""

from harness.dialects.bedrock_llama.build_request import REQUEST_FORMS
from harness.dialects.bedrock_llama.detect import DETECTION
from harness.dialects.bedrock_llama.oracle import BedrockLlamaOracle
from harness.dialects.bedrock_llama.parse_request import parse_request
from harness.dialects.bedrock_llama.read import read
from harness.dialects.bedrock_llama.write import WriterOptions, write
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="bedrock-llama",
    title="Meta's Llama under Amazon Bedrock InvokeModelWithResponseStream",
    content_type="application/vnd.amazon.eventstream",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=BedrockLlamaOracle,
    parse_request=parse_request,
    arguments="none",
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
