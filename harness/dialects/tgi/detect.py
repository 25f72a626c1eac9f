"""How requests and events of text-generation-inference are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, members

DETECTION: Final = Detection(
    paths=(r"/generate_stream$",),
    request_keys=("inputs",),
    signs=(members("token details", "token generated_text", "generated_text"),),
)
