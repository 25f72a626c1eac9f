"""Register the dialect `google-interactions`: the event stream of Google's Interactions API."""

from harness.dialects.kit.detect import Detection, event_types, members, objects
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="google-interactions",
    reference="https://docs.cloud.google.com/gemini-enterprise-agent-platform/reference/rest/v1beta1/InteractionStreamingEvent",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.GoogleInteractionsOracle,
    parse_request=parse_request.parse_request,
    done="added",
    unknown_events=({"event_type": "x.progress", "percent": 50},),
    meaningful_options=frozenset(("status",)),
    option_needs={"framing": "other-encodings"},
    base_url_variable="GOOGLE_GEMINI_BASE_URL",
    below_base_url=r"/v1\w*/interactions",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/interactions$",),
        signs=(
            event_types("interaction.", "content.", "step."),
            objects("interaction$"),
            members("steps object"),
        ),
        events_in_lists="named-event",
    ),
)
