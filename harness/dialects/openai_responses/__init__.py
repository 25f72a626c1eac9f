"""The dialect `openai-responses`: typed events of the Responses API, and of the Realtime API."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.openai_responses.build_request import REQUEST_FORMS, build_request
from harness.dialects.openai_responses.detect import DETECTION
from harness.dialects.openai_responses.oracle import OpenAIResponsesOracle
from harness.dialects.openai_responses.parse_request import MESSAGES, parse_request
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
    messages=MESSAGES,
    build_request=build_request,
    done="added",
    unknown_events=(
        {"type": "response.x_progress", "percent": 50},
        {"type": "keepalive", "sequence_number": 3},
    ),
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
