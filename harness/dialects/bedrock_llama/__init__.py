"""Register the dialect `bedrock-llama`: text of Meta's Llama from Bedrock's invoke calls."""

from harness.dialects.kit.detect import Detection, members
from harness.dialects.kit.dialect import Dialect
from harness.wire.aws import AWS_CONTENT_TYPE

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="bedrock-llama",
    reference="https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html",
    content_type=AWS_CONTENT_TYPE,
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.BedrockLlamaOracle,
    parse_request=parse_request.parse_request,
    arguments="none",
    base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    below_base_url="/model/.+",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/model/[^/]*meta\.[^/]+/invoke(?:-with-response-stream)?$",),
        signs=(members("generation stop_reason", "generation prompt_token_count"),),
    ),
)
