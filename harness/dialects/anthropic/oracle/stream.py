"""One interaction of the dialect anthropic -> its strict reading.

A plain batch reader: it splits the whole body, reads each event as JSON and adds up the content
blocks. It never raises, whatever the bytes; it never repairs and never guesses.
Source: Anthropic API reference, "Streaming Messages", "Messages", "Handling stop reasons".
"""

from collections.abc import Callable
from typing import Any, Final

from harness.dialects.anthropic.oracle.blocks import BlockTable
from harness.dialects.kit.oracle.errors import error_of
from harness.dialects.kit.oracle.events import Event, events_of
from harness.dialects.kit.oracle.notes import Notes
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value, member_text, read_arguments
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.wire.interaction import Interaction

Json = dict[str, Any]

DONE = "[DONE]"
_MEANINGS: Final = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
    "pause_turn": FinishReason.OTHER,
    "compaction": FinishReason.OTHER,
}
_NEW: Final = frozenset(("pause_turn", "refusal", "model_context_window_exceeded", "compaction"))
# Words, also in another case or of another API, after which the last call may not be whole.
_STOPPED_INSIDE: Final = frozenset(
    ("max_tokens", "model_context_window_exceeded", "refusal", "length", "content_filter")
)
# Words of gateways for a failure, and for calls: a reader may take them as such.
_FAILED: Final = frozenset(
    ("error", "network_error", "insufficient_system_resource", "abort", "timeout")
)
_MAY_PROMISE_CALLS: Final = frozenset(("tool_use", "tool_calls", "tool_call", "function_call"))
_HARMLESS: Final = frozenset(("ping", "message_stop"))


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    reader = _Reader()
    for event in events_of(interaction.body, reader.notes):
        reader.event(event)
    return reader.reading()


class _Reader:
    """What was read of one body so far."""

    def __init__(self) -> None:
        self.notes = Notes()
        self._blocks = BlockTable(self.notes)
        self._error: tuple[str, str] | None = None
        self._finishes: list[str] = []
        self._start_reason = ""
        self._started = False
        self._over = False
        self._values = 0
        self._marks: list[tuple[int, int]] = []

    def event(self, event: Event) -> None:
        data = event.data.strip()
        if self._over:
            self._after_end(data, event)
        elif not event.complete:
            self._unfinished(data, event)
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif data == DONE:
            self._over = True
        elif not data:
            self.notes.keep("SSE-EMPTY-DATA", event.offset)
        else:
            self._payload(data, event)

    def _payload(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self._values += 1
            before = self._blocks.text.length
            self._take(value, event)
            if self._blocks.text.length > before:
                self._marks.append((event.end, self._blocks.text.length))
        elif value is UNREADABLE and data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        elif value is UNREADABLE or isinstance(value, list):
            self.notes.lost("EVENT-GLUED", event.offset)
        else:
            self.notes.keep("SSE-DATA-NULL", event.offset)

    def _after_end(self, data: str, event: Event) -> None:
        value = event_value(data)
        harmless = isinstance(value, dict) and value.get("type") in tuple(_HARMLESS)
        if data in ("", DONE) or harmless:
            self.notes.keep("SSE-AFTER-DONE", event.offset)
        else:
            self.notes.lost("SSE-AFTER-DONE", event.offset)

    def _unfinished(self, data: str, event: Event) -> None:
        """An event that the end of the body cut short: dropped, but what would it have said?"""
        values = [event_value(data), *map(event_value, data.split("\n"))]
        dicts = [value for value in values if isinstance(value, dict)]
        if any(value.get("type") not in tuple(_HARMLESS) for value in dicts) or (
            dicts and self._start_reason
        ):
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif dicts or DONE.startswith(data) or values[0] is not UNREADABLE:
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        elif self._finishes:
            self.notes.open("SSE-EOF-MIDCALL", event.offset, end=True)
        else:
            self._values += 1

    # Events

    def _take(self, value: Json, event: Event) -> None:
        kind = value.get("type")
        if isinstance(kind, str) and kind in _EVENTS:
            if kind not in (event.name, "message"):
                self.notes.keep("ANT-NO-EVENT-LINE", event.offset)
            self._check_order(kind, event.offset)
            _EVENTS[kind](self, value, event)
        elif (error := error_of(value, event.name)) is not None:
            self._fail(error, event.offset)
        elif isinstance(kind, str) and event.name not in _EVENTS and self._values > 1:
            self.notes.keep("ANT-UNKNOWN-EVENT", event.offset)
        else:
            self.notes.lost("ANT-UNKNOWN-EVENT", event.offset)

    def _check_order(self, kind: str, offset: int) -> None:
        if kind in ("ping", "message_stop"):
            return
        if self._error is not None or (self._finishes and kind not in ("message_delta", "error")):
            self.notes.lost("CONTENT-AFTER-FINISH", offset)

    def _message_start(self, value: Json, event: Event) -> None:
        message = value.get("message")
        if self._started or self._blocks.blocks or not isinstance(message, dict):
            self.notes.lost("EVENT-GLUED", event.offset)
            return
        self._started = True
        if message.get("content"):
            self.notes.keep("ANT-WHOLE-IN-START", event.offset)
            text = member_text(event.data, "message", "content")
            self._content(message["content"], text, event.offset)
        reason = message.get("stop_reason")
        self._start_reason = reason if isinstance(reason, str) else ""

    def _content(self, content: object, text: str, offset: int) -> None:
        if not isinstance(content, list):
            self.notes.lost("EVENT-GLUED", offset)
            return
        for place, block in enumerate(content):
            wanted = isinstance(block, dict) and isinstance(block.get("input"), dict)
            spelled = member_text(text, place, "input") if wanted else ""
            self._blocks.start(place, block, spelled, offset)
            self._blocks.stop(place, offset)

    def _block_start(self, value: Json, event: Event) -> None:
        content = value.get("content_block")
        spelled = ""
        if isinstance(content, dict) and content.get("input"):
            spelled = member_text(event.data, "content_block", "input")
            self.notes.keep("ANT-FULL-INPUT-IN-START", event.offset)
        self._blocks.start(value.get("index"), content, spelled, event.offset)

    def _block_delta(self, value: Json, event: Event) -> None:
        self._blocks.delta(value.get("index"), value.get("delta"), event.offset)

    def _block_stop(self, value: Json, event: Event) -> None:
        self._blocks.stop(value.get("index"), event.offset)

    def _message_delta(self, value: Json, event: Event) -> None:
        delta = value.get("delta")
        if isinstance(delta, dict):
            self._finish(delta.get("stop_reason"), event.offset)
        elif delta is not None:
            self.notes.lost("EVENT-GLUED", event.offset)

    def _message_stop(self, _: Json, event: Event) -> None:
        self._over = True
        if not self._finishes and self._start_reason:
            self._finish(self._start_reason, event.offset)
        if not self._finishes and self._error is None:
            self.notes.open("FINISH-UNKNOWN", event.offset, end=True)

    def _message(self, value: Json, event: Event) -> None:
        """Take the document that a request without a stream gets."""
        if self._values > 1:
            self.notes.lost("EVENT-GLUED", event.offset)
            return
        self.notes.keep("JSON-FOR-STREAM", event.offset)
        text = member_text(event.data, "content")
        self._content(value.get("content"), text, event.offset)
        self._finish(value.get("stop_reason"), event.offset)
        self._over = True

    def _ping(self, _: Json, event: Event) -> None:
        self.notes.keep("ANT-UNKNOWN-EVENT", event.offset)

    def _error_event(self, value: Json, event: Event) -> None:
        self._fail(error_of(value, "error") or ("", ""), event.offset)

    def _fail(self, error: tuple[str, str], offset: int) -> None:
        if self._finishes:  # the message had ended well before the error came
            self.notes.lost("ANT-ERROR-EVENT", offset)
        self.notes.keep("ANT-ERROR-EVENT", offset)
        self._error = self._error or error

    def _finish(self, reason: object, offset: int) -> None:
        if reason is None:
            return
        if not isinstance(reason, str) or not reason:
            self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
            return
        word = join_surrogates(reason)
        if word.casefold() in _FAILED:
            self.notes.lost("FINISH-UNKNOWN", offset)
        elif word not in _MEANINGS:
            self.notes.keep("FINISH-UNKNOWN", offset)
        if self._finishes and word == self._finishes[-1]:
            self.notes.keep("FINISH-DUPLICATE", offset)
        elif self._finishes:
            self.notes.open("FINISH-DUPLICATE", offset, calls=True, end=True)
        self._finishes = [*(one for one in self._finishes if one != word), word]

    # The end

    def reading(self) -> OracleReading:
        self._conclude()
        finishes = self._finishes
        word = finishes[-1] if finishes else ""
        return OracleReading(
            text=self._blocks.text.value(),
            reasoning=self._blocks.reasoning.value(),
            calls=self._blocks.strict_calls() if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=word,
            ended=bool(finishes),
            error=self._error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            finishes=tuple(finishes),
            meaning=_MEANINGS.get(word),
        )

    def _conclude(self) -> None:
        self._blocks.conclude(ended=bool(self._finishes) and self._error is None)
        calls = self._blocks.calls()
        if not self._values and not self.notes.deviations():
            self.notes.keep("STREAM-NO-EVENTS", 0)
        elif not self._finishes and self._error is None:
            self.notes.keep("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if not self._finishes:
            return
        if not self._over:
            self.notes.keep("ANT-MESSAGE-STOP-MISSING", 0)
        self._check_reason(self._finishes[-1])

    def _check_reason(self, word: str) -> None:
        calls, blocks = self._blocks.calls(), self._blocks.blocks
        if word in _NEW:
            self.notes.keep("ANT-STOP-REASONS-NEW", 0)
        if not calls and self.notes.calls_known and word.casefold() in _MAY_PROMISE_CALLS:
            self.notes.open("FINISH-TOOLCALLS-WITHOUT-CALLS", 0, end=word != "tool_use")
        if calls and word == "end_turn":
            self.notes.keep("ANT-ENDTURN-WITH-TOOL", 0)
        if calls and blocks[-1] is calls[-1] and word.casefold() in _STOPPED_INSIDE:
            # Whether the call is whole cannot be told from an input that can be read.
            readable = read_arguments(calls[-1].arguments).value is not None
            self.notes.open("ANT-BUFFERED-MAXTOKENS", 0, calls=readable)
        if _MEANINGS.get(word) is FinishReason.OTHER and not all(c.arguments for c in calls):
            self.notes.open("ANT-EMPTY-INPUT", 0, calls=True)


_EVENTS: Final[dict[str, Callable[[_Reader, Json, Event], None]]] = {
    "content_block_delta": _Reader._block_delta,  # noqa: SLF001 - the table belongs to the class
    "content_block_start": _Reader._block_start,  # noqa: SLF001 - as above
    "content_block_stop": _Reader._block_stop,  # noqa: SLF001 - as above
    "error": _Reader._error_event,  # noqa: SLF001 - as above
    "message": _Reader._message,  # noqa: SLF001 - as above
    "message_delta": _Reader._message_delta,  # noqa: SLF001 - as above
    "message_start": _Reader._message_start,  # noqa: SLF001 - as above
    "message_stop": _Reader._message_stop,  # noqa: SLF001 - as above
    "ping": _Reader._ping,  # noqa: SLF001 - as above
}
