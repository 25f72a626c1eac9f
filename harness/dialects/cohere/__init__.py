"""Register the dialect `cohere`: Cohere's chat API, version 2 and the older version 1."""

from harness.dialects.kit.detect import Detection, event_types, members, types
from harness.dialects.kit.dialect import Dialect

from . import build_request, oracle, parse_request, read, write

DIALECT = Dialect(
    name="cohere",
    reference="https://docs.cohere.com/reference/chat-stream",
    read=read.read,
    write=write.write,
    writer_options=write.WriterOptions,
    oracle=oracle.CohereOracle,
    parse_request=parse_request.parse_request,
    build_request=build_request.build_request,
    done="sent",
    unknown_events=({"type": "x-progress", "percent": 50}, {"type": "debug", "prompt": "x"}),
    meaningful_options=frozenset(("version",)),
    option_needs={"framing": "other-encodings"},
    can_require_tool=False,
    base_url_variable="CO_API_URL",
    below_base_url=r"/v[12]/chat",
    request_forms=build_request.REQUEST_FORMS,
    detection=Detection(
        paths=(r"/v[12]/chat$",),
        signs=(
            types(
                "message-start$",
                "message-end$",
                "content-start$",
                "content-delta$",
                "content-end$",
                "tool-plan-delta$",
                "tool-call-",
                "citation-",
            ),
            event_types("stream-start$", "text-generation$", "tool-calls-", "stream-end$"),
            members("generation_id text", "finish_reason message usage"),
        ),
        events_in_lists="named-event",
        events_one_a_line="event_type",  # version 1
    ),
    record_path="/v2/chat",
)
