"""Frames of a Llama response on Bedrock -> deltas; stream and whole answer alike.

Each event is a piece of text with the tokens so far; the one with a stop reason is the last.
Never raises.
Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html
"""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.dialects.kit.reader import EventReader, quote
from harness.turns.deltas import Delta, FinishReason
from harness.wire.frames import Frame

_FINISH = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}
# Bedrock adds what it counted itself to the last event.
_METRICS = "amazon-bedrock-invocationMetrics"
# What the framing may name an event that this API has; any other one says nothing here.
_EVENTS = frozenset(("", "chunk", "error"))


def read(frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:  # noqa: ARG001 - the API has no tools
    """Yield the deltas of one response."""
    return _Reader().read(frames)


class _Reader(EventReader):
    """Reads one response."""

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one piece of text, or the whole answer."""
        if frame.event not in _EVENTS:
            return
        if "generation" in value:
            self._piece(value)
        elif _METRICS in value:
            self._metrics(value[_METRICS])
        elif type(message := value.get("message", value.get("Message"))) is str:
            self.says.fail("error", quote(message))
        else:
            self.unknown(frame.data)

    def conclude(self) -> None:
        """Close the turn where a stop reason came, else fail it."""
        if self.says.finished:
            self.says.close()
        else:
            self.interrupted("the stream ended without a stop reason")

    def _piece(self, value: dict[str, Any]) -> None:
        self.says.text(value["generation"])
        self.says.usage(value.get("prompt_token_count"), value.get("generation_token_count"))
        word = value.get("stop_reason")
        if type(word) is str and word:
            self.says.finish(_FINISH.get(word, FinishReason.OTHER), word)
        self._metrics(value.get(_METRICS))

    def _metrics(self, counts: object) -> None:
        if isinstance(counts, dict):
            self.says.usage(counts.get("inputTokenCount"), counts.get("outputTokenCount"))
