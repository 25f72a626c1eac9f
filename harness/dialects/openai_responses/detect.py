"""How requests and events of the Responses and Realtime APIs are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, objects, types

DETECTION: Final = Detection(
    paths=(r"/responses$",),
    shared_request_keys=("input",),  # too common a word to decide against another one
    signs=(types("response.", "session.", "conversation.item."), objects("response$")),
    events_in_lists="named-event",
)
