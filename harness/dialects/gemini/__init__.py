"""The dialect `gemini`: generateContent streams of the Gemini API and of Vertex AI."""

from harness.dialects.gemini.build_request import REQUEST_FORMS, build_request
from harness.dialects.gemini.detect import DETECTION
from harness.dialects.gemini.oracle import GeminiOracle
from harness.dialects.gemini.parse_request import MESSAGES, parse_request
from harness.dialects.gemini.read import read
from harness.dialects.gemini.write import write
from harness.dialects.gemini.writer_options import WriterOptions
from harness.dialects.kit.dialect import Dialect

DIALECT = Dialect(
    name="gemini",
    title="Gemini API and Vertex AI, streamGenerateContent",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=GeminiOracle,
    parse_request=parse_request,
    messages=MESSAGES,
    build_request=build_request,
    meaningful_options=frozenset(("call_id", "finish")),
    arguments="object",
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
)
