"""Register the dialect `ollama`: Ollama's `/api/chat` and `/api/generate`, one JSON a line."""

from harness.dialects.kit.detect import Detection, members
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="ollama",
    reference="https://docs.ollama.com/api/chat",
    content_type="application/x-ndjson",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.OllamaOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    meaningful_options=frozenset(("endpoint", "call_id", "done_reason")),
    arguments="object",
    has_call_ids=False,
    can_require_tool=False,
    has_text_call_clients=True,
    base_url_variable="OLLAMA_HOST",
    below_base_url="/api/(?:chat|generate)",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/api/(?:chat|generate)$",),
        content_types=("application/x-ndjson",),
        signs=(members("done created_at", "done message", "done response"),),
        events_in_lists="line",
    ),
    record_path="/api/chat",
)
