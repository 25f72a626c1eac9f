"""How requests and events of DashScope's native API are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, members

DETECTION: Final = Detection(
    paths=(r"/services/aigc/",),
    headers=("x-dashscope-sse",),
    signs=(members("output request_id"),),
)
