"""How requests and events of Llama under InvokeModel are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, members

DETECTION: Final = Detection(
    paths=(r"/model/[^/]*meta\.[^/]+/invoke(?:-with-response-stream)?$",),
    signs=(members("generation stop_reason", "generation prompt_token_count"),),
)
