"""One interaction of the dialect dashscope -> its strict reading.

The request says whether events hold what is new or all so far (`incremental_output`); where it
was not kept, the values themselves may. Where request and values contradict each other, or
both readings fit, the reading abstains. It never raises and never guesses.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from typing import Any, ClassVar, Final

import msgspec

from harness.judging.strict_reading.dashscope.calls import CallTable
from harness.judging.strict_reading.dashscope.mode import Values, asked_for
from harness.judging.strict_reading.events import Event
from harness.judging.strict_reading.reading import StrictReading
from harness.judging.strict_reading.text import GrowingText
from harness.judging.strict_reading.text_only import TextOnlyReader
from harness.turns.deltas import FinishReason
from harness.turns.surrogates import join_surrogates
from harness.wire.interaction import Interaction

_FINISH_WITH_CALLS: Final = {"stop": "FINISH-STOP-WITH-CALLS", "length": "FINISH-LENGTH-WITH-CALL"}
_NO_ERROR: Final = (None, "", 200, "200")
# So much of a text must come again before a reader has to take it for a repetition.
_CONVINCING_CHARACTERS = 8


def strict_reading(interaction: Interaction) -> StrictReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    reader = _Reader()
    reading = reader.read(interaction.body)
    cumulative = reader.mode(interaction.request.body)
    if reading.error is None:
        reader.check_end()
    notes = reader.notes
    return msgspec.structs.replace(
        reading,
        text=_text_of(reader.text_values.total(cumulative=cumulative)),
        reasoning=_text_of(reader.reasoning_values.total(cumulative=cumulative)),
        calls=reader.calls.calls(cumulative=cumulative) if notes.calls_known else None,
        text_known=notes.text_known,
        end_known=notes.end_known,
        deviations=notes.deviations(),
        text_marks=reader.marks(cumulative=cumulative) if notes.text_known else (),
    )


class _Reader(TextOnlyReader):
    MEANINGS: ClassVar[dict[str, FinishReason]] = {
        "stop": FinishReason.STOP,
        "tool_calls": FinishReason.STOP,
        "length": FinishReason.LENGTH,
    }

    def __init__(self) -> None:
        super().__init__()
        self.text_values = Values()
        self.reasoning_values = Values()
        self.calls = CallTable(self.notes)

    def value(self, value: dict[str, Any], event: Event) -> None:
        """Take one event, or the whole response."""
        code, output = value.get("code"), value.get("output")
        if event.name == "error" or code not in _NO_ERROR or value.get("error"):
            self._error(value, event.offset)
        elif not isinstance(output, dict):
            self._no_output(value, event.offset)
        else:
            if self.ended:
                self.notes.lost("CONTENT-AFTER-FINISH", event.offset)
            self._output(output, event)

    def mode(self, request: bytes) -> bool:
        """Return whether the events hold all so far; noted as open where that is not sure."""
        fields = self._fields()
        if any(field.has_half_characters for field in fields):
            self.notes.lost("SSE-UTF8-SPLIT", 0)
        asked = asked_for(request)
        if not any(field.repeats or field.differs for field in fields):
            return bool(asked)  # one value each: both modes read alike
        cumulative = not any(field.differs for field in fields)
        sure = any(field.repeats_much for field in fields)
        if cumulative:
            doubtful = asked is False or (asked is None and not sure)
        else:
            # Values that continue each other, among them some that look like repetitions.
            doubtful = asked is True or any(field.grows for field in fields)
        if not cumulative and self.calls.from_objects:
            # An object is whole each time, so nothing in this stream continues another.
            self.notes.open("ARGS-OBJECT", 0, text=True, calls=True)
        if doubtful:
            self.notes.open("DASH-CUMULATIVE", 0, text=True, calls=True)
        elif cumulative:
            self.notes.keep("DASH-CUMULATIVE", 0)
        return cumulative

    def marks(self, *, cumulative: bool) -> tuple[tuple[int, int], ...]:
        """Return how much of the text is complete after which byte.

        Values that repeat what came before, or might, may be held back until that is sure.
        """
        differ = (field.differs_at for field in self._fields() if field.differs_at is not None)
        sure_at = min(differ, default=0)
        marks: list[tuple[int, int]] = []
        text = GrowingText()
        for place, (value, end) in enumerate(self.text_values.seen):
            before = text.length
            text.add(value[before:] if cumulative else value)
            sure = before >= _CONVINCING_CHARACTERS if cumulative else end >= sure_at
            if text.length > before and (sure or not place):
                marks.append((end, text.length))
        return tuple(marks)

    def _fields(self) -> list[Values]:
        return [self.text_values, self.reasoning_values, *self.calls.values()]

    def check_end(self) -> None:
        """Note what only the whole body shows."""
        word = self.finishes[-1] if self.finishes else ""
        if len(self.calls):
            quirk = _FINISH_WITH_CALLS.get(word)
            if quirk:
                self.notes.keep(quirk, 0)
        elif word == "tool_calls" and self.notes.calls_known:
            self.notes.keep("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)

    def _error(self, value: dict[str, Any], offset: int) -> None:
        if self.ended or value.get("output"):
            self.notes.lost("ERR-IN-200", offset)
        self.notes.keep("ERR-IN-200", offset)
        error = value.get("error")
        told = error if isinstance(error, dict) else value
        self.fail(_text_of(told.get("code")), _text_of(told.get("message")))

    def _no_output(self, value: dict[str, Any], offset: int) -> None:
        if isinstance(value.get("usage"), dict) and value.get("output") is None:
            self.notes.keep("CHUNK-CHOICES-ABSENT", offset)
        elif isinstance(value.get("message"), str) and value["message"]:
            self._error(value, offset)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", offset)

    def _output(self, output: dict[str, Any], event: Event) -> None:
        choices = output.get("choices")
        if choices is None:
            self._content(self.text_values, output.get("text"), event)
            self._take_finish(output.get("finish_reason"), event.offset)
            return
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)
            return
        if len(choices) > 1 or choice.get("index", 0) != 0:
            self.notes.lost("N-CHOICES", event.offset)
        self._content(self.reasoning_values, message.get("reasoning_content"), event)
        self._content(self.text_values, message.get("content"), event)
        self.calls.add(message.get("tool_calls"), event)
        self._take_finish(choice.get("finish_reason"), event.offset)

    def _content(self, values: Values, content: object, event: Event) -> None:
        if isinstance(content, list):
            self.notes.keep("DASH-CONTENT-PARTS", event.offset)
            texts = [part.get("text") if isinstance(part, dict) else 0 for part in content]
            if not all(isinstance(text, str | None) for text in texts):
                self.notes.open("DASH-CONTENT-PARTS", event.offset, text=True)
            content = "".join(text for text in texts if isinstance(text, str))
        if isinstance(content, str):
            values.add(content, event.end)
        elif content is not None:
            self.notes.open("EVENT-GLUED", event.offset, text=True)

    def _take_finish(self, word: object, offset: int) -> None:
        if word == "null":
            self.notes.keep("DASH-FINISH-NULL-TEXT", offset)
        elif isinstance(word, str) and word:
            self.finish(word, offset)
        elif word not in (None, ""):
            self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)


def _text_of(value: object) -> str:
    return join_surrogates(value) if isinstance(value, str) else ""
