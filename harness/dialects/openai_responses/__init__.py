"""The dialect `openai-responses`: typed events of the Responses API, and of the Realtime API."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_responses.build_request import REQUEST_FORMS
from harness.dialects.openai_responses.detect import DETECTION
from harness.dialects.openai_responses.oracle import OpenAIResponsesOracle
from harness.dialects.openai_responses.parse_request import parse_request
from harness.dialects.openai_responses.read import read
from harness.dialects.openai_responses.write import write
from harness.dialects.openai_responses.writer_options import WriterOptions

DIALECT = Dialect(
    name="openai-responses",
    title="OpenAI Responses API, and the events of its Realtime API",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=OpenAIResponsesOracle,
    parse_request=parse_request,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
