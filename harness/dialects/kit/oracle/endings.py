"""Define base classes of oracles by how a turn ends: with one event, or with finish words.

Most oracles of the dialects derive from one of the two. The others have separate rules.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Final

from harness.dialects.kit.oracle.dispatch import DONE, NOISE_QUIRKS, Json, Oracle
from harness.dialects.kit.oracle.events import (
    AWS_MARK,
    BOM,
    JSON_SPACE,
    Event,
    has_unframed_json,
    iter_lines,
    split_events,
)
from harness.dialects.kit.oracle.values import UNREADABLE, event_value, text_or_empty
from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates

FINISH_WITH_CALLS: Final = {"stop": "FINISH-STOP-WITH-CALLS", "length": "FINISH-LENGTH-WITH-CALL"}
_DOCUMENT_STARTS: Final = (b"{", b"[", b"<", b"\x1f")


class OneEndOracle(Oracle):
    """Reads the body of an API in which one event ends the turn, with or without a finish word.

    The body is server-sent events, lines of JSON, or one document. An incomplete event at the end
    has no content.

    Fields:
        framing: `sse`, `lines` or `document`.
        known: the number of objects of this API so far.
    """

    LIST_DATA: ClassVar[str] = "ENVELOPE-WRAPPED"
    # Words of the contract that are not a reason why a model stopped.
    OTHER_WORDS: ClassVar[frozenset[str]] = frozenset()

    framing = "sse"
    known = 0
    _has_sentinel = False

    def may_follow(self, event: Event) -> bool:  # noqa: ARG002 - for APIs that have such events
        """Return whether `event` may come after the event that ends the turn."""
        return False

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`; process one complete document at once instead."""
        start = body.removeprefix(BOM).lstrip(JSON_SPACE)
        if not start.startswith(_DOCUMENT_STARTS):
            if has_unframed_json(body):
                self.notes.unreadable("ERR-UNFRAMED", 0)
            yield from split_events(body)
        elif start.startswith(b"{") and (b"\n" not in start or _is_value(start.split(b"\n")[0])):
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
        """End the turn with a finish word; "" ends it without one."""
        word = join_surrogates(word)
        self.ended = True
        if not word:
            return
        self.add_finish(word)
        if word not in self.MEANINGS and word not in self.OTHER_WORDS:
            self.notes.harmless("FINISH-UNKNOWN", offset)

    def sentinel(self, event: Event) -> None:  # noqa: ARG002 - it ends nothing in these APIs
        """Process the end mark `[DONE]`."""
        self._has_sentinel = True

    def unfinished(self, data: str, event: Event) -> None:
        """Process the last event without its end, which is valid only for a JSON line."""
        value = event_value(data)
        if event.damaged:
            self.notes.unreadable("SSE-UTF8-SPLIT", event.offset)
            return
        if self.framing == "lines" and isinstance(value, dict):
            self.notes.harmless("NDJSON-NO-FINAL-NEWLINE", event.offset)
            self.take_value(value, event)
            return
        if isinstance(value, dict) and not self.ended and self.error is None:
            self.take_unfinished(value, event)
            return
        self.values += bool(data)
        if isinstance(value, dict) or "\n" in data or (not self.ended and data == DONE):
            self.notes.unreadable("SSE-NO-FINAL-BLANK", event.offset)
        elif data and DONE.startswith(data):
            self.notes.harmless("SSE-NO-FINAL-BLANK", event.offset)
        elif not self.known:
            # No more than half an event: it may be of any API.
            self.notes.unreadable("ENVELOPE-WRAPPED", event.offset)

    def take_value(self, value: Json, event: Event) -> None:
        """Process one JSON object; after the end, only if the API allows it."""
        over = self.ended or self.error is not None or self._has_sentinel
        if not over or self.may_follow(event):
            super().take_value(value, event)
        else:
            self.values += 1
            self.notes.unreadable("CONTENT-AFTER-FINISH", event.offset)

    def _document(self, start: bytes, end: int) -> None:
        text = start.decode("utf-8", "replace").rstrip()
        value = event_value(text)
        if isinstance(value, dict) and text.encode() == start.rstrip():
            self.take_value(value, Event(text, 0, end))
        else:
            self.not_an_answer(text)

    def conclude(self) -> None:
        """Note deviations that only the complete body shows."""
        if self.values:
            self._check_end(len(self.calls()))
        elif not self.notes.deviations() or self._has_sentinel:
            self.notes.harmless("STREAM-NO-EVENTS", 0)

    def _check_end(self, calls: int) -> None:
        if not self.known and self.error is None:
            self.notes.unreadable("ENVELOPE-WRAPPED", 0)
        elif not self.ended and self.error is None:
            # `[DONE]` alone may pass for an end, though no API here defines it as one.
            self.notes.ambiguous("SSE-EOF-MIDCALL", 0, end=self._has_sentinel)
        elif self.ended and calls and self.meaning is FinishReason.LENGTH:
            self.notes.harmless("FINISH-LENGTH-WITH-CALL", 0)
        self.check_calls(calls)

    @abstractmethod
    def check_calls(self, calls: int) -> None:
        """Note deviations if the finish word does not match the number of calls."""


class FinishWordOracle(Oracle):
    """Reads the body of an API with finish words, in which `[DONE]` or an error ends the stream.

    The body is server-sent events, AWS messages, or one document.
    """

    _is_messages = False

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`; process one complete document at once instead."""
        if body.removeprefix(BOM).lstrip().startswith(_DOCUMENT_STARTS):
            self._document(body)
            return
        if has_unframed_json(body):
            self.notes.unreadable("ERR-UNFRAMED", 0)
        self._is_messages = body.startswith(AWS_MARK)
        yield from split_events(body)

    def fail(self, code: str, message: str) -> None:
        """End the turn with the provider's error."""
        self.error = (join_surrogates(code), join_surrogates(message))
        self.over = True

    def finish(self, word: str, offset: int) -> None:
        """Process one finish word."""
        word = join_surrogates(word)
        if word not in self.MEANINGS:
            self.notes.harmless("FINISH-UNKNOWN", offset)
        if self.finishes and word != self.finishes[-1]:
            self.notes.ambiguous("FINISH-DUPLICATE", offset, end=True)
        self.add_finish(word)

    def after_end(self, data: str, event: Event) -> None:
        """Process an event after the end of the stream."""
        if data not in ("", DONE):
            self.notes.unreadable("SSE-AFTER-DONE", event.offset)

    def sentinel(self, event: Event) -> None:
        """Process the end mark `[DONE]`."""
        self.over = True
        if self.values and not self.ended:
            answers = ("finished", "interrupted")
            answer = self.notes.policy_choice("SSE-EOF-NO-FINISH-TEXT", event.offset, *answers)
            self.ended = answer == "finished"

    def unfinished(self, data: str, event: Event) -> None:
        """Process an event inside which the body ends; a truncated AWS message has no content."""
        value = event_value(data)
        if self._is_messages:
            self.values += 1
            self.notes.harmless("AWS-MESSAGE-CUT", event.offset)
        elif data and DONE.startswith(data):
            self.notes.ambiguous("SSE-NO-FINAL-BLANK", event.offset, end=not self.ended)
        elif isinstance(value, dict):
            self.take_unfinished(value, event)
        elif value is not UNREADABLE or "\n" in data:
            self.notes.unreadable("SSE-NO-FINAL-BLANK", event.offset)
        elif self.ended:
            self.notes.harmless("SSE-NO-FINAL-BLANK", event.offset)
        else:
            self.values += 1

    def _document(self, body: bytes) -> None:
        text = body.decode("utf-8-sig", "replace").strip()
        value = event_value(text)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            self.notes.harmless("JSON-FOR-STREAM", 0)
            self.take_value(value, Event(text, 0, len(body)))
        else:
            self.not_an_answer(text)

    def conclude(self) -> None:
        """Note deviations that only the complete body shows."""
        noted = {deviation.quirk for deviation in self.notes.deviations()}
        if not self.values and noted <= NOISE_QUIRKS:
            self.notes.harmless("STREAM-NO-EVENTS", 0)
        elif not self.ended and self.error is None and self.values:
            has_calls = self.table is not None and bool(self.calls())
            self.notes.harmless("SSE-EOF-MIDCALL" if has_calls else "SSE-EOF-NO-FINISH-TEXT", 0)
        if self.table is not None and self.error is None:
            self._check_calls(len(self.calls()))

    def _check_calls(self, calls: int) -> None:
        """Note a finish word that does not match the number of calls."""
        if calls:
            if quirk := FINISH_WITH_CALLS.get(self.word):
                self.notes.harmless(quirk, 0)
        elif self.word == "tool_calls" and self.notes.calls_known:
            self.notes.harmless("FINISH-TOOLCALLS-WITHOUT-CALLS", 0)


def _is_value(line: bytes) -> bool:
    return event_value(line.decode("utf-8", "replace")) is not UNREADABLE
