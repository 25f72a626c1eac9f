"""How requests and events of the Converse API are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, frame_names, members

DETECTION: Final = Detection(
    paths=(r"/model/[^/]+/converse(?:-stream)?$",),
    request_keys=("inferenceConfig",),
    shared_request_keys=("toolConfig",),  # of Gemini's requests too
    content_types=("application/vnd.amazon.eventstream",),
    signs=(
        frame_names(
            "contentBlockDelta",
            "contentBlockStart",
            "contentBlockStop",
            "messageStart",
            "messageStop",
            "metadata",
        ),
        members(
            "contentBlockIndex",
            "stopReason metrics",
            "output stopReason",
            # Recordings that lost the framing have the event's name as the one key around it.
            "contentBlockDelta",
            "contentBlockStart",
            "messageStart",
        ),
    ),
    events_in_lists="message",
)
