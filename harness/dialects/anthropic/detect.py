"""How requests and events of the Messages API are recognized, on all clouds that serve it."""

from typing import Final

from harness.dialects.kit.detect import Detection, Strength, error_in, shape, types

DETECTION: Final = Detection(
    paths=(
        r"/messages$",
        r"publishers/anthropic/models/[^/]+:(?:streamR|r)awPredict$",
        r"/model/[^/]*anthropic\.[^/]+/invoke(?:-with-response-stream)?$",
    ),
    headers=("anthropic-version", "anthropic-beta"),
    request_keys=("anthropic_version",),
    signs=(
        types("message_start$", "message_delta$", "message_stop$", "content_block_"),
        # `message` is too common a type to show the API without the role.
        shape(
            Strength.MESSAGE,
            "type message",
            lambda event: (event.get("type"), event.get("role")) == ("message", "assistant"),
        ),
        shape(
            Strength.FORM_OF_ERROR,
            "type error",
            lambda event: bool(error_in(event)) and event.get("type") == "error",
        ),
        shape(Strength.STRAY, "type ping", lambda event: event.get("type") == "ping"),
    ),
    events_in_lists="named-event",
)
