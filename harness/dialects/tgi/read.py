"""Frames of a text-generation-inference response -> deltas; stream and whole answer alike.

Each event is one token; the last one has the whole text beside it, which is not said again.
A special token (end of text and its kind) is no part of the answer. Never raises.
Source: Hugging Face, Text Generation Inference API, `/generate_stream` and `/generate`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.dialects.kit.reader import EventReader, quote
from harness.turns.deltas import Delta, FinishReason
from harness.wire.frames import Frame

_FINISH = {
    "eos_token": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}


def read(frames: Iterable[Frame], tools: tuple[str, ...] = ()) -> Iterator[Delta]:  # noqa: ARG001 - the API has no tools
    """Yield the deltas of one response."""
    return _Reader().read(frames)


class _Reader(EventReader):
    """Reads one response."""

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one token, or the whole answer."""
        token = value.get("token")
        if type(token) is dict:
            if not token.get("special"):
                self.says.text(token.get("text"))
            if value.get("generated_text") is not None or value.get("details"):
                self._last(value)
        elif error := value.get("error"):
            self._fail(value, error)
        elif type(value.get("generated_text")) is str:
            self.says.text(value["generated_text"])
            self._last(value)
        elif frame.event == "error":
            self.says.fail("error", quote(value.get("message") or value))
        else:
            self.unknown(value)

    def conclude(self) -> None:
        """Fail the turn: its last event would have closed it."""
        self.interrupted("the stream ended without its last token")

    def _last(self, value: dict[str, Any]) -> None:
        """Close the turn; without details it ended well, and nobody says why."""
        details = value.get("details")
        word = ""
        if type(details) is dict:
            said = details.get("finish_reason")
            word = said if type(said) is str else ""
            self.says.usage(details.get("input_length"), details.get("generated_tokens"))
        unknown = FinishReason.OTHER if word else FinishReason.STOP
        self.says.finish(_FINISH.get(word, unknown), word)
        self.says.close()

    def _fail(self, value: dict[str, Any], error: object) -> None:
        if type(error) is dict:  # in front of the model stands a gateway with errors of its own
            code = error.get("type") or error.get("code") or error.get("http_status_code")
            self.says.fail(quote(code) or "error", quote(error.get("message") or error))
            return
        words = "; ".join(map(quote, error)) if type(error) is list else quote(error)
        self.says.fail(quote(value.get("error_type")) or "error", quote(words))
