"""How requests and chunks of legacy completions are recognized."""

from typing import Final

from harness.dialects.kit.detect import (
    Detection,
    Strength,
    first_choice,
    is_chat_choice,
    objects,
    shape,
)

DETECTION: Final = Detection(
    paths=(r"(?<!/chat)/completions$",),
    signs=(
        shape(
            Strength.CHOICES,
            "choices text",
            lambda event: "text" in (first_choice(event) or {}) and not is_chat_choice(event),
        ),
        objects("text_completion$"),
    ),
)
