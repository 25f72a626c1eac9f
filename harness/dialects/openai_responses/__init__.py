"""Register the dialect `openai-responses`: events of the Responses and Realtime APIs."""

from harness.dialects.kit.detect import Detection, objects, types
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, sessions, write

DIALECT = Dialect(
    name="openai-responses",
    reference="https://platform.openai.com/docs/api-reference/responses-streaming",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    meaningful_options=frozenset(("api",)),
    oracle=oracle.OpenAIResponsesOracle,
    parse_request=parse_request.parse_request,
    messages=parse_request.MESSAGES,
    build_request=build_request.build_request,
    sealed_kind="reasoning",
    done="added",
    unknown_events=(
        {"type": "response.x_progress", "percent": 50},
        {"type": "keepalive", "sequence_number": 3},
    ),
    base_url_variable="OPENAI_BASE_URL",
    below_base_url="/responses|/realtime",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/responses$", r"^wss?://.*/realtime$"),
        shared_request_keys=("input",),  # too common a word to decide against another one
        signs=(types("response.", "session.", "conversation.item."), objects("response$")),
        events_in_lists="named-event",
    ),
    sessions=sessions.SESSIONS,
)
