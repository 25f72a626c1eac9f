"""What strict readings share whose events are JSON objects: bytes -> values, in order.

Events are server-sent, or lines of JSON, or the one document that the body is. What is none
of them is noted, and where it may have said something the reading abstains; half an event at
the end says nothing. It never raises, whatever the bytes.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from harness.dialects.kit.oracle.events import Event, has_unframed_json, split_events
from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.kit.oracle.reading import CallReading, OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates

DONE = "[DONE]"
_BOM = b"\xef\xbb\xbf"
_NO_STREAM = (b"{", b"[", b"<", b"\x1f")
_SPACE = b" \t\r"


class FramedReader(ABC):
    """Reads one body.

    Fields:
        framing: `sse`, `lines` or `document`.
        ended: the event came that ends a turn well, or says that it failed.
        known: how many objects of this API came.
    """

    # The contract's words; STOP too for a turn that ends with calls.
    MEANINGS: ClassVar[dict[str, FinishReason]] = {}
    # Words of the contract that are no reason why a model stopped.
    OTHER_WORDS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.notes = Notes()
        self.text = GrowingText()
        self.reasoning = GrowingText()
        self.error: tuple[str, str] | None = None
        self.word = ""
        self.framing = "sse"
        self.ended = False
        self.known = 0
        self._events = 0
        self._done = False
        self._marks: list[tuple[int, int]] = []

    @abstractmethod
    def take(self, value: dict[str, Any], event: Event) -> None:
        """Take one object."""

    @abstractmethod
    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""

    @abstractmethod
    def conclude(self, calls: int) -> None:
        """Note what only the whole body shows."""

    def may_follow(self, event: Event) -> bool:  # noqa: ARG002 - for APIs that have such events
        """Return whether `event` may come after the one that ends the turn."""
        return False

    def read(self, body: bytes) -> OracleReading:
        """Return what `body` holds."""
        start = body.removeprefix(_BOM).lstrip(_SPACE + b"\n")
        if not start.startswith(_NO_STREAM):
            if has_unframed_json(body):
                self.notes.lost("ERR-UNFRAMED", 0)
            for event in split_events(body):
                self._event(event)
        elif start.startswith(b"{") and (b"\n" not in start or _is_object(start.split(b"\n")[0])):
            self.framing = "lines"
            for event in _iter_lines(body, len(body) - len(start)):
                self._event(event)
        else:
            self.framing = "document"
            self._document(start, len(body))
        return self._reading()

    def say(self, text: GrowingText, piece: object, offset: int) -> None:
        """Append a piece of text or reasoning; what is neither text nor null leaves it open."""
        if isinstance(piece, str):
            text.add(piece)
        elif piece is not None:
            self.notes.open("EVENT-GLUED", offset, text=True)

    def fail(self, code: object, message: object) -> None:
        """End the turn with the provider's error."""
        self.error = self.error or (_text_or_empty(code), _text_or_empty(message))

    def finish(self, word: str, offset: int) -> None:
        """End the turn with a finish word; "" is an end without one."""
        self.word = join_surrogates(word)
        self.ended = True
        if self.word and self.word not in self.MEANINGS and self.word not in self.OTHER_WORDS:
            self.notes.keep("FINISH-UNKNOWN", offset)

    def _event(self, event: Event) -> None:
        data = event.data.strip()
        value = event_value(data)
        if event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif not event.complete:
            self._unfinished(data, value, event)
        elif data == DONE:
            self._done = True
        elif isinstance(value, dict):
            self._value(value, event)
        elif value is UNREADABLE and not data.startswith(":") and data:
            self.notes.lost("EVENT-GLUED", event.offset)
        elif isinstance(value, list):
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)
        elif data:
            quirk = "SSE-COMMENT-AS-DATA" if value is UNREADABLE else "SSE-DATA-NULL"
            self.notes.keep(quirk, event.offset)
        else:
            self.notes.keep("SSE-EMPTY-DATA", event.offset)

    def _unfinished(self, data: str, value: object, event: Event) -> None:
        """The last event lacks its end: a line need not have one, a server-sent event must."""
        self._events += bool(data)
        if self.framing == "lines" and isinstance(value, dict):
            self.notes.keep("NDJSON-NO-FINAL-NEWLINE", event.offset)
            self._value(value, event)
        elif isinstance(value, dict) or "\n" in data or (not self.ended and data == DONE):
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif data and DONE.startswith(data):
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        elif not self.known:
            # No more than half an event: it may be of any API.
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def _value(self, value: dict[str, Any], event: Event) -> None:
        self._events += 1
        over = self.ended or self.error is not None or self._done
        if over and not self.may_follow(event):
            self.notes.lost("CONTENT-AFTER-FINISH", event.offset)
            return
        before = self.text.length
        self.take(value, event)
        if self.text.length > before:
            self._marks.append((event.end, self.text.length))

    def _document(self, start: bytes, end: int) -> None:
        text = start.decode("utf-8", "replace").rstrip()
        value = event_value(text)
        if isinstance(value, dict) and text.encode() == start.rstrip():
            self._value(value, Event(text, "", 0, end, complete=True, damaged=False))
        elif text.startswith("<"):
            self.notes.keep("HTTP-HTML-BODY", 0)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", 0)

    def _reading(self) -> OracleReading:
        calls = self.calls()
        if self._events:
            self._check_end(len(calls))
        elif not self.notes.deviations() or self._done:
            self.notes.keep("STREAM-NO-EVENTS", 0)
        return OracleReading(
            text=self.text.value(),
            reasoning=self.reasoning.value(),
            calls=calls if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=self.word,
            ended=self.ended,
            error=self.error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            finishes=(self.word,) if self.word else (),
            meaning=self.MEANINGS.get(self.word),
        )

    def _check_end(self, calls: int) -> None:
        if not self.known and self.error is None:
            self.notes.lost("ENVELOPE-WRAPPED", 0)
        elif not self.ended and self.error is None:
            # `[DONE]` alone may pass for an end, though no API here has it as one.
            self.notes.open("SSE-EOF-MIDCALL", 0, end=self._done)
        elif self.ended and calls and self.MEANINGS.get(self.word) is FinishReason.LENGTH:
            self.notes.keep("FINISH-LENGTH-WITH-CALL", 0)
        self.conclude(calls)


def _iter_lines(body: bytes, start: int) -> Iterator[Event]:
    """Yield the lines of `body` from `start` on."""
    at = start
    while at < len(body):
        end = body.find(b"\n", at) + 1 or len(body)
        line = body[at:end]
        payload = line.strip(_SPACE + b"\n")
        if payload:
            data = payload.decode("utf-8", "replace")
            damaged = data.encode() != payload
            offset = at + line.index(payload[:1])
            yield Event(data, "", offset, end, complete=line.endswith(b"\n"), damaged=damaged)
        at = end


def _is_object(line: bytes) -> bool:
    return event_value(line.decode("utf-8", "replace")) is not UNREADABLE


def _text_or_empty(value: object) -> str:
    return join_surrogates(value) if isinstance(value, str) else ""
