"""One interaction of the dialect openai-responses -> its strict reading.

A plain batch reader: it splits the whole body, reads each event as JSON and adds up the output
items. It never raises, whatever the bytes; it never repairs and never guesses.
Source: OpenAI API reference, "Responses: streaming events", "The response object" and
"Realtime: server events".
"""

from collections.abc import Callable
from typing import Any, Final

from harness.dialects.kit.oracle.errors import error_of
from harness.dialects.kit.oracle.events import Event, events_of
from harness.dialects.kit.oracle.notes import Notes
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value
from harness.dialects.openai_responses.oracle.items import ItemTable
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.wire.interaction import Interaction

Json = dict[str, Any]

DONE = "[DONE]"
_MEANINGS: Final = {
    "completed": FinishReason.STOP,
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_STATUS: Final = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
    "response.done": "completed",
}
_OVER: Final = frozenset(("completed", "incomplete", "failed", "cancelled"))
_PIECES: Final = {
    "response.output_text.delta": "text",
    "response.text.delta": "text",
    "response.audio_transcript.delta": "text",
    "response.output_audio_transcript.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_text.delta": "reasoning",
}
_WHOLES: Final = {
    "response.output_text.done": ("text", "text"),
    "response.text.done": ("text", "text"),
    "response.audio_transcript.done": ("text", "transcript"),
    "response.output_audio_transcript.done": ("text", "transcript"),
    "response.refusal.done": ("refusal", "refusal"),
    "response.reasoning_summary_text.done": ("summary", "text"),
    "response.reasoning_text.done": ("reasoning", "text"),
}
# Beginnings of types of these APIs; of those that no table names, a reading takes no notice.
_OURS: Final = ("response.", "session.", "conversation.", "input_audio_buffer.", "rate_limits.")
# Drafts of events, which another reader may know.
_DRAFTS: Final = ("response.reasoning.", "response.reasoning_summary.", "response.error")


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
        self._items = ItemTable(self.notes)
        self._error: tuple[str, str] | None = None
        self._finish = ""
        self._over = False
        self._sentinel_came = False
        self._values = 0
        self._created = 0
        self._marks: list[tuple[int, int]] = []

    def event(self, event: Event) -> None:
        data = event.data.strip()
        if self._sentinel_came and data not in ("", DONE):
            self.notes.lost("SSE-AFTER-DONE", event.offset)
        elif not event.complete:
            self._unfinished(data, event)
        elif data == DONE:
            self._sentinel(event.offset)
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif not data:
            self.notes.keep("SSE-EMPTY-DATA", event.offset)
        else:
            self._payload(data, event)

    def _payload(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self._values += 1
            before = self._items.text.length
            self._take(value, event)
            if self._items.text.length > before:
                self._marks.append((event.end, self._items.text.length))
        elif value is UNREADABLE and data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        elif value is UNREADABLE or isinstance(value, list):
            self.notes.lost("EVENT-GLUED", event.offset)
        else:
            self.notes.keep("SSE-DATA-NULL", event.offset)

    def _sentinel(self, offset: int) -> None:
        self._sentinel_came = True
        self.notes.keep("RESP-DONE-SENTINEL", offset)
        if self._values and not self._over and self._error is None:
            # Whether it ends a response that has no terminal event is nowhere written.
            self.notes.open("RESP-NO-TERMINAL", offset, end=True)

    def _unfinished(self, data: str, event: Event) -> None:
        """An event that the end of the body cut short: dropped, but what would it have said?"""
        values = [event_value(data), *map(event_value, data.split("\n"))]
        if self._over or DONE.startswith(data):
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        elif any(isinstance(value, dict) for value in values):
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        else:
            self._values += 1

    # Events

    def _take(self, value: Json, event: Event) -> None:
        kind = value.get("type")
        if not isinstance(kind, str):
            self._untyped(value, event)
            return
        if self._over or self._error is not None:
            self._after_end(kind, event.offset)
            return
        self._check_envelope(value, kind, event)
        if (piece := _PIECES.get(kind)) is not None:
            self._items.piece(piece, value, event.offset)
        elif (whole := _WHOLES.get(kind)) is not None:
            self._items.text_over(*whole, value, event.offset)
        elif (take := _EVENTS.get(kind)) is not None:
            take(self, value, event.offset)
        elif kind.startswith(_DRAFTS):
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)
        elif not kind.startswith(_OURS):
            self._untyped(value, event)

    def _check_envelope(self, value: Json, kind: str, event: Event) -> None:
        if not event.name:
            self.notes.keep("RESP-NO-EVENT-LINE", event.offset)
        if "obfuscation" in value:
            self.notes.keep("RESP-OBFUSCATION", event.offset)
        number = value.get("sequence_number", 0)
        if not isinstance(number, int) or number < 0:
            self.notes.keep("RESP-SEQUENCE-NEGATIVE", event.offset)
        if "event_id" in value or kind == "response.done":
            self.notes.keep("RESP-REALTIME-EVENTS", event.offset)

    def _after_end(self, kind: str, offset: int) -> None:
        """After the end nothing may come but, after an error event, the failed response."""
        if self._error is None or kind not in ("response.failed", "error"):
            self.notes.lost("SSE-AFTER-DONE", offset)

    def _untyped(self, value: Json, event: Event) -> None:
        error = error_of(value, event.name)
        if self._over:
            self.notes.lost("SSE-AFTER-DONE", event.offset)
        elif value.get("object") == "response" and isinstance(value.get("status"), str):
            self._document(value, event.offset)
        elif error is not None:
            if value.get("output"):  # a response that does not say that it is one
                self.notes.open("ENVELOPE-WRAPPED", event.offset, text=True, calls=True)
            self._fail(error, event.offset)
        elif isinstance(value.get("type"), str) and self._created:
            self.notes.keep("RESP-UNKNOWN-EVENT", event.offset)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def _document(self, value: Json, offset: int) -> None:
        """Take the whole response that a request without a stream gets."""
        if self._values > 1:
            self.notes.lost("EVENT-GLUED", offset)
            return
        self.notes.keep("JSON-FOR-STREAM", offset)
        self._learn_tools(value)
        self._items.output(value.get("output"), offset, streamed=False)
        self._end(value, "", offset)

    def _begin(self, value: Json, offset: int) -> None:
        response = value.get("response")
        self._created += value.get("type") == "response.created"
        if self._created > 1:
            self.notes.lost("EVENT-GLUED", offset)
        if isinstance(response, dict):
            self._learn_tools(response)

    def _learn_tools(self, response: Json) -> None:
        tools = response.get("tools")
        if isinstance(tools, list) and tools:
            dicts = [tool for tool in tools if isinstance(tool, dict)]
            names = (tool.get("name") for tool in dicts if tool.get("type") == "custom")
            self._items.custom = frozenset(name for name in names if isinstance(name, str))

    def _terminal(self, value: Json, offset: int) -> None:
        response = value.get("response")
        if not isinstance(response, dict):
            self.notes.lost("EVENT-GLUED", offset)
            return
        self._items.output(response.get("output"), offset, streamed=True)
        self._end(response, _STATUS[value["type"]], offset)

    def _end(self, response: Json, status: str, offset: int) -> None:
        said = response.get("status")
        if isinstance(said, str) and said in _OVER:
            if status and said != status and status != _STATUS["response.done"]:
                self.notes.open("FINISH-UNKNOWN", offset, calls=True, end=True)
            status = said
        details = response.get("incomplete_details") or response.get("status_details") or {}
        details = details if isinstance(details, dict) else {}
        error = response.get("error") or details.get("error")
        if status in ("failed", "cancelled") or error:
            reason = details.get("reason")
            words = reason if isinstance(reason, str) else ""
            self._fail(error_of({"error": error}) or (status, words), offset)
        elif status:
            self._finished(status, details.get("reason"), offset)

    def _finished(self, status: str, reason: object, offset: int) -> None:
        self._over = True
        self._finish = status
        if status != "incomplete":
            return
        self.notes.keep("RESP-INCOMPLETE", offset)
        if isinstance(reason, str) and reason:
            self._finish = join_surrogates(reason)
        else:
            self.notes.open("RESP-INCOMPLETE", offset, calls=True, end=True)

    def _error_event(self, value: Json, offset: int) -> None:
        if "event_id" in value:
            # A Realtime session may go on after an error.
            self.notes.open("RESP-REALTIME-EVENTS", offset, calls=True, end=True)
            return
        self._fail(error_of(value, "error") or ("", ""), offset)

    def _fail(self, error: tuple[str, str], offset: int) -> None:
        self.notes.keep("ERR-IN-200", offset)
        self._error = self._error or error

    def _transcript(self, value: Json, offset: int) -> None:
        piece = value.get("delta")
        self.notes.keep("RESP-REALTIME-EVENTS", offset)
        if isinstance(piece, str):
            self._items.text.add(piece)

    def _closed(self, _: Json, offset: int) -> None:
        """A translation session says that it is over, and no reason."""
        self._over = True
        if len(self._items):
            self.notes.lost("RESP-REALTIME-EVENTS", offset)

    def _item_added(self, value: Json, offset: int) -> None:
        self._items.added(value, offset)

    def _item_done(self, value: Json, offset: int) -> None:
        self._items.done(value, offset)

    def _fragment(self, value: Json, offset: int) -> None:
        self._items.fragment("function_call", value, offset)

    def _arguments_over(self, value: Json, offset: int) -> None:
        self._items.arguments_over("function_call", value, offset)

    def _input(self, value: Json, offset: int) -> None:
        self._items.fragment("custom_tool_call", value, offset)

    def _input_over(self, value: Json, offset: int) -> None:
        self._items.arguments_over("custom_tool_call", value, offset)

    # The end

    def reading(self) -> OracleReading:
        self._conclude()
        return OracleReading(
            text=self._items.text.value(),
            reasoning=self._items.reasoning.value(),
            calls=self._items.calls() if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=self._finish,
            ended=self._over,
            error=self._error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            finishes=(self._finish,) if self._finish else (),
            refusal=join_surrogates("".join(self._items.refusal)),
            meaning=_MEANINGS.get(self._finish),
        )

    def _conclude(self) -> None:
        self._items.conclude(0, completed=self._finish == "completed")
        calls = self._items.calls()
        if not self._values:
            if not self.notes.deviations() or self.notes.end_known:
                self.notes.keep("STREAM-NO-EVENTS", 0)
        elif not self._over and self._error is None:
            self.notes.keep("RESP-NO-TERMINAL", 0)
        elif self._finish and self._finish not in _MEANINGS and calls:
            # Cut short for a reason of its own: no one says which calls are whole.
            self.notes.open("RESP-INCOMPLETE", 0, calls=True)


_EVENTS: Final[dict[str, Callable[[_Reader, Json, int], None]]] = {
    "error": _Reader._error_event,  # noqa: SLF001 - the table belongs to the class
    "response.created": _Reader._begin,  # noqa: SLF001 - as above
    "response.in_progress": _Reader._begin,  # noqa: SLF001 - as above
    "response.function_call_arguments.delta": _Reader._fragment,  # noqa: SLF001 - as above
    "response.function_call_arguments.done": _Reader._arguments_over,  # noqa: SLF001 - as above
    "response.custom_tool_call_input.delta": _Reader._input,  # noqa: SLF001 - as above
    "response.custom_tool_call_input.done": _Reader._input_over,  # noqa: SLF001 - as above
    "response.output_item.added": _Reader._item_added,  # noqa: SLF001 - as above
    "response.output_item.done": _Reader._item_done,  # noqa: SLF001 - as above
    "session.output_transcript.delta": _Reader._transcript,  # noqa: SLF001 - as above
    "session.closed": _Reader._closed,  # noqa: SLF001 - as above
    **dict.fromkeys(_STATUS, _Reader._terminal),  # noqa: SLF001 - as above
}
