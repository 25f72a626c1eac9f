"""Read the frames of an openai-completions stream, or a complete response, as deltas.

This API has only text, a finish reason and usage. An event whose choice contains a
message or a delta belongs to another API and fails the turn. The reader never raises.
Source: OpenAI API reference, "Completions" (legacy), "The completion object".
"""

from typing import Any, Final

from harness.dialects.kit.reader import EventReader, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason
from harness.wire.frames import Frame

_FINISH: Final = finish_reasons(
    stop=("stop",), length=("length",), content_filter=("content_filter",)
)
# Words that say the provider failed: vLLM (abort), gateways (the others).
_FAILED = frozenset(("error", "network_error", "insufficient_system_resource", "abort", "timeout"))
_OTHER_APIS = ("message", "delta")
# A chunk without a choice has one of these: the choices as null, or counts beside none.
_SILENT = frozenset(("choices", "usage"))
_NO_CHOICE = object()  # in the place of the choice's number until one came


class _Reader(EventReader):
    """Reads one response of the dialect `openai-completions`."""

    _choice: object = _NO_CHOICE

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one chunk, or the complete response."""
        if self._is_failure(value, frame):
            return
        choices = value.get("choices")
        if type(choices) is list:
            for choice in choices:
                self._choose(choice)
                if self.turn.over:
                    return
        elif choices is not None or _SILENT.isdisjoint(value):
            self.unknown(value)
            return
        self.turn.count(value.get("usage"), "prompt_tokens", "completion_tokens")

    def _choose(self, choice: object) -> None:
        """Process a part of the first answer. Other answers to the same prompt are ignored."""
        if type(choice) is not dict:
            self.unknown(choice)
            return
        index = choice.get("index", 0)
        if self._choice is _NO_CHOICE:
            self._choice = index
        elif index != self._choice:
            return
        text = choice.get("text")
        if type(text) is str:
            self.turn.text(text)
        elif text is not None or any(map(choice.get, _OTHER_APIS)):
            self.unknown(choice)
            return
        word = choice.get("finish_reason")
        if word and type(word) is str:
            self._finish(word)

    def _finish(self, word: str) -> None:
        if word.lower() in _FAILED:
            self.failed = self.failed or word
        self.turn.finish(_FINISH.get(word.lower(), FinishReason.OTHER), word)

    def _is_failure(self, value: dict[str, Any], frame: Frame) -> bool:
        """Fail the turn if the event is an error in any known format; return whether it is one."""
        is_error = frame.event == "error" or value.get("object") == "error"
        details = value.get("error") or (value if is_error else None)
        if not details:
            return False
        if isinstance(details, dict):
            self.provider_error(details)
        else:
            self.turn.fail(quote(value.get("code")) or "error", quote(details))
        return True


read = reads_with(_Reader)
