"""Body -> server-sent events, by the WHATWG algorithm, or AWS messages; whole body at once.

An event that the end of the body cut off is handed on, marked incomplete: WHATWG drops it,
and what that means for a turn is for the reader of the events to say.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

import json
import re
from collections.abc import Iterator

import msgspec

from harness.judging.strict_reading.aws_messages import MARK, Message, split_messages
from harness.judging.strict_reading.values import UNREADABLE, event_value

_BOM = b"\xef\xbb\xbf"
_UNFRAMED = re.compile(rb"(?:\A|[\r\n])[ \t]*\{")
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")


class Event(msgspec.Struct, frozen=True):
    """One event.

    Fields:
        data: its data lines joined by a newline; bytes that are no UTF-8 became U+FFFD.
        name: of its last `event` field; "" where it has none; "error" of an AWS exception.
        offset: byte of its first data line.
        end: byte after its blank line; the length of the body where that is missing.
        complete: False where the blank line is missing.
        damaged: its bytes were no UTF-8.
    """

    data: str
    name: str
    offset: int
    end: int
    complete: bool
    damaged: bool


def split_events(body: bytes) -> Iterator[Event]:
    """Yield the events of `body` that have a data field, or its AWS messages."""
    if body.startswith(MARK):
        yield from map(_of_message, split_messages(body))
        return
    lines: list[bytes] = []
    name, offset = b"", 0
    for match in _LINE.finditer(body, len(_BOM) if body.startswith(_BOM) else 0):
        line, line_end = match.groups()
        if not line and line_end:
            if lines:
                yield _event(lines, name, offset, match.end(), complete=True)
            lines, name = [], b""
            continue
        field, _, value = line.partition(b":")
        if field == b"data":
            offset = offset if lines else match.start()
            lines.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    if lines:
        yield _event(lines, name, offset, len(body), complete=False)


def _event(lines: list[bytes], name: bytes, offset: int, end: int, *, complete: bool) -> Event:
    data = b"\n".join(lines)
    text = data.decode("utf-8", "replace")
    damaged = text.encode() != data
    return Event(text, name.decode("utf-8", "replace"), offset, end, complete, damaged)


def has_unframed_json(body: bytes) -> bool:
    """Return whether a line of `body` starts a JSON object outside of any field."""
    return not body.startswith(MARK) and _UNFRAMED.search(body) is not None


def _of_message(message: Message) -> Event:
    data = message.data.decode("utf-8", "replace")
    damaged = data.encode() != message.data
    name = message.name
    if message.kind == "error":
        name = "error"
        data = _as_object(data)
    complete = message.kind != "cut"
    return Event(data, name, message.offset, message.end, complete, damaged and complete)


def _as_object(data: str) -> str:
    """Return the words of an error as the object that errors are by contract."""
    value = event_value(data)
    if isinstance(value, dict):
        return data
    return json.dumps({"message": data if value is UNREADABLE else ""})
