"""How requests and chunks of chat completions are recognized."""

from typing import Final

from harness.dialects.kit.detect import (
    Detection,
    Strength,
    error_in,
    is_chat_choice,
    objects,
    shape,
)

DETECTION: Final = Detection(
    paths=(
        r"/chat/completions$",
        r"/model/[^/]*openai\.[^/]+/invoke(?:-with-response-stream)?$",
    ),
    signs=(
        shape(Strength.CHOICES, "choices delta", is_chat_choice),
        objects("chat.completion"),
        shape(Strength.ERROR, "error", lambda event: bool(error_in(event))),
        shape(Strength.STRAY, "choices", lambda event: isinstance(event.get("choices"), list)),
    ),
)
