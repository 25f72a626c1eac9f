"""Decide the meaning of a body of the dialect `dashscope` by the contract (the oracle).

The request specifies whether events contain the increment or all so far (`incremental_output`). If
it was not recorded, the values may show it. If request and values contradict each other, or if both
readings fit, the oracle abstains.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from typing import ClassVar, Final

import msgspec

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.endings import FinishWordOracle
from harness.dialects.kit.oracle.events import Event, function_entries
from harness.dialects.kit.oracle.reading import GrowingText, Notes, OpenCall, OpenCalls
from harness.dialects.kit.oracle.usage import counts_at
from harness.dialects.kit.oracle.values import (
    dict_or_empty,
    event_value,
    is_index,
    meanings,
    text_or_empty,
)
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction

# A value that repeats so much of the one before, and continues, is not a coincidence.
_SURE_CHARACTERS = 16


class Values:
    """Stores the values of one field in all events, in order, without empty ones.

    Fields:
        all: each value, with the offset of the end of its event.
        repeats: some value begins with the value before it.
        differs_at: the end of the first event whose value does not begin with the value before,
            so that it continues that value; None if there is none.
        grows: some value begins with the value before it, and is longer.
        repeats_much: a value repeats so much text that this must be intended.
        has_half_characters: some value contains half a surrogate pair.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, int]] = []
        self.repeats = self.grows = self.repeats_much = False
        self.differs_at: int | None = None
        self.has_half_characters = False

    def add(self, value: str, end: int) -> None:
        """Process the value of one event."""
        if not value:
            return
        self.has_half_characters |= any("\ud800" <= mark <= "\udfff" for mark in value)
        if self.all:
            before = self.all[-1][0]
            begins = value.startswith(before)
            self.repeats |= begins
            if not begins and self.differs_at is None:
                self.differs_at = end
            self.grows |= begins and len(value) > len(before)
            self.repeats_much |= begins and len(value) > len(before) >= _SURE_CHARACTERS
        self.all.append((value, end))

    def total(self, *, cumulative: bool) -> str:
        """Return the complete value: the last one if `cumulative`, or else all values joined."""
        if cumulative:
            return self.all[-1][0] if self.all else ""
        return "".join(value for value, _ in self.all)


def requested_mode(request: bytes) -> bool | None:
    """Return whether the request asks for all text so far in each event; None if unknown."""
    value = dict_or_empty(event_value(request.decode("utf-8", "replace")))
    increments = dict_or_empty(value.get("parameters")).get("incremental_output")
    return not increments if isinstance(increments, bool) else None


_PATH = ("output", "choices", 0, "message", "tool_calls")


class _Call(OpenCall):
    """Stores one call, and the values of its arguments event by event."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.values = Values()


class CallTable(OpenCalls[int, _Call]):
    """Collects the calls of one response."""

    def __init__(self, notes: Notes) -> None:
        super().__init__(notes)
        self._lists = 0
        self._without_index = False
        self.from_objects = False

    def values(self) -> list[Values]:
        """Return, for each call, the values that events stated for its arguments."""
        return [call.values for call in self._calls.values()]

    def join(self, *, cumulative: bool) -> None:
        """Compute the complete arguments of each call from the values in the events."""
        for call in self._calls.values():
            call.fragments = [call.values.total(cumulative=cumulative)]

    def add(self, entries: object, event: Event) -> None:
        """Process one `tool_calls` value."""
        if entries is None:
            return
        if not isinstance(entries, list):
            self._notes.ambiguous("EVENT-GLUED", event.offset, calls=True)
            return
        if not entries:
            self._notes.harmless("TOOLCALLS-EMPTY-ARRAY", event.offset)
        self._lists += 1
        for place, entry, arguments in function_entries(entries, _PATH, event, self._notes):
            function = entry["function"]
            if entry.get("type", "function") not in ("function", "", None):
                self._notes.ambiguous("DELTA-TYPE-EMPTY-OR-NULL", event.offset, calls=True)
            self.from_objects |= isinstance(function.get("arguments"), dict)
            if not isinstance(arguments, str | None):
                self._notes.ambiguous("ARGS-OBJECT", event.offset, calls=True)
            self._entry(entry, text_or_empty(arguments), place, event)
        if self._without_index and self._lists > 1:
            # Only the place in the list is left, and a list of increments has no places.
            self._notes.ambiguous("DELTA-INDEX-MISSING", event.offset, calls=True)

    def _entry(self, entry: Json, arguments: str, place: int, event: Event) -> None:
        """Process one item of `tool_calls`, whose arguments are text."""
        index = entry.get("index")
        if not is_index(index):
            self._without_index = True
            index = place
        call = self._calls.get(index)
        call_id = self.text(entry.get("id"), event.offset)
        name = self.text(entry["function"].get("name"), event.offset)
        if not (call_id or name or arguments):
            return
        if call is None:
            call = self._calls[index] = _Call(event.offset)
        elif not call_id and "id" in entry:
            self._notes.harmless("DELTA-ID-EMPTY-LATER", event.offset)
        elif call_id and call.name and not call.id:  # the call may have started without it
            self._notes.ambiguous("DELTA-ID-LATE", event.offset, calls=True)
        if call.id and call_id not in ("", call.id):
            self._notes.ambiguous("DELTA-ID-CHANGES", event.offset, calls=True)
        if call.name and name not in ("", call.name):
            self._notes.ambiguous("DELTA-NAME-FRAGMENTED", event.offset, calls=True)
        call.id = call.id or call_id
        call.name = call.name or name
        call.values.add(arguments, event.end)


_NO_ERROR: Final = (None, "", 200, "200")
# So much of a text must come again before a reader has to take it for a repetition.
_CONVINCING_CHARACTERS = 8


class DashScopeOracle(FinishWordOracle):
    """Reads one response body of DashScope's native API by its contract."""

    READ: ClassVar = frozenset(("output.choices.message.tool_calls", "output.text"))
    USAGE: ClassVar = counts_at(("usage",), read="input_tokens", written="output_tokens")
    MEANINGS: ClassVar = meanings(stop=("stop", "tool_calls"), length=("length",))

    def __init__(self) -> None:
        super().__init__()
        self._text_values = Values()
        self._reasoning_values = Values()
        self.table = self._calls = CallTable(self.notes)
        self._requested: bool | None = None
        self._cumulative = False

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`, by the contract of the API."""
        self._requested = requested_mode(interaction.request.body)
        return super().read(interaction)

    def reading(self) -> OracleReading:
        """Return the meaning of the events so far."""
        reading = super().reading()
        text = self._text_values.total(cumulative=self._cumulative)
        reasoning = self._reasoning_values.total(cumulative=self._cumulative)
        return msgspec.structs.replace(
            reading,
            text=join_surrogates(text),
            reasoning=join_surrogates(reasoning),
            text_marks=self._text_marks() if reading.knows("text") else (),
        )

    def conclude(self) -> None:
        """Note deviations that can be seen only in the complete body."""
        self._cumulative = self._is_cumulative()
        self._calls.join(cumulative=self._cumulative)
        super().conclude()

    def take(self, value: Json, event: Event) -> None:
        """Process one event, or the complete response."""
        code, output = value.get("code"), value.get("output")
        if event.name == "error" or code not in _NO_ERROR or value.get("error"):
            self._error(value, event.offset)
        elif not isinstance(output, dict):
            self._no_output(value, event.offset)
        else:
            if self.ended:
                self.notes.unreadable("CONTENT-AFTER-FINISH", event.offset)
            self._output(output, event)

    def _is_cumulative(self) -> bool:
        """Return whether the events contain all text so far; note if this is ambiguous."""
        fields = self._fields()
        if any(field.has_half_characters for field in fields):
            self.notes.unreadable("SSE-UTF8-SPLIT", 0)
        requested = self._requested
        cumulative = all(field.differs_at is None for field in fields)
        if cumulative and not any(field.repeats for field in fields):
            return bool(requested)  # one value each: both modes read alike
        if cumulative:
            sure = any(field.repeats_much for field in fields)
            doubtful = requested is False or (requested is None and not sure)
        else:
            # Values that continue each other, among them some that look like repetitions.
            doubtful = requested is True or any(field.grows for field in fields)
            if self._calls.from_objects:
                # An object is always complete, so no event of this stream continues another.
                self.notes.ambiguous("ARGS-OBJECT", 0, text=True, calls=True)
        if doubtful:
            self.notes.ambiguous("DASH-CUMULATIVE", 0, text=True, calls=True)
        elif cumulative:
            self.notes.harmless("DASH-CUMULATIVE", 0)
        return cumulative

    def _text_marks(self) -> tuple[tuple[int, int], ...]:
        """Return pairs (bytes of the body, characters of text that are complete by then).

        A client may hold back a value that repeats earlier text, or may do so, until that is
        certain.
        """
        differ = (field.differs_at for field in self._fields() if field.differs_at is not None)
        sure_at = min(differ, default=0)
        marks: list[tuple[int, int]] = []
        text = GrowingText()
        for place, (value, end) in enumerate(self._text_values.all):
            before = text.length
            text.add(value[before:] if self._cumulative else value)
            sure = before >= _CONVINCING_CHARACTERS if self._cumulative else end >= sure_at
            if text.length > before and (sure or not place):
                marks.append((end, text.length))
        return tuple(marks)

    def _fields(self) -> list[Values]:
        return [self._text_values, self._reasoning_values, *self._calls.values()]

    def _error(self, value: Json, offset: int) -> None:
        self.notes.failure("ERR-IN-200", offset, ambiguous=self.ended or value.get("output"))
        error = value.get("error")
        holder = error if isinstance(error, dict) else value
        self.fail(text_or_empty(holder.get("code")), text_or_empty(holder.get("message")))

    def _no_output(self, value: Json, offset: int) -> None:
        if isinstance(value.get("usage"), dict) and value.get("output") is None:
            self.notes.harmless("CHUNK-CHOICES-ABSENT", offset)
        elif isinstance(value.get("message"), str) and value["message"]:
            self._error(value, offset)
        else:
            self.notes.unreadable("ENVELOPE-WRAPPED", offset)

    def _output(self, output: Json, event: Event) -> None:
        choices = output.get("choices")
        if choices is None:
            self._content(self._text_values, output.get("text"), event)
            self._take_finish(output.get("finish_reason"), event.offset)
            return
        choice = dict_or_empty(choices[0] if isinstance(choices, list) and choices else None)
        message = choice.get("message")
        if not isinstance(message, dict):
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)
            return
        if choice.get("index", 0) != 0:
            self.notes.unreadable("N-CHOICES", event.offset)
        elif len(choices) > 1:
            self.notes.harmless("N-CHOICES", event.offset)
        self._content(self._reasoning_values, message.get("reasoning_content"), event)
        self._content(self._text_values, message.get("content"), event)
        self._calls.add(message.get("tool_calls"), event)
        self._take_finish(choice.get("finish_reason"), event.offset)

    def _content(self, values: Values, content: object, event: Event) -> None:
        if isinstance(content, list):
            self.notes.harmless("DASH-CONTENT-PARTS", event.offset)
            texts = [part.get("text") if isinstance(part, dict) else 0 for part in content]
            if not all(isinstance(text, str | None) for text in texts):
                self.notes.ambiguous("DASH-CONTENT-PARTS", event.offset, text=True)
            content = "".join(text for text in texts if isinstance(text, str))
        if isinstance(content, str):
            values.add(content, event.end)
        elif content is not None:
            self.notes.ambiguous("EVENT-GLUED", event.offset, text=True)

    def _take_finish(self, word: object, offset: int) -> None:
        if word == "null":
            self.notes.harmless("DASH-FINISH-NULL-TEXT", offset)
        elif isinstance(word, str) and word:
            self.finish(word, offset)
        elif word not in (None, ""):
            self.notes.ambiguous("FINISH-UNKNOWN", offset, calls=True, end=True)
