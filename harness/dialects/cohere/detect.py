"""How requests and events of the chat API are recognized, in both versions."""

from typing import Final

from harness.dialects.kit.detect import Detection, event_types, members, types

DETECTION: Final = Detection(
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
)
