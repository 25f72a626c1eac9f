"""How requests and events of generateContent are recognized."""

from typing import Final

from harness.dialects.kit.detect import Detection, Strength, error_in, members, shape

DETECTION: Final = Detection(
    paths=(r":(?:streamG|g)enerateContent$",),
    headers=("x-goog-api-key", "x-goog-api-client"),
    request_keys=("contents",),
    signs=(
        members("candidates", "promptFeedback", "usageMetadata modelVersion"),
        shape(
            Strength.FORM_OF_ERROR,
            "error status",
            lambda event: isinstance(error_in(event).get("status"), str),
        ),
        shape(Strength.STRAY, "usageMetadata", lambda event: "usageMetadata" in event),
    ),
    sends_arrays=True,
)
