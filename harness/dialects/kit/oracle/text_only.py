"""What the strict readings of APIs that stream text alone share: bytes -> values, in order.

Each event is one JSON object, and so is a plain answer. What is neither is noted, and where
it may have said something the reading abstains. It never raises and never guesses.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from harness.dialects.kit.oracle.events import AWS_MARK, Event, has_unframed_json, split_events
from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates

DONE = "[DONE]"
_NO_STREAM = (b"{", b"[", b"<", b"\x1f")
# What may come in a stream that says nothing at all.
_SILENT = frozenset({"SSE-COMMENT-AS-DATA", "SSE-DATA-NULL", "SSE-EMPTY-DATA"})


class TextOnlyReader(ABC):
    """Reads one body; `over` once its last event came."""

    # The contract's finish words; a turn without calls has no others.
    MEANINGS: ClassVar[dict[str, FinishReason]] = {}

    def __init__(self) -> None:
        self.notes = Notes()
        self.text = GrowingText()
        self.error: tuple[str, str] | None = None
        self.finishes: list[str] = []
        self.ended = False
        self.over = False
        self._values = 0
        self._is_messages = False
        self._marks: list[tuple[int, int]] = []

    @abstractmethod
    def value(self, value: dict[str, Any], event: Event) -> None:
        """Take one event, or the one document."""

    def read(self, body: bytes) -> OracleReading:
        """Return what `body` holds."""
        if body.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_NO_STREAM):
            self._document(body)
        else:
            self._is_messages = body.startswith(AWS_MARK)
            for event in split_events(body):
                self._event(event)
            if has_unframed_json(body):
                self.notes.lost("ERR-UNFRAMED", 0)
        return self._reading()

    def fail(self, code: str, message: str) -> None:
        """End the turn with the provider's error."""
        self.error = (join_surrogates(code), join_surrogates(message))
        self.over = True

    def finish(self, word: str, offset: int) -> None:
        """Take one finish word."""
        word = join_surrogates(word)
        if word not in self.MEANINGS:
            self.notes.keep("FINISH-UNKNOWN", offset)
        if self.finishes and word != self.finishes[-1]:
            self.notes.open("FINISH-DUPLICATE", offset, end=True)
        self.finishes = [*(one for one in self.finishes if one != word), word]
        self.ended = True

    def _event(self, event: Event) -> None:
        data = event.data.strip()
        if self.over:
            if data not in ("", DONE):
                self.notes.lost("SSE-AFTER-DONE", event.offset)
        elif not event.complete:
            self._unfinished(data, event)
        elif data == DONE:
            self._done(event)
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif not data:
            self.notes.keep("SSE-EMPTY-DATA", event.offset)
        else:
            self._payload(data, event)

    def _done(self, event: Event) -> None:
        self.over = True
        if self._values and not self.ended:
            self.notes.open("SSE-EOF-NO-FINISH-TEXT", event.offset, end=True)

    def _payload(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self._take(value, event)
        elif value is UNREADABLE and data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        elif value is UNREADABLE or isinstance(value, list):
            self.notes.lost("EVENT-GLUED", event.offset)
        else:
            self.notes.keep("SSE-DATA-NULL", event.offset)

    def _unfinished(self, data: str, event: Event) -> None:
        """WHATWG drops an event without its blank line; its content is another matter.

        A message without its end is none, whatever came of it.
        """
        readable = event_value(data) is not UNREADABLE
        if self._is_messages:
            self._values += 1
            self.notes.keep("AWS-MESSAGE-CUT", event.offset)
        elif data and DONE.startswith(data):
            self.notes.open("SSE-NO-FINAL-BLANK", event.offset, end=not self.ended)
        elif readable or "\n" in data:
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif self.ended:
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        else:
            self._values += 1

    def _take(self, value: dict[str, Any], event: Event) -> None:
        self._values += 1
        before = self.text.length
        self.value(value, event)
        if self.text.length > before:
            self._marks.append((event.end, self.text.length))

    def _document(self, body: bytes) -> None:
        text = body.decode("utf-8-sig", "replace").strip()
        value = event_value(text)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            self.notes.keep("JSON-FOR-STREAM", 0)
            self._take(value, Event(text, "", 0, len(body), complete=True, damaged=False))
        elif text.startswith("<"):
            self.notes.keep("HTTP-HTML-BODY", 0)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", 0)

    def _reading(self) -> OracleReading:
        noted = {deviation.quirk for deviation in self.notes.deviations()}
        if not self._values and noted <= _SILENT:
            self.notes.keep("STREAM-NO-EVENTS", 0)
        elif not self.ended and self.error is None and self._values:
            self.notes.keep("SSE-EOF-NO-FINISH-TEXT", 0)
        word = self.finishes[-1] if self.finishes else ""
        return OracleReading(
            text=self.text.value(),
            reasoning="",
            calls=() if self.notes.calls_known else None,
            text_known=self.notes.text_known,
            finish=word,
            ended=self.ended,
            error=self.error,
            deviations=self.notes.deviations(),
            text_marks=tuple(self._marks),
            end_known=self.notes.end_known,
            finishes=tuple(self.finishes),
            meaning=self.MEANINGS.get(word),
        )
