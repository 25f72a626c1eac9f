"""The dialect `ollama`: Ollama's own API, `/api/chat` and `/api/generate`, one JSON a line."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.ollama.build_request import REQUEST_FORMS
from harness.dialects.ollama.detect import DETECTION
from harness.dialects.ollama.oracle import OllamaOracle
from harness.dialects.ollama.parse_request import parse_request
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
    request_forms=REQUEST_FORMS,
    detection=DETECTION,
    record_path="/api/chat",
)
