"""Decide the meaning of a body of the dialect `openai-completions` by the contract (the oracle).

The texts of the first choice are appended; other choices are alternative answers to the prompt.
A chunk without a choice has usage. Any other member of a choice belongs to another API, and the
oracle abstains.
Source: OpenAI API reference, "Completions" (legacy), "The completion object".
"""

from typing import ClassVar

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import FinishWordOracle
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import error_of, meanings


class OpenAICompletionsOracle(FinishWordOracle):
    """Reads one response body of the legacy completions API by its contract."""

    USAGE: ClassVar = counts_at(("usage",), read="prompt_tokens", written="completion_tokens")
    MEANINGS: ClassVar = meanings(
        stop=("stop",), length=("length",), content_filter=("content_filter",)
    )

    def take(self, value: Json, event: Event) -> None:
        """Process one chunk, or the completion."""
        choices = value.get("choices")
        if error := error_of(value, event.name):
            self._error(error, value, event)
        elif value.get("error"):
            self.notes.unreadable("ERR-IN-200", event.offset)
        elif isinstance(choices, list):
            for choice in choices:
                self._choice(choice, event.offset)
        elif choices is None and "choices" in value:
            self.notes.harmless("CHUNK-CHOICES-NULL", event.offset)
        elif choices is not None or not isinstance(value.get("usage"), dict):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def _error(self, error: tuple[str, str], value: Json, event: Event) -> None:
        is_error = value.get("error") or event.name == "error" or value.get("object") == "error"
        if not is_error or value.get("choices") or self.ended:
            self.notes.unreadable("ERR-IN-200", event.offset)
        else:
            self.notes.harmless("ERR-IN-200", event.offset)
            self.fail(*error)

    def _choice(self, choice: object, offset: int) -> None:
        if not isinstance(choice, dict) or not isinstance(choice.get("text", ""), str):
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)
            return
        if choice.get("message") or choice.get("delta"):
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)
        index = choice.get("index", 0)
        if type(index) is not int:
            self.notes.unreadable("N-CHOICES", offset)
        if not self.is_answer(index, offset):
            return
        text = choice.get("text", "")
        if not (text and self.ended) or self.uses_late_content(offset):
            self.text.add(text)
        self._finish(choice.get("finish_reason"), offset)

    def _finish(self, word: object, offset: int) -> None:
        if word == "":
            self.notes.harmless("FINISH-EMPTY-STRING", offset)
        if word is None or word == "":
            return
        if isinstance(word, str):
            if word in self.finishes[-1:]:
                self.notes.harmless("FINISH-DUPLICATE", offset)
            self.check_failure_word(word, offset)
            self.finish(word, offset)
        else:
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
            self.ended = True

    def conclude(self) -> None:
        """Note deviations that only the complete body shows."""
        super().conclude()
        is_stream = "JSON-FOR-STREAM" not in {each.quirk for each in self.notes.deviations()}
        if self.finishes and not self.over and is_stream:
            self.notes.harmless("SSE-DONE-MISSING", 0)
