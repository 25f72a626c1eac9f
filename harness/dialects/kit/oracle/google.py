"""Share code between the oracles of Google's APIs: framings, errors, an incomplete last event.

The framings are server-sent events with `alt=sse`, one JSON array without it, one object for a
response that is not streamed, and one object on each line, as clients log a stream.
Source: Gemini API reference, `streamGenerateContent`.
"""

import json
from collections.abc import Iterator
from typing import ClassVar

from harness.dialects.kit.oracle.dispatch import DONE, Oracle
from harness.dialects.kit.oracle.events import AWS_MARK, BOM, Event, json_events
from harness.dialects.kit.oracle.reading import Notes
from harness.dialects.kit.oracle.values import UNREADABLE, event_value, skip_space
from harness.turns.json_prefix import PrefixState, scan
from harness.turns.oracle_reading import OracleReading
from harness.wire.interaction import Interaction

_ERROR_STATUS = 400

_DECODE = json.JSONDecoder().raw_decode
_SPACE = " \t\r\n"


def _google_events(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield the events of `body`; note anything else in `notes`."""
    start = body.removeprefix(BOM).lstrip()
    if start.startswith(b"["):
        notes.harmless("GEM-JSON-ARRAY", 0)
        yield from _elements(body, notes)
    elif start.startswith(b"{"):
        yield from _objects(body, notes)
    elif start.startswith(AWS_MARK):
        notes.unreadable("ENVELOPE-WRAPPED", 0)
    else:
        yield from json_events(body, notes)


def _objects(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield the one object of `body`, or the object of each of its lines."""
    text = body.decode("utf-8-sig", "replace").strip(_SPACE)
    value = event_value(text)
    if value is not UNREADABLE:
        if isinstance(value, dict) and "error" not in value:
            notes.harmless("JSON-FOR-STREAM", 0)
        yield _line_event(text, 0, len(body), body)
        return
    at = 0
    for line in body.splitlines(keepends=True) if b"\n" in body else [body]:
        data = line.decode("utf-8-sig", "replace").strip(_SPACE)
        if data:
            yield _line_event(data, at, at + len(line), line, complete=line.endswith(b"\n"))
        at += len(line)


def _elements(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield the elements of the array in `body`; the last one may be incomplete."""
    text = body.decode("utf-8-sig", "replace")
    if text.encode() != body.removeprefix(BOM):
        notes.unreadable("SSE-UTF8-SPLIT", 0)
        return
    before = len(body) - len(text.encode())
    at = skip_space(text, text.index("[") + 1)
    offset = before + len(text[:at].encode())
    while at < len(text) and text[at] != "]":
        try:
            _, end = _DECODE(text, at)
        except (ValueError, RecursionError):
            yield Event(text[at:], offset, len(body), complete=False)
            return
        following = skip_space(text, end)
        # The character after an element shows that the element is complete.
        over = offset + len(text[at : following + 1].encode())
        yield Event(text[at:end], offset, over)
        if not text.startswith((",", "]"), following):
            if following < len(text):
                notes.unreadable("EVENT-GLUED", over)
            return
        following += text.startswith(",", following)
        start = skip_space(text, following)
        offset += len(text[at:start].encode())
        at = start
    if text[at + 1 :].strip(_SPACE):
        notes.unreadable("SSE-AFTER-DONE", offset)


def _line_event(data: str, offset: int, end: int, raw: bytes, *, complete: bool = True) -> Event:
    damaged = data.encode("utf-8", "replace") not in raw
    return Event(data, offset, end, "", complete, damaged)


class GoogleOracle(Oracle):
    """Base of the oracles of Google's APIs: framings, errors, an incomplete last event."""

    # Whether half an event that is some other JSON value than an object loses everything.
    ANY_VALUE_COUNTS: ClassVar[bool] = False

    def read(self, interaction: Interaction) -> OracleReading:
        """Return the meaning of the body of `interaction`, by the contract of the API."""
        self.error_quirk = "" if interaction.status >= _ERROR_STATUS else "ERR-IN-200"
        return super().read(interaction)

    def events(self, body: bytes) -> Iterator[Event]:
        """Yield the events of `body`."""
        return _google_events(body, self.notes)

    def unfinished(self, data: str, event: Event) -> None:
        """Process an event that is incomplete because the body ends inside it."""
        value = event_value(data)
        counts = value is not UNREADABLE and (self.ANY_VALUE_COUNTS or isinstance(value, dict))
        if isinstance(value, dict):
            self.take_unfinished(value, event)
        elif counts:
            self.notes.unreadable("SSE-NO-FINAL-BLANK", event.offset)
        elif DONE.startswith(data):
            self.notes.harmless("SSE-NO-FINAL-BLANK", event.offset)
        elif self.finishes:
            self.notes.ambiguous("SSE-EOF-MIDCALL", event.offset, end=True)
        else:
            self.values += 1
            self.damaged = scan(data).state is not PrefixState.PREFIX
