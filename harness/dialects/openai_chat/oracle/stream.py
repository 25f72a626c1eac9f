"""One interaction of the dialect openai-chat -> its strict reading.

A plain batch reader: it splits the whole body, reads each event as JSON and adds up the
deltas of choice 0. It never raises, whatever the bytes; it never repairs and never guesses.
Source: OpenAI API reference, "The chat completion chunk object" and "The chat completion
object"; errors inside a stream as gateways document them.
"""

from typing import Any

from harness.dialects.kit.oracle.errors import error_of
from harness.dialects.kit.oracle.events import Event, has_unframed_json, split_events
from harness.dialects.kit.oracle.notes import Notes
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value
from harness.dialects.openai_chat.oracle.choice import KNOWN_FINISHES, Choice
from harness.wire.interaction import Interaction

DONE = "[DONE]"

# Keys under which private envelopes and other dialects carry what belongs into `choices`.
_ENVELOPES = frozenset(
    {
        "data",
        "output",
        "outputs",
        "result",
        "response",
        "message",
        "delta",
        "content",
        "tool_calls",
        "candidates",
        "code",
    }
)
_CALL_FIELDS = ("tool_calls", "function_call")


def oracle_reading(interaction: Interaction) -> OracleReading:
    """Return what the body of `interaction` holds by the contract of the API."""
    reader = _Reader()
    events = tuple(split_events(interaction.body))
    for event in events:
        reader.event(event)
    if not events:
        reader.document(interaction.body)
    elif has_unframed_json(interaction.body):
        reader.notes.lost("ERR-UNFRAMED", 0)
    return reader.reading()


class _Reader:
    """What was read of one body so far."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.error: tuple[str, str] | None = None
        self._choice = Choice(self.notes)
        self._choice_index: int | None = None
        self._chunks = 0
        self._done = False
        self._marks: list[tuple[int, int]] = []

    def event(self, event: Event) -> None:
        data = event.data.strip()
        if self._done:
            self._after_done(data, event)
        elif not event.complete:
            self._unfinished(data, event)
        elif data == DONE:
            self._done = True
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif not data:
            self.notes.keep("SSE-EMPTY-DATA", event.offset)
        else:
            self._value(data, event)

    def _value(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self._chunk(value, event)
        elif value is not UNREADABLE:
            self.notes.keep("SSE-DATA-NULL", event.offset)
        elif data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        else:
            self.notes.lost("EVENT-GLUED", event.offset)

    def _after_done(self, data: str, event: Event) -> None:
        """After the end only a usage object may come; it means nothing to a reading."""
        value = event_value(data)
        harmless = data in ("", DONE) or (isinstance(value, dict) and not value.get("choices"))
        if harmless and not (isinstance(value, dict) and error_of(value, event.name)):
            self.notes.keep("SSE-AFTER-DONE", event.offset)
        else:
            self.notes.open("SSE-AFTER-DONE", event.offset, text=True, calls=True, end=True)

    def _unfinished(self, data: str, event: Event) -> None:
        """WHATWG drops an event without its blank line; its content is another matter.

        Its lines are looked at one by one: where a blank line is missing at the end, one
        may be missing before too, and then the event holds several chunks.
        """
        values = [event_value(data), *map(event_value, data.split("\n"))]
        if any(isinstance(value, dict) and _matters(value, event) for value in values):
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif data == DONE and not self._choice.finishes:
            self.notes.open("SSE-NO-FINAL-BLANK", event.offset, end=True)
        elif DONE.startswith(data) or values[0] is not UNREADABLE:
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        elif self._choice.finishes:
            self.notes.open("SSE-EOF-MIDCALL", event.offset, end=True)

    def _chunk(self, chunk: dict[str, Any], event: Event) -> None:
        self._chunks += 1
        if (error := error_of(chunk, event.name)) is not None:
            self._fail(error, event.offset)
        elif self.error is not None and chunk.get("choices"):
            self.notes.lost("ERR-IN-200", event.offset)
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self._choices(choices, event, usage=bool(chunk.get("usage")))
        elif choices is not None:
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)
        elif "choices" in chunk:
            self.notes.keep("CHUNK-CHOICES-NULL", event.offset)
        elif error is None:
            self._no_choices(chunk, event.offset)

    def _fail(self, error: tuple[str, str], offset: int) -> None:
        if self._choice.finishes:
            # The turn had ended well before the error came.
            self.notes.lost("ERR-IN-200", offset)
        self.notes.keep("ERR-IN-200", offset)
        self.error = self.error or error

    def _no_choices(self, chunk: dict[str, Any], offset: int) -> None:
        if _ENVELOPES.isdisjoint(chunk):
            self.notes.keep("CHUNK-CHOICES-ABSENT", offset)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", offset)

    def _choices(self, choices: list[Any], event: Event, *, usage: bool) -> None:
        if not choices and not usage:
            self.notes.keep("CHUNK-CHOICES-EMPTY", event.offset)
        if len(choices) > 1:
            self.notes.lost("N-CHOICES", event.offset)
        before = self._choice.text.length
        for choice in choices:
            self._one_choice(choice, event.offset)
        if self._choice.text.length > before:
            self._marks.append((event.end, self._choice.text.length))

    def _one_choice(self, choice: object, offset: int) -> None:
        if not isinstance(choice, dict):
            self.notes.lost("EVENT-GLUED", offset)
            return
        self._check_index(choice.get("index"), offset)
        if (error := error_of({"error": choice.get("error")})) is not None:
            self._fail(error, offset)
        if message := choice.get("message"):
            calls = not isinstance(message, dict) or any(map(message.get, _CALL_FIELDS))
            self.notes.open("MESSAGE-NOT-DELTA", offset, text=True, calls=calls)
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._choice.add(delta, offset)
        elif delta is None:
            self.notes.keep("DELTA-NULL", offset)
        else:
            self.notes.lost("EVENT-GLUED", offset)
        self._choice.add_finish(choice.get("finish_reason"), offset)

    def _check_index(self, index: object, offset: int) -> None:
        known = index if isinstance(index, int) else 0
        if self._choice_index is None:
            self._choice_index = known
        elif known != self._choice_index:
            self.notes.lost("N-CHOICES", offset)

    def document(self, body: bytes) -> None:
        """Read a body that holds no event at all."""
        text = body.decode("utf-8-sig", "replace").strip()
        value = event_value(text)
        if isinstance(value, dict):
            self._completion(value, len(body))
        elif text.startswith("<"):
            self.notes.keep("HTTP-HTML-BODY", 0)
        elif text.startswith(("{", "[")) or b"\0" in body:
            # Lines of JSON, or another framing: something was said, but not in this dialect.
            self.notes.lost("ENVELOPE-WRAPPED", 0)

    def _completion(self, value: dict[str, Any], end: int) -> None:
        self._chunks += 1
        error, choices = error_of(value), value.get("choices")
        if error is not None:
            self.notes.keep("ERR-UNFRAMED", 0)
            self.error = error
            return
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            self.notes.lost("ENVELOPE-WRAPPED", 0)
            return
        self.notes.keep("JSON-FOR-STREAM", 0)
        if isinstance(choices, list) and len(choices) > 1:
            self.notes.lost("N-CHOICES", 0)
        self._choice.add(_with_places(message), 0)
        self._choice.add_finish(choice.get("finish_reason"), 0)
        if not self._choice.finishes:
            self.notes.open("JSON-FOR-STREAM", 0, end=True)
        self._marks.append((end, self._choice.text.length))

    def reading(self) -> OracleReading:
        self._conclude()
        finishes = self._choice.finishes
        return OracleReading(
            text=self._choice.text.value(),
            reasoning=self._choice.reasoning.value(),
            calls=self._choice.calls.calls() if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=finishes[-1] if finishes else "",
            ended=bool(finishes) or self._done,
            error=self.error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            finishes=tuple(finishes),
            refusal=self._choice.refusal,
            meaning=KNOWN_FINISHES.get(finishes[-1]) if finishes else None,
        )

    def _conclude(self) -> None:
        """Note what only the whole body shows."""
        self._choice.check_tags(0)
        if not self._chunks:
            self.notes.keep("STREAM-NO-EVENTS", 0)
        elif not self.error:
            self._check_end(len(self._choice.calls))

    def _check_end(self, calls: int) -> None:
        finishes = self._choice.finishes
        if not finishes and not self._done:
            self.notes.keep("SSE-EOF-MIDCALL" if calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if self._done and self._choice_index is None:
            # An end of nothing: an empty turn, or an answer in words that are not known here.
            self.notes.open("CHUNK-CHOICES-ABSENT", 0, end=True)
        if self._choice.reopened and not self._done:
            self.notes.open("FINISH-STOP-TOO-EARLY", 0, end=True)
        if finishes and not self._done:
            self.notes.keep("SSE-DONE-MISSING", 0)
        if not calls and self.notes.calls_known:
            self._check_promise(finishes)
        if finishes and calls and (quirk := _FINISH_WITH_CALLS.get(finishes[-1])):
            self.notes.keep(quirk, 0)

    def _check_promise(self, finishes: list[str]) -> None:
        """A finish that promises calls, where there are none; a foreign spelling may not."""
        if not _PROMISES_CALLS.isdisjoint(finishes):
            self.notes.keep("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)
        elif any(finish.casefold() in _MAY_PROMISE_CALLS for finish in finishes):
            self.notes.open("FINISH-TOOLCALLS-WITHOUT-CALLS", 0, end=True)


_PROMISES_CALLS = frozenset({"tool_calls", "function_call"})
_MAY_PROMISE_CALLS = _PROMISES_CALLS | {"tool_use", "tool_call"}
_FINISH_WITH_CALLS = {"stop": "FINISH-STOP-WITH-CALLS", "length": "FINISH-LENGTH-WITH-CALL"}


def _matters(chunk: dict[str, Any], event: Event) -> bool:
    """Return whether `chunk` may say more than usage."""
    return bool(chunk.get("choices")) or error_of(chunk, event.name) is not None


def _with_places(message: dict[str, Any]) -> dict[str, Any]:
    """Return `message` with the place of each call, which is no field there, as its index."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    placed = [
        {**call, "index": place} if isinstance(call, dict) else call
        for place, call in enumerate(calls)
    ]
    return {**message, "tool_calls": placed}
