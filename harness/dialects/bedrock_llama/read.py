"""Read the frames of a Llama response on Bedrock as deltas; stream and complete response alike.

Each event is a piece of text with the number of tokens so far. The event with a stop reason is the
last one. The reader never raises.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from typing import Any, ClassVar, Final

from harness.dialects.kit.reader import EventReader, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason
from harness.wire.frames import Frame

_FINISH: Final = finish_reasons(stop=("stop",), length=("length",))
# Bedrock adds what it counted itself to the last event.
_METRICS = "amazon-bedrock-invocationMetrics"
# What the framing may name an event that this API has; any other event is ignored.
_EVENTS = frozenset(("", "chunk", "error"))


class _Reader(EventReader):
    """Reads one response of the dialect `bedrock-llama`."""

    INTERRUPTED: ClassVar = "the stream ended without a stop reason"

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one part of the text, or the complete response."""
        # Invoke streams wrap the model's own events, which have no name (quirk BED-INVOKE-CHUNK).
        if frame.event not in _EVENTS:
            return
        if "generation" in value:
            self._piece(value)
        elif _METRICS in value:
            self.turn.count(value.get(_METRICS), "inputTokenCount", "outputTokenCount")
        elif type(message := value.get("message", value.get("Message"))) is str:
            self.turn.fail("error", quote(message))
        else:
            self.unknown(frame.data)

    def _piece(self, value: dict[str, Any]) -> None:
        self.turn.text(value["generation"])
        self.turn.usage(value.get("prompt_token_count"), value.get("generation_token_count"))
        word = value.get("stop_reason")
        if type(word) is str and word:
            self.turn.finish(_FINISH.get(word, FinishReason.OTHER), word)
        self.turn.count(value.get(_METRICS), "inputTokenCount", "outputTokenCount")


read = reads_with(_Reader)
