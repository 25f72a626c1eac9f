"""How requests and lines of Ollama's own API are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, members

DETECTION: Final = Detection(
    paths=(r"/api/(?:chat|generate)$",),
    content_types=("application/x-ndjson",),
    signs=(members("done created_at", "done message", "done response"),),
    events_in_lists="line",
)
