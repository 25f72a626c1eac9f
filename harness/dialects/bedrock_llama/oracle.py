"""Decide the meaning of a body of the dialect `bedrock-llama` by the contract (the oracle).

The pieces of text are appended; the event that has a stop reason is the last one.
Source: Amazon Bedrock user guide, "Meta Llama models", streamed responses.
"""

from typing import ClassVar

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import FinishWordOracle
from harness.dialects.kit.oracle.events import CHECKSUM, Event
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import error_of, meanings

_METRICS = "amazon-bedrock-invocationMetrics"
_OURS = ("", "chunk", "error")


class BedrockLlamaOracle(FinishWordOracle):
    """Reads one response body of Llama on Bedrock by the contract of the API."""

    USAGE: ClassVar = counts_at((), read="prompt_token_count", written="generation_token_count")
    MEANINGS: ClassVar = meanings(stop=("stop",), length=("length",))

    def take(self, value: Json, event: Event) -> None:
        """Process one part of the text, or the complete response."""
        piece = value.get("generation")
        is_error_document = "generation" not in value and isinstance(_message(value), str)
        if event.name not in _OURS:
            self.notes.harmless("BED-UNKNOWN-EVENT", event.offset)
        elif event.name == "error" or is_error_document:
            self._error(value, event.offset)
        elif isinstance(piece, str):
            self._piece(piece, value.get("stop_reason"), event.offset)
        elif list(value) != [_METRICS]:
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _error(self, value: Json, offset: int) -> None:
        code, message = error_of({**value, "message": _message(value)}, "error") or ("", "")
        quirk = CHECKSUM if code == CHECKSUM else "BED-EXCEPTION"
        self.notes.failure(quirk, offset, ambiguous=self.ended)
        self.fail(code, message)

    def _piece(self, piece: str, word: object, offset: int) -> None:
        if self.ended and piece:
            self.notes.ambiguous("CONTENT-AFTER-FINISH", offset, text=True)
        self.text.add(piece)
        if isinstance(word, str) and word:
            self.finish(word, offset)
        elif word is not None:
            self.notes.ambiguous("FINISH-UNKNOWN", offset, end=True)


def _message(value: Json) -> object:
    """Return the message of an error, under `message` or `Message`; None if there is none."""
    return value.get("message", value.get("Message"))
