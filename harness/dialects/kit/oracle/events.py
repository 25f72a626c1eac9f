"""Split a complete body into events, whatever its framing is.

The framings are server-sent events by the WHATWG algorithm, AWS messages, lines of JSON, a JSON
list, and one document. The WHATWG algorithm drops an event that is incomplete because the body ends
inside it. These functions yield it with `complete=False`, because its meaning for a turn depends on
the API.
Sources: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
and https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from harness.dialects.kit.oracle.reading import Notes
from harness.dialects.kit.oracle.values import (
    UNREADABLE,
    dict_or_empty,
    event_value,
    item_texts,
    member_text,
)

# The code of the error that represents a damaged message; an id of the catalogue.
CHECKSUM: Final = "AWS-CHECKSUM"
BOM: Final = b"\xef\xbb\xbf"
JSON_SPACE: Final = b" \t\r\n"
AWS_MARK: Final = b"\0"  # no first message is so long that another byte came first

_DAMAGED_MESSAGE: Final = f'{{"code": "{CHECKSUM}"}}'
_PRELUDE, _CHECKSUM = 12, 4
_MOST_HEADERS, _MOST_PAYLOAD = 128 << 10, 24 << 20
# Bytes of each type of header value; the other two types contain their size.
_FIXED: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_SIZED: Final = (6, 7)
_TEXT: Final = 7


class Event(msgspec.Struct, frozen=True):
    """One event of a body, as text.

    Fields:
        data: its data lines joined by a newline; bytes that are not UTF-8 became U+FFFD.
        offset: the offset of its first data line.
        end: the offset after its blank line; the length of the body if the blank line is missing.
        name: the value of its last `event` field; "" if it has none; "error" for an AWS exception,
            or for an AWS message that is damaged.
        complete: False if the blank line, or the end of the message, is missing.
        damaged: its bytes were not UTF-8.
        is_wrapped: an AWS message contains it, and that framing cannot name the event.
    """

    data: str
    offset: int
    end: int
    name: str = ""
    complete: bool = True
    damaged: bool = False
    is_wrapped: bool = False


class _DamagedError(Exception):
    """Reports bytes that are not a valid AWS message."""


def _split_messages(body: bytes) -> Iterator[Event]:
    """Yield the event of each AWS message of `body`; a truncated one is incomplete."""
    at = 0
    while at < len(body):
        try:
            event = _read_message(body, at)
        except _DamagedError:
            event = Event(_DAMAGED_MESSAGE, at, len(body), "error")
        yield event
        at = event.end


def _read_message(body: bytes, at: int) -> Event:
    if len(body) < at + _PRELUDE:
        return Event("", at, len(body), complete=False)
    total, headers_size = _integer(body[at : at + 4]), _integer(body[at + 4 : at + 8])
    _check_crc(body[at : at + 8], body[at + 8 : at + _PRELUDE])
    payload_size = total - headers_size - _PRELUDE - _CHECKSUM
    if headers_size > _MOST_HEADERS or not 0 <= payload_size <= _MOST_PAYLOAD:
        raise _DamagedError
    end, offset = at + total, at + _PRELUDE + headers_size
    payload = body[offset : end - _CHECKSUM]
    if len(body) < end:
        return Event(payload.decode("utf-8", "replace"), offset, len(body), complete=False)
    _check_crc(body[at : end - _CHECKSUM], body[end - _CHECKSUM : end])
    return _event_of_message(_headers(body[at + _PRELUDE : offset]), payload, offset, end)


def _event_of_message(headers: dict[str, str], payload: bytes, offset: int, end: int) -> Event:
    name = headers.get(":event-type", "")
    is_error = headers.get(":message-type") in ("exception", "error")
    is_wrapped = False
    if is_error:
        name, payload = "error", payload or headers.get(":error-message", "").encode()
    elif name == "chunk" and (inner := _unwrap_chunk(payload)) is not None:
        name, payload, is_wrapped = "", inner, True
    data = payload.decode("utf-8", "replace")
    damaged = data.encode() != payload
    text = _as_object(data, headers.get(":exception-type", "")) if is_error else data
    return Event(text, offset, end, name, damaged=damaged, is_wrapped=is_wrapped)


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _check_crc(data: bytes, checksum: bytes) -> None:
    if zlib.crc32(data) != _integer(checksum):
        raise _DamagedError


def _headers(block: bytes) -> dict[str, str]:
    """Return all headers of an AWS message by name, with "" for a value that is not text."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(block):
        name_end = at + 1 + block[at]
        name = block[at + 1 : name_end].decode("utf-8", "replace")
        kind = block[name_end] if name_end < len(block) else -1
        value_at = name_end + (3 if kind in _SIZED else 1)
        sized = _integer(block[name_end + 1 : value_at]) if value_at <= len(block) else len(block)
        at = value_at + _FIXED.get(kind, sized)
        if kind not in (*_FIXED, *_SIZED) or at > len(block) or name in headers:
            raise _DamagedError
        headers[name] = block[value_at:at].decode("utf-8", "replace") if kind == _TEXT else ""
    return headers


def _unwrap_chunk(payload: bytes) -> bytes | None:
    """Return the event in the payload of Bedrock's `chunk` message; None if it has none."""
    try:
        value = json.loads(payload)
        return base64.b64decode(value["bytes"], validate=True)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


_OBJECT: Final = re.compile(rb"[ \t]*\{")
# One pattern for each line end, because a search for a fixed byte is thirty times as fast.
_UNFRAMED: Final = tuple(re.compile(end + rb"[ \t]*\{") for end in (b"\n", b"\r"))


def split_events(body: bytes) -> Iterator[Event]:
    """Yield the events of `body` that have a data field, or its AWS messages."""
    if body.startswith(AWS_MARK):
        yield from _split_messages(body)
        return
    lines: list[bytes] = []
    name, offset = b"", 0
    end = len(BOM) if body.startswith(BOM) else 0
    for ended in body[end:].splitlines(keepends=True):
        start, end = end, end + len(ended)
        line = ended.rstrip(b"\r\n")
        if not line:
            if lines:
                yield _sse_event(lines, name, offset, end, complete=True)
            lines, name = [], b""
            continue
        field, _, value = line.partition(b":")
        if field == b"data":
            offset = offset if lines else start
            lines.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    if lines:
        yield _sse_event(lines, name, offset, len(body), complete=False)


def _sse_event(lines: list[bytes], name: bytes, offset: int, end: int, *, complete: bool) -> Event:
    data = b"\n".join(lines)
    text = data.decode("utf-8", "replace")
    damaged = not data.isascii() and text.encode() != data
    return Event(text, offset, end, name.decode("utf-8", "replace"), complete, damaged)


def has_unframed_json(body: bytes) -> bool:
    """Return whether a line of `body` begins a JSON object that is not in a field of an event."""
    if body.startswith(AWS_MARK):
        return False
    return bool(_OBJECT.match(body)) or any(each.search(body) for each in _UNFRAMED)


def _as_object(data: str, kind: str) -> str:
    """Return the error in `data` as JSON text of an object, with the type of the exception."""
    value = event_value(data)
    if not isinstance(value, dict):
        value = {"message": data if value is UNREADABLE else ""}
    return json.dumps({"code": kind, **value})


def json_events(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield the events of `body`, each a JSON object; note a body without events in `notes`."""
    start = body.removeprefix(BOM).lstrip()[:1]
    if start in (b"{", b"["):
        yield from _iter_json_events(body, notes)
    elif start == b"<":
        notes.harmless("HTTP-HTML-BODY", 0)
    elif start == b"\x1f" or (b"\0" in body and not body.startswith(AWS_MARK)):
        notes.unreadable("ENVELOPE-WRAPPED", 0)
    else:
        yield from split_events(body)
        if has_unframed_json(body):
            notes.unreadable("ERR-UNFRAMED", 0)


def _iter_json_events(body: bytes, notes: Notes) -> Iterator[Event]:
    text = body.decode("utf-8", "replace")
    damaged = text.encode() != body
    value = event_value(text.removeprefix("\ufeff").strip())
    if isinstance(value, dict):
        yield Event(text.removeprefix("\ufeff").strip(), 0, len(body), damaged=damaged)
    elif isinstance(value, list):
        for element in item_texts(text.removeprefix("\ufeff")):
            yield Event(element, 0, len(body), damaged=damaged)
    elif text.lstrip("\ufeff \t\r\n").startswith("["):
        notes.unreadable("EVENT-GLUED", 0)
    else:
        yield from _json_lines(body, notes)


def _json_lines(body: bytes, notes: Notes) -> Iterator[Event]:
    """Yield an event for each line, or nothing if the first line is not a JSON value."""
    at = len(body) - len(body.lstrip())
    first = at
    for line in body[at:].split(b"\n"):
        end = min(at + len(line) + 1, len(body))
        text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        readable = event_value(text) is not UNREADABLE
        if not readable and (end < len(body) or body.endswith(b"\n") or at == first):
            if text:
                notes.unreadable("EVENT-GLUED", at)
        elif text:
            damaged = text.encode() not in line
            yield Event(text, at, end, damaged=damaged, complete=readable)
        at = end


def function_entries(
    entries: list[Any], path: tuple[str | int, ...], event: Event, notes: Notes
) -> Iterator[tuple[int, dict[str, Any], Any]]:
    """Yield position, item and arguments of each function call in the list at `path`.

    If the arguments are an object, they are yielded as their JSON text in the event.
    """
    texts: tuple[str, ...] = ()
    for position, entry in enumerate(entries):
        function = dict_or_empty(entry).get("function")
        if not isinstance(function, dict):
            notes.ambiguous("DELTA-FUNCTION-NULL", event.offset, calls=True)
            continue
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            notes.harmless("ARGS-OBJECT", event.offset)
            texts = texts or item_texts(member_text(event.data, *path))
            own = texts[position] if position < len(texts) else ""
            arguments = member_text(own, "function", "arguments")
        yield position, entry, arguments


def iter_lines(body: bytes, start: int) -> Iterator[Event]:
    """Yield an event for each line of `body` from offset `start` on."""
    at = start
    while at < len(body):
        end = body.find(b"\n", at) + 1 or len(body)
        line = body[at:end]
        payload = line.strip(JSON_SPACE)
        if payload:
            data = payload.decode("utf-8", "replace")
            damaged = data.encode() != payload
            offset = at + line.index(payload[:1])
            yield Event(data, offset, end, complete=line.endswith(b"\n"), damaged=damaged)
        at = end
