"""One interaction of the dialect mistral -> its strict reading.

A plain batch reader of choice 0: content is text or a list of parts, an entry of `tool_calls`
that has a name is a whole call, and one without continues the call at its index. What does
not say which call it means is left open. It never raises and never guesses.
Source: https://docs.mistral.ai/api/#tag/chat
"""

from typing import Any, ClassVar, Final

import msgspec

from harness.judging.strict_reading.events import Event
from harness.judging.strict_reading.mistral.calls import CallList
from harness.judging.strict_reading.reading import StrictReading
from harness.judging.strict_reading.text import GrowingText
from harness.judging.strict_reading.text_only import TextOnlyReader
from harness.turns.deltas import FinishReason
from harness.turns.surrogates import join_surrogates
from harness.wire.interaction import Interaction

# Parts that say nothing of what a turn holds.
_SILENT_PARTS: Final = frozenset(
    {"reference", "tool_reference", "image_url", "document_url", "file", "input_audio"}
)
_FINISH_WITH_CALLS: Final = {"stop": "FINISH-STOP-WITH-CALLS", "length": "FINISH-LENGTH-WITH-CALL"}


def strict_reading(interaction: Interaction) -> StrictReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    reader = _Reader()
    reading = reader.read(interaction.body)
    if reading.error is None:
        reader.check_end()
    return msgspec.structs.replace(
        reading,
        reasoning=reader.reasoning.value(),
        calls=reader.calls.calls() if reader.notes.calls_known else None,
        text_known=reader.notes.text_known,
        end_known=reader.notes.end_known,
        deviations=reader.notes.deviations(),
    )


class _Reader(TextOnlyReader):
    MEANINGS: ClassVar[dict[str, FinishReason]] = {
        "stop": FinishReason.STOP,
        "tool_calls": FinishReason.STOP,
        "length": FinishReason.LENGTH,
        "model_length": FinishReason.LENGTH,
    }

    def __init__(self) -> None:
        super().__init__()
        self.reasoning = GrowingText()
        self.calls = CallList(self.notes)
        self._choice: int | None = None
        self._chunks = 0

    def value(self, value: dict[str, Any], event: Event) -> None:
        """Take one chunk, or the whole completion."""
        choices = value.get("choices")
        error = _error_of(value, event.name)
        if error is not None:
            if self.ended or choices:
                self.notes.lost("ERR-IN-200", event.offset)
            self.notes.keep("ERR-IN-200", event.offset)
            self.fail(*error)
        elif isinstance(choices, list):
            if len(choices) > 1:
                self.notes.lost("N-CHOICES", event.offset)
            for place, choice in enumerate(choices):
                self._one_choice(choice, place, event)
        elif choices is None and isinstance(value.get("usage"), dict):
            self.notes.keep("CHUNK-CHOICES-ABSENT", event.offset)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def check_end(self) -> None:
        """Note what only the whole body shows."""
        word = self.finishes[-1] if self.finishes else ""
        if len(self.calls):
            quirk = _FINISH_WITH_CALLS.get(word)
            if quirk:
                self.notes.keep(quirk, 0)
        elif word == "tool_calls" and self.notes.calls_known:
            self.notes.keep("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)

    def _one_choice(self, choice: object, place: int, event: Event) -> None:
        if not isinstance(choice, dict):
            self.notes.lost("EVENT-GLUED", event.offset)
            return
        index = choice.get("index", 0)
        if self._choice not in (None, index) or isinstance(index, bool):
            self.notes.lost("N-CHOICES", event.offset)
            return
        self._choice = index if isinstance(index, int) else 0
        delta, message = choice.get("delta"), choice.get("message")
        self._chunks += 1
        if message is not None and (delta is not None or self._chunks > 1):
            self.notes.lost("MESSAGE-NOT-DELTA", event.offset)
        field = "delta" if message is None else "message"
        said = choice.get(field)
        if isinstance(said, dict):
            self._say(said, ("choices", place, field), event)
        else:
            self.notes.open("DELTA-NULL", event.offset, text=said is not None, calls=bool(said))
        self._take_finish(choice.get("finish_reason"), event.offset)

    def _say(self, said: dict[str, Any], path: tuple[str | int, ...], event: Event) -> None:
        content, entries = said.get("content"), said.get("tool_calls")
        if self.ended and (content or entries):
            self.notes.open("CONTENT-AFTER-FINISH", event.offset, text=True, calls=bool(entries))
        if isinstance(content, str):
            self.text.add(content)
        elif isinstance(content, list):
            self.notes.keep("MIST-CONTENT-PARTS", event.offset)
            for part in content:
                self._part(part, event.offset)
        elif content is not None:
            self.notes.open("EVENT-GLUED", event.offset, text=True)
        if isinstance(entries, list):
            self.calls.add(entries, (*path, "tool_calls"), event)
        elif entries is not None:
            self.notes.open("EVENT-GLUED", event.offset, calls=True)

    def _part(self, part: object, offset: int) -> None:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(kind, str):
            self.notes.open("MIST-CONTENT-PARTS", offset, text=True)
        elif kind == "text" and isinstance(part.get("text"), str):
            self.text.add(part["text"])
        elif kind == "thinking" and isinstance(part.get("thinking"), list):
            for thought in part["thinking"]:
                self._thought(thought, offset)
        elif kind not in _SILENT_PARTS:
            self.notes.open("MIST-CONTENT-PARTS", offset, text=True)

    def _thought(self, thought: object, offset: int) -> None:
        kind = thought.get("type") if isinstance(thought, dict) else None
        text = thought.get("text") if isinstance(thought, dict) else None
        if kind == "text" and isinstance(text, str):
            self.reasoning.add(text)
        elif text is not None or not isinstance(kind, str):
            self.notes.open("MIST-CONTENT-PARTS", offset, text=True)

    def _take_finish(self, word: object, offset: int) -> None:
        if word in (None, ""):
            return
        if not isinstance(word, str) or word == "error":
            self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
        if isinstance(word, str):
            self.finish(word, offset)


def _error_of(value: dict[str, Any], event: str) -> tuple[str, str] | None:
    """Return code and message of the error that `value` is, or None."""
    error = value.get("error")
    told = error if isinstance(error, dict) else value
    plain = not value.get("choices") and any(value.get(key) for key in ("message", "detail"))
    if not (error or plain or event == "error" or value.get("object") == "error"):
        return None
    code, message = told.get("code") or told.get("type"), told.get("message")
    return _text(code), _text(message)


def _text(value: object) -> str:
    return join_surrogates(value) if isinstance(value, str) else ""
