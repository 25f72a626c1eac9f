"""The dialect `ollama`: Ollama's own API, `/api/chat` and `/api/generate`, one JSON a line."""

from harness.dialects.kit.dialect import Dialect
from harness.dialects.ollama.parse_request import parse_request
from harness.dialects.ollama.read import read
from harness.dialects.ollama.write import write

DIALECT = Dialect(
    "ollama",
    "Ollama, /api/chat and /api/generate",
    read,
    write,
    parse_request,
    content_type="application/x-ndjson",
)
