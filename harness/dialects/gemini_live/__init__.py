"""Register the dialect `gemini-live`: the messages of Gemini's Live API over WebSocket."""

from harness.dialects.kit.detect import Detection, Strength, shape
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, sessions, write

DIALECT = Dialect(
    name="gemini-live",
    reference="https://ai.google.dev/api/live",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.GeminiLiveOracle,
    parse_request=parse_request.parse_request,
    content_type="application/x-ndjson",
    arguments="object",
    unknown_events=({"voiceActivity": {"voiceActivityType": "ACTIVITY_START"}},),
    meaningful_options=frozenset(("call_id",)),
    can_require_tool=False,
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"GenerativeService\.BidiGenerateContent$", r"LlmBidiService/BidiGenerateContent$"),
        request_keys=("setup", "clientContent", "realtimeInput", "toolResponse"),
        signs=(
            shape(
                Strength.MESSAGE,
                "a message of a Live session",
                lambda event: not sessions.MEMBERS.isdisjoint(event),
            ),
        ),
        events_in_lists="line",
    ),
    sessions=sessions.SESSIONS,
)
