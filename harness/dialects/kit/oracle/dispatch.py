"""Body -> events -> values, in order: the dispatch that the oracles of all dialects share.

Each event is one JSON object, and so is a complete response. What is neither is noted, and if it
may have carried something, the oracle abstains. An oracle never raises, whatever the bytes. It
never repairs and never guesses.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, TypeAlias

from harness.dialects.kit.oracle.events import (
    AWS_MARK,
    BOM,
    JSON_SPACE,
    Event,
    has_unframed_json,
    iter_lines,
    split_events,
)
from harness.dialects.kit.oracle.notes import GrowingText, Notes
from harness.dialects.kit.oracle.reading import CallReading, OracleReading
from harness.dialects.kit.oracle.values import UNREADABLE, event_value, text_or_empty
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates
from harness.wire.interaction import Interaction

Json: TypeAlias = dict[str, Any]
TakeEvent: TypeAlias = Callable[[Json, Event], None]

DONE: Final = "[DONE]"
# Words of gateways for a failure of the provider, in no contract; a reader may fail the turn.
FAILURE_WORDS: Final = frozenset(
    ("error", "network_error", "insufficient_system_resource", "abort", "timeout")
)
_DOCUMENT_STARTS: Final = (b"{", b"[", b"<", b"\x1f")
# What may come in a stream without any content.
_WITHOUT_CONTENT: Final = frozenset(("SSE-COMMENT-AS-DATA", "SSE-DATA-NULL", "SSE-EMPTY-DATA"))
FINISH_WITH_CALLS: Final = {"stop": "FINISH-STOP-WITH-CALLS", "length": "FINISH-LENGTH-WITH-CALL"}


class Oracle(ABC):
    """Reads one body; make a new one for each.

    Fields:
        error: code and message of the provider's error.
        finishes: the distinct finish words, in order of their last appearance.
        values: how many JSON objects came.
        over: nothing may follow.
        ended: the turn has its end.
        model_failed, damaged: as in `OracleReading`.
    """

    # The contract's finish words; STOP also for a turn that ends with calls.
    MEANINGS: ClassVar[Mapping[str, FinishReason]] = {}
    # The quirk of data that is a JSON list, another JSON value, or empty.
    LIST_DATA: ClassVar[str] = "EVENT-GLUED"
    SCALAR_DATA: ClassVar[str] = "SSE-DATA-NULL"
    EMPTY_DATA: ClassVar[str] = "SSE-EMPTY-DATA"

    def __init__(self) -> None:
        self.notes = Notes()
        self.text = GrowingText()
        self.reasoning = GrowingText()
        self.error: tuple[str, str] | None = None
        self.finishes: list[str] = []
        self.values = 0
        self.over = False
        self.ended = False
        self.model_failed = False
        self.damaged = False
        self.marks: list[tuple[int, int]] = []

    @abstractmethod
    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`."""

    @abstractmethod
    def take(self, value: Json, event: Event) -> None:
        """Take one object."""

    @abstractmethod
    def unfinished(self, data: str, event: Event) -> None:
        """Take an event that the end of the body cut off.

        WHATWG drops such an event; what it would have contained may still matter.
        """

    @property
    def word(self) -> str:
        """Return the last finish word; "" if none came."""
        return self.finishes[-1] if self.finishes else ""

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return ()

    @abstractmethod
    def conclude(self) -> None:
        """Note what only the complete body shows."""

    @property
    def refusal(self) -> str:
        """Return the model's refusal."""
        return ""

    @property
    def meaning(self) -> FinishReason | None:
        """Return what the contract defines for the last finish word."""
        return self.MEANINGS.get(self.word)

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`, by the contract of the API."""
        for event in self.events(interaction.body):
            self.event(event)
        return self.reading()

    def event(self, event: Event) -> None:
        """Take one event."""
        data = event.data.strip()
        if self.over:
            self.after_end(data, event)
        elif not event.complete:
            self.unfinished(data, event)
        elif event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
        elif data == DONE:
            self.sentinel(event)
        elif not data:
            self.notes.keep(self.EMPTY_DATA, event.offset)
        else:
            self._payload(data, event)

    def after_end(self, data: str, event: Event) -> None:  # noqa: ARG002 - some APIs allow events that contain nothing
        """Take an event after the end."""
        self.notes.lost("SSE-AFTER-DONE", event.offset)

    def sentinel(self, event: Event) -> None:  # noqa: ARG002 - in some APIs it is an end without a finish word
        """Take `[DONE]`."""
        self.over = True

    def _payload(self, data: str, event: Event) -> None:
        value = event_value(data)
        if isinstance(value, dict):
            self.take_value(value, event)
        elif value is UNREADABLE and data.startswith(":"):
            self.notes.keep("SSE-COMMENT-AS-DATA", event.offset)
        elif value is UNREADABLE:
            self.notes.lost("EVENT-GLUED", event.offset)
        else:
            quirk = self.LIST_DATA if isinstance(value, list) else self.SCALAR_DATA
            note = self.notes.keep if quirk in _WITHOUT_CONTENT else self.notes.lost
            note(quirk, event.offset)

    def take_value(self, value: Json, event: Event) -> None:
        """Take one object, and mark how much of the text is complete after it."""
        self.values += 1
        before = self.text.length
        self.take(value, event)
        if self.text.length > before:
            self.marks.append((event.end, self.text.length))

    def add_text(self, text: GrowingText, piece: object, offset: int) -> None:
        """Append a piece of text or reasoning; what is neither text nor null leaves it open."""
        if isinstance(piece, str):
            text.add(piece)
        elif piece is not None:
            self.notes.open("EVENT-GLUED", offset, text=True)

    def add_finish(self, word: str) -> None:
        """Remember a finish word as the last one."""
        self.finishes = [*(one for one in self.finishes if one != word), word]
        self.ended = True

    def reading(self) -> OracleReading:
        """Return the meaning of what was taken."""
        self.conclude()
        notes = self.notes
        return OracleReading(
            text=self.text.value(),
            reasoning=self.reasoning.value(),
            calls=self.calls() if notes.calls_known else None,
            text_known=notes.text_known,
            finish=self.word,
            ended=self.ended,
            error=self.error,
            deviations=notes.deviations(),
            text_marks=tuple(self.marks),
            end_known=notes.end_known,
            finishes=tuple(self.finishes),
            refusal=self.refusal,
            meaning=self.meaning,
            model_failed=self.model_failed,
            damaged=self.damaged,
        )


class OneEndOracle(Oracle):
    """Reads an API in which one event ends the turn, with or without a finish word.

    The events are server-sent, or lines of JSON, or the one document that the body is. Half an
    event at the end contains nothing.

    Fields:
        framing: `sse`, `lines` or `document`.
        known: how many objects of this API came.
    """

    LIST_DATA: ClassVar[str] = "ENVELOPE-WRAPPED"
    # Words of the contract that are no reason why a model stopped.
    OTHER_WORDS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.framing = "sse"
        self.known = 0
        self._has_sentinel = False

    def may_follow(self, event: Event) -> bool:  # noqa: ARG002 - for APIs that have such events
        """Return whether `event` may come after the one that ends the turn."""
        return False

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`; a document is taken at once."""
        start = body.removeprefix(BOM).lstrip(JSON_SPACE)
        if not start.startswith(_DOCUMENT_STARTS):
            if has_unframed_json(body):
                self.notes.lost("ERR-UNFRAMED", 0)
            yield from split_events(body)
        elif start.startswith(b"{") and (b"\n" not in start or _is_object(start.split(b"\n")[0])):
            self.framing = "lines"
            yield from iter_lines(body, len(body) - len(start))
        else:
            self.framing = "document"
            self._document(start, len(body))

    def fail(self, code: object, message: object) -> None:
        """End the turn with the provider's error."""
        words = (join_surrogates(text_or_empty(code)), join_surrogates(text_or_empty(message)))
        self.error = self.error or words

    def finish(self, word: str, offset: int) -> None:
        """End the turn with a finish word; "" is an end without one."""
        word = join_surrogates(word)
        self.ended = True
        if not word:
            return
        self.add_finish(word)
        if word not in self.MEANINGS and word not in self.OTHER_WORDS:
            self.notes.keep("FINISH-UNKNOWN", offset)

    def sentinel(self, event: Event) -> None:  # noqa: ARG002 - it ends nothing in these APIs
        """Take `[DONE]`."""
        self._has_sentinel = True

    def unfinished(self, data: str, event: Event) -> None:
        """Take the last event without its end: a line need not have one, an SSE event must."""
        value = event_value(data)
        if event.damaged:
            self.notes.lost("SSE-UTF8-SPLIT", event.offset)
            return
        if self.framing == "lines" and isinstance(value, dict):
            self.notes.keep("NDJSON-NO-FINAL-NEWLINE", event.offset)
            self.take_value(value, event)
            return
        self.values += bool(data)
        if isinstance(value, dict) or "\n" in data or (not self.ended and data == DONE):
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif data and DONE.startswith(data):
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        elif not self.known:
            # No more than half an event: it may be of any API.
            self.notes.lost("ENVELOPE-WRAPPED", event.offset)

    def take_value(self, value: Json, event: Event) -> None:
        """Take one object; after the end, only if the API allows it."""
        over = self.ended or self.error is not None or self._has_sentinel
        if not over or self.may_follow(event):
            super().take_value(value, event)
        else:
            self.values += 1
            self.notes.lost("CONTENT-AFTER-FINISH", event.offset)

    def _document(self, start: bytes, end: int) -> None:
        text = start.decode("utf-8", "replace").rstrip()
        value = event_value(text)
        if isinstance(value, dict) and text.encode() == start.rstrip():
            self.take_value(value, Event(text, "", 0, end, complete=True, damaged=False))
        elif text.startswith("<"):
            self.notes.keep("HTTP-HTML-BODY", 0)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", 0)

    def conclude(self) -> None:
        """Note what only the complete body shows."""
        if self.values:
            self._check_end(len(self.calls()))
        elif not self.notes.deviations() or self._has_sentinel:
            self.notes.keep("STREAM-NO-EVENTS", 0)

    def _check_end(self, calls: int) -> None:
        if not self.known and self.error is None:
            self.notes.lost("ENVELOPE-WRAPPED", 0)
        elif not self.ended and self.error is None:
            # `[DONE]` alone may pass for an end, though no API here defines it as one.
            self.notes.open("SSE-EOF-MIDCALL", 0, end=self._has_sentinel)
        elif self.ended and calls and self.meaning is FinishReason.LENGTH:
            self.notes.keep("FINISH-LENGTH-WITH-CALL", 0)
        self.check_calls(calls)

    @abstractmethod
    def check_calls(self, calls: int) -> None:
        """Note what finish word and number of calls show together."""


class FinishWordOracle(Oracle):
    """Reads an API whose events carry finish words; `[DONE]` and errors end the stream.

    The events are server-sent, or AWS messages, or the one document that the body is.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_messages = False

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`; a document is taken at once."""
        if body.removeprefix(BOM).lstrip().startswith(_DOCUMENT_STARTS):
            self._document(body)
            return
        if has_unframed_json(body):
            self.notes.lost("ERR-UNFRAMED", 0)
        self._is_messages = body.startswith(AWS_MARK)
        yield from split_events(body)

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
        self.add_finish(word)

    def after_end(self, data: str, event: Event) -> None:
        """Take an event after the end."""
        if data not in ("", DONE):
            self.notes.lost("SSE-AFTER-DONE", event.offset)

    def sentinel(self, event: Event) -> None:
        """Take `[DONE]`."""
        self.over = True
        if self.values and not self.ended:
            self.notes.open("SSE-EOF-NO-FINISH-TEXT", event.offset, end=True)

    def unfinished(self, data: str, event: Event) -> None:
        """Take an event that the end of the body cut off; a message without its end is none."""
        readable = event_value(data) is not UNREADABLE
        if self._is_messages:
            self.values += 1
            self.notes.keep("AWS-MESSAGE-CUT", event.offset)
        elif data and DONE.startswith(data):
            self.notes.open("SSE-NO-FINAL-BLANK", event.offset, end=not self.ended)
        elif readable or "\n" in data:
            self.notes.lost("SSE-NO-FINAL-BLANK", event.offset)
        elif self.ended:
            self.notes.keep("SSE-NO-FINAL-BLANK", event.offset)
        else:
            self.values += 1

    def _document(self, body: bytes) -> None:
        text = body.decode("utf-8-sig", "replace").strip()
        value = event_value(text)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            self.notes.keep("JSON-FOR-STREAM", 0)
            self.take_value(value, Event(text, "", 0, len(body), complete=True, damaged=False))
        elif text.startswith("<"):
            self.notes.keep("HTTP-HTML-BODY", 0)
        else:
            self.notes.lost("ENVELOPE-WRAPPED", 0)

    def conclude(self) -> None:
        """Note what only the complete body shows."""
        noted = {deviation.quirk for deviation in self.notes.deviations()}
        if not self.values and noted <= _WITHOUT_CONTENT:
            self.notes.keep("STREAM-NO-EVENTS", 0)
        elif not self.ended and self.error is None and self.values:
            self.notes.keep("SSE-EOF-NO-FINISH-TEXT", 0)

    def check_calls(self, calls: int) -> None:
        """Note a finish word that does not match the number of calls."""
        if calls:
            if quirk := FINISH_WITH_CALLS.get(self.word):
                self.notes.keep(quirk, 0)
        elif self.word == "tool_calls" and self.notes.calls_known:
            self.notes.keep("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)


def _is_object(line: bytes) -> bool:
    return event_value(line.decode("utf-8", "replace")) is not UNREADABLE
