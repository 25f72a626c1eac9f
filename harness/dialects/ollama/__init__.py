"""The dialect `ollama`: Ollama's own API, `/api/chat` and `/api/generate`, one JSON a line."""

from harness.dialects.dialect import Dialect
from harness.dialects.ollama.read import read
from harness.dialects.ollama.request import read_request
from harness.dialects.ollama.write import write

DIALECT = Dialect(
    "ollama",
    "Ollama, /api/chat and /api/generate",
    read,
    write,
    read_request,
    content_type="application/x-ndjson",
)
