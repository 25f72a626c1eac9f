"""The words of this API for how a turn ends.

Source: Gemini API and Vertex AI API references, `Candidate.FinishReason`.
"""

from typing import Final

from harness.turns.deltas import FinishReason

FINISHES: Final = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "MODEL_ARMOR",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
        ),
        FinishReason.CONTENT_FILTER,
    ),
}
# Words that say that what the model wrote cannot be used.
FAILED: Final = frozenset(
    (
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
    )
)
# The enumeration's numbers, which the Gemini API writes with `$alt=json;enum-encoding=int`.
NUMBERS: Final = {
    1: "STOP",
    2: "MAX_TOKENS",
    3: "SAFETY",
    4: "RECITATION",
    5: "OTHER",
    6: "LANGUAGE",
    7: "BLOCKLIST",
    8: "PROHIBITED_CONTENT",
    9: "SPII",
    10: "MALFORMED_FUNCTION_CALL",
    11: "IMAGE_SAFETY",
    12: "UNEXPECTED_TOOL_CALL",
    13: "TOO_MANY_TOOL_CALLS",
}
# Words, one each for reasons and for blocked prompts, that stand for "not said".
UNSAID: Final = frozenset(("", "FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "0"))
