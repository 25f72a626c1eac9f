"""How requests and events of Mistral's chat API are recognized, which looks like OpenAI's."""

from typing import Final

from harness.dialects.kit.detect import Detection, Strength, is_chat_choice, shape

DETECTION: Final = Detection(
    paths=(r"publishers/mistralai/models/[^/]+:(?:streamR|r)awPredict$",),
    signs=(
        # Mistral pads its chunks, so that their length shows nothing.
        shape(
            Strength.CHOICES_OF_ONE_PROVIDER,
            "choices p",
            lambda event: isinstance(event.get("p"), str) and is_chat_choice(event),
        ),
    ),
    looks_like="openai-chat",
    providers=("mistral",),
)
