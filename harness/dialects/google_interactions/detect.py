"""How requests and events of the Interactions API are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, event_types, members, objects

DETECTION: Final = Detection(
    paths=(r"/interactions$",),
    signs=(
        event_types("interaction.", "content.", "step."),
        objects("interaction$"),
        members("steps object"),
    ),
    events_in_lists="named-event",
)
