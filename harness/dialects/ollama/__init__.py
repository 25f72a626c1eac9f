"""The dialect `ollama`: Ollama's own API, `/api/chat` and `/api/generate`, one JSON a line."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.ollama.build_request import REQUEST_FORMS, build_request
from harness.dialects.ollama.detect import DETECTION
from harness.dialects.ollama.oracle import OllamaOracle
from harness.dialects.ollama.parse_request import MESSAGES, parse_request
from harness.dialects.ollama.read import read
from harness.dialects.ollama.write import write
from harness.dialects.ollama.writer_options import WriterOptions

DIALECT = Dialect(
    name="ollama",
    title="Ollama, /api/chat and /api/generate",
    content_type="application/x-ndjson",
    read=read,
    write=write,
    writer_options=WriterOptions,
    oracle=OllamaOracle,
    parse_request=parse_request,
    messages=MESSAGES,
    build_request=build_request,
    meaningful_options=frozenset(("call_id", "done_reason")),
    arguments="object",
    has_call_ids=False,
    can_require_tool=False,
    has_text_call_clients=True,
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
    record_path="/api/chat",
)
