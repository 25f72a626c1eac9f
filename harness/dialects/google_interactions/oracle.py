"""One interaction of the dialect google-interactions -> its strict reading.

A plain batch reader: it splits the whole body, reads each event as JSON and adds up the steps.
It never raises, whatever the bytes; it never repairs and never guesses.
Source: Gemini API reference, "Interactions", `InteractionSseEvent`, `Step`.
"""

from collections.abc import Callable
from typing import Any, Final

from harness.dialects.kit.oracle.errors import error_of
from harness.dialects.kit.oracle.events import Event
from harness.dialects.kit.oracle.google import google_events
from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.kit.oracle.reading import CallReading, OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value, member_text
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.turns.json_prefix import PrefixState, scan
from harness.wire.interaction import Interaction

Json = dict[str, Any]

DONE = "[DONE]"
_ERROR_STATUS: Final = 400
_MEANINGS: Final = {
    "completed": FinishReason.STOP,
    "requires_action": FinishReason.STOP,
    "incomplete": FinishReason.LENGTH,
    "budget_exceeded": FinishReason.LENGTH,
}
_FAILED: Final = frozenset(("failed", "cancelled"))
_GOES_ON: Final = frozenset(("in_progress", "queued"))


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    reader = _Reader(error_quirk="" if interaction.status >= _ERROR_STATUS else "ERR-IN-200")
    for event in google_events(interaction.body, reader.notes):
        reader.event(event)
    return reader.reading()


class _Call:
    """One function call so far."""

    def __init__(self, step: Json, spelled: str, offset: int) -> None:
        self.id = _text(step.get("id"))
        self.name = _text(step.get("name"))
        self.at_start = spelled
        self.fragments: list[str] = []
        self.offset = offset
        self.over = False

    def strict(self) -> CallReading:
        arguments = "".join(self.fragments) or self.at_start
        return CallReading(
            join_surrogates(self.id),
            join_surrogates(self.name),
            join_surrogates(arguments),
            self.offset,
            from_object=not self.fragments,
        )


class _Reader:
    """What was read of one body so far."""

    def __init__(self, *, error_quirk: str) -> None:
        self.notes = Notes()
        self._error_quirk = error_quirk
        self._text = GrowingText()
        self._reasoning = GrowingText()
        self._steps: dict[int, _Call | None] = {}  # None for a step that is no call
        self._error: tuple[str, str] | None = None
        self._finishes: list[str] = []
        self._values = 0
        self._done = False
        self._damaged = False
        self._marks: list[tuple[int, int]] = []

    def event(self, event: Event) -> None:
        data = event.data.strip()
        value = event_value(data)
        if self._done:
            self.notes.lost("SSE-AFTER-DONE", event.offset)
        elif not event.complete:
            self._unfinished(data, value, event.offset)
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif data == DONE:
            self._done = True
        elif isinstance(value, dict):
            self._values += 1
            before = self._text.length
            self._take(value, event)
            if self._text.length > before:
                self._marks.append((event.end, self._text.length))
        elif not data or data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        else:
            self.notes.lost("EVENT-GLUED", event.offset)

    def _unfinished(self, data: str, value: object, offset: int) -> None:
        """An event that the end of the body cut short: dropped, but what would it have said?"""
        if value is not UNREADABLE:
            self.notes.lost("SSE-NO-FINAL-BLANK", offset)
        elif DONE.startswith(data):
            self.notes.keep("SSE-NO-FINAL-BLANK", offset)
        elif self._finishes:
            self.notes.open("SSE-EOF-MIDCALL", offset, end=True)
        else:
            self._values += 1
            self._damaged = scan(data).state is not PrefixState.PREFIX

    # Events

    def _take(self, value: Json, event: Event) -> None:
        kind = value.get("event_type")
        if self._error is not None or (self._finishes and kind not in ("error", *_LASTS)):
            self.notes.lost("CONTENT-AFTER-FINISH", event.offset)
        if isinstance(kind, str) and kind in _EVENTS:
            _EVENTS[kind](self, value, event)
        elif "event_type" not in value and value.get("object") == "interaction":
            self._document(value, event)
        elif (error := error_of(value, event.name)) is not None:
            self._fail(error, event.offset)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def _interaction(self, value: Json, event: Event) -> None:
        interaction = value.get("interaction")
        if isinstance(interaction, dict):
            self._status(interaction, event)
        else:
            self.notes.lost("EVENT-GLUED", event.offset)

    def _status(self, value: Json, event: Event) -> None:
        word = join_surrogates(_text(value.get("status")))
        if word in _GOES_ON:
            return
        if word in _FAILED:
            self._fail(error_of(value) or (word, ""), event.offset)
            return
        if word not in _MEANINGS:
            self.notes.open("FINISH-UNKNOWN", event.offset, end=True)
        if self._finishes and word != self._finishes[-1]:
            self.notes.open("FINISH-DUPLICATE", event.offset, end=True)
        self._finishes = [*(one for one in self._finishes if one != word), word]

    def _first_version(self, value: Json, event: Event) -> None:
        """Events of the first version of the API, for which there is no contract any more."""
        self.notes.open("GINT-FIRST-VERSION", event.offset, text=True, calls=True)
        if value.get("event_type") in ("interaction.start", "interaction.complete"):
            self._interaction(value, event)

    def _start(self, value: Json, event: Event) -> None:
        index, step = value.get("index"), value.get("step")
        if type(index) is not int or index in self._steps or not isinstance(step, dict):
            self.notes.lost("EVENT-GLUED", event.offset)
            return
        self._step(index, step, member_text(event.data, "step", "arguments"), event.offset)

    def _step(self, index: int, step: Json, spelled: str, offset: int) -> None:
        kind = step.get("type")
        self._steps[index] = None
        if kind == "function_call":
            self._steps[index] = self._call(step, spelled, offset)
        elif kind == "thought":
            self._contents(step.get("summary"), self._reasoning, offset)
        elif kind == "model_output":
            self._contents(step.get("content"), self._text, offset)
        elif kind == "text" or not isinstance(kind, str):
            self.notes.lost("ENVELOPE-WRAPPED", offset)
        elif kind.endswith(("_call", "_result")):
            self.notes.keep("GEM-SERVER-TOOLS", offset)

    def _call(self, step: Json, spelled: str, offset: int) -> _Call:
        if not isinstance(step.get("arguments", {}), dict) or not _text(step.get("name")):
            self.notes.open("EVENT-GLUED", offset, calls=True)
        return _Call(step, spelled, offset)

    def _contents(self, contents: object, into: GrowingText, offset: int) -> None:
        for content in contents if isinstance(contents, list) else ():
            text = content.get("text") if isinstance(content, dict) else None
            if isinstance(text, str) and content.get("type") == "text":
                into.add(text)
            elif text is not None or not isinstance(content, dict):
                self.notes.open("EVENT-GLUED", offset, text=True)
        if contents is not None and not isinstance(contents, list):
            self.notes.open("EVENT-GLUED", offset, text=True)

    def _delta(self, value: Json, event: Event) -> None:
        index, delta = value.get("index"), value.get("delta")
        if type(index) is not int or index not in self._steps or not isinstance(delta, dict):
            self.notes.lost("EVENT-GLUED", event.offset)
            return
        kind, call = delta.get("type"), self._steps[index]
        if kind == "arguments_delta":
            self._fragment(call, delta.get("arguments"), event.offset)
        elif kind == "text" and call is None:
            self._contents([delta], self._text, event.offset)
        elif kind == "thought_summary" and call is None:
            self._contents([delta.get("content")], self._reasoning, event.offset)
        elif kind in ("text", "thought_summary", "function_call"):
            self.notes.lost("EVENT-GLUED", event.offset)

    def _fragment(self, call: _Call | None, fragment: object, offset: int) -> None:
        if call is None or call.over or not isinstance(fragment, str):
            self.notes.open("EVENT-GLUED", offset, calls=True)
            return
        if call.at_start == "{}" and not call.fragments:
            self.notes.keep("GINT-ARGS-PLACEHOLDER", offset)
        elif call.at_start and not call.fragments:
            self.notes.open("GINT-ARGS-PLACEHOLDER", offset, calls=True)
        call.fragments.append(fragment)

    def _stop(self, value: Json, event: Event) -> None:
        index = value.get("index")
        if type(index) is not int or index not in self._steps:
            self.notes.lost("EVENT-GLUED", event.offset)
        elif (call := self._steps[index]) is not None:
            call.over = True

    def _document(self, value: Json, event: Event) -> None:
        """Take an interaction that was not streamed."""
        steps = value.get("steps")
        if self._values > 1 or not isinstance(steps, list):
            self.notes.lost("GINT-FIRST-VERSION", event.offset)
            return
        for index, step in enumerate(steps):
            if not isinstance(step, dict):
                self.notes.lost("EVENT-GLUED", event.offset)
                return
            # The texts of a list are looked up one by one: few steps, and only for calls.
            wanted = step.get("type") == "function_call"
            path = ("steps", index, "arguments")
            self._step(index, step, member_text(event.data, *path) if wanted else "", event.offset)
        self._marks.append((event.end, self._text.length))
        self._status(value, event)

    def _error_event(self, value: Json, event: Event) -> None:
        self._fail(error_of(value, "error") or ("", ""), event.offset)

    def _fail(self, error: tuple[str, str], offset: int) -> None:
        if self._finishes:
            self.notes.lost("ERR-IN-200", offset)
        if self._error_quirk:
            self.notes.keep(self._error_quirk, offset)
        self._error = self._error or error

    # The end

    def reading(self) -> OracleReading:
        calls = [call for call in self._steps.values() if call is not None]
        self._conclude(len(calls))
        word = self._finishes[-1] if self._finishes else ""
        return OracleReading(
            text=self._text.value(),
            reasoning=self._reasoning.value(),
            calls=tuple(call.strict() for call in calls) if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=word,
            ended=bool(self._finishes),
            error=self._error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            damaged=self._damaged,
            finishes=tuple(self._finishes),
            meaning=_MEANINGS.get(word),
        )

    def _conclude(self, calls: int) -> None:
        if not self._values:
            self.notes.keep("STREAM-NO-EVENTS", 0)
        elif not self._finishes and self._error is None:
            self.notes.keep("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if "requires_action" in self._finishes and not calls and self.notes.calls_known:
            self.notes.keep("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_LASTS: Final = ("interaction.completed", "interaction.status_update", "interaction.complete")
_EVENTS: Final[dict[str, Callable[[_Reader, Json, Event], None]]] = {
    "interaction.created": _Reader._interaction,  # noqa: SLF001 - the table belongs to the class
    "interaction.status_update": _Reader._status,  # noqa: SLF001 - as above
    "interaction.completed": _Reader._interaction,  # noqa: SLF001 - as above
    "step.start": _Reader._start,  # noqa: SLF001 - as above
    "step.delta": _Reader._delta,  # noqa: SLF001 - as above
    "step.stop": _Reader._stop,  # noqa: SLF001 - as above
    "interaction.start": _Reader._first_version,  # noqa: SLF001 - as above
    "interaction.complete": _Reader._first_version,  # noqa: SLF001 - as above
    "content.start": _Reader._first_version,  # noqa: SLF001 - as above
    "content.delta": _Reader._first_version,  # noqa: SLF001 - as above
    "content.stop": _Reader._first_version,  # noqa: SLF001 - as above
    "error": _Reader._error_event,  # noqa: SLF001 - as above
}
