"""Body of a response whose events are JSON objects -> its events, in whichever framing they came.

Server-sent events by contract; JSON lines, a JSON list or one document where a tool wrote them
down, or where no stream was sent. What is none of these has no events, and is noted.
"""

from collections.abc import Iterator

from harness.judging.strict_reading.aws_messages import MARK
from harness.judging.strict_reading.events import Event, has_unframed_json, split_events
from harness.judging.strict_reading.json_members import item_texts
from harness.judging.strict_reading.notes import Notes
from harness.judging.strict_reading.values import UNREADABLE, event_value

_BOM = b"\xef\xbb\xbf"
_COMPRESSED = b"\x1f"


def events_of(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield the events of `body`."""
    start = body.removeprefix(_BOM).lstrip()[:1]
    if start in (b"{", b"["):
        yield from _json_events(body, notes)
    elif start == b"<":
        notes.keep("HTTP-HTML-BODY", 0)
    elif start == _COMPRESSED or (b"\0" in body and not body.startswith(MARK)):
        notes.lost("ENVELOPE-WRAPPED", 0)
    else:
        yield from split_events(body)
        if has_unframed_json(body):
            notes.lost("ERR-UNFRAMED", 0)


def _json_events(body: bytes, notes: Notes) -> Iterator[Event]:
    text = body.decode("utf-8", "replace")
    damaged = text.encode() != body
    value = event_value(text.removeprefix("\ufeff").strip())
    if isinstance(value, dict):
        yield _event(text.removeprefix("\ufeff").strip(), 0, len(body), damaged=damaged)
    elif isinstance(value, list):
        for element in item_texts(text.removeprefix("\ufeff")):
            yield _event(element, 0, len(body), damaged=damaged)
    elif text.lstrip("\ufeff \t\r\n").startswith("["):
        notes.lost("EVENT-GLUED", 0)
    else:
        yield from _lines(body, notes)


def _lines(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield an event for each line; where the first one is no value, there are no lines."""
    at = len(body) - len(body.lstrip())
    first = at
    for line in body[at:].split(b"\n"):
        end = min(at + len(line) + 1, len(body))
        text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        readable = event_value(text) is not UNREADABLE
        if not readable and (end < len(body) or body.endswith(b"\n") or at == first):
            if text:
                notes.lost("EVENT-GLUED", at)
        elif text:
            damaged = text.encode() not in line
            yield _event(text, at, end, damaged=damaged, complete=readable)
        at = end


def _event(text: str, offset: int, end: int, *, damaged: bool, complete: bool = True) -> Event:
    return Event(text, "", offset, end, complete, damaged)
