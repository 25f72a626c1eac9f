"""Body -> AWS event-stream messages, whole body at once, checked as the format says.

A message that the end of the body cut off is handed on, marked so; the first one whose
checksums or headers are wrong is an error without words, and the last.
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

# The code of the error that a damaged message stands for; an id of the catalogue.
CHECKSUM: Final = "AWS-CHECKSUM"
MARK: Final = b"\0"  # no first message is so long that another byte came first

_DAMAGED: Final = b'{"code": "%s"}' % CHECKSUM.encode()
_PRELUDE, _CHECKSUM = 12, 4
_MOST_HEADERS, _MOST_PAYLOAD = 128 << 10, 24 << 20
# Bytes of each type of header value; those of the other two types say it themselves.
_FIXED: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_SIZED: Final = (6, 7)
_TEXT: Final = 7


class Message(msgspec.Struct, frozen=True):
    """One message.

    Fields:
        kind: `error` for an exception, an error, and a message that is damaged.
        name: of the event.
        data: the payload; of a cut one, what there is of it.
        offset: byte of the payload.
        end: byte after the message.
    """

    kind: Literal["event", "error", "cut"]
    name: str
    data: bytes
    offset: int
    end: int


class _DamagedError(Exception):
    """The bytes are no message."""


def split_messages(body: bytes) -> Iterator[Message]:
    """Yield the messages of `body`."""
    at = 0
    while at < len(body):
        try:
            message = _message(body, at)
        except _DamagedError:
            message = Message("error", "", _DAMAGED, at, len(body))
        yield message
        at = message.end


def _message(body: bytes, at: int) -> Message:
    if len(body) < at + _PRELUDE:
        return Message("cut", "", b"", at, len(body))
    total, headers_size = _number(body[at : at + 4]), _number(body[at + 4 : at + 8])
    _check(body[at : at + 8], body[at + 8 : at + _PRELUDE])
    payload_size = total - headers_size - _PRELUDE - _CHECKSUM
    if headers_size > _MOST_HEADERS or not 0 <= payload_size <= _MOST_PAYLOAD:
        raise _DamagedError
    end, offset = at + total, at + _PRELUDE + headers_size
    payload = body[offset : end - _CHECKSUM]
    if len(body) < end:
        return Message("cut", "", payload, offset, len(body))
    _check(body[at : end - _CHECKSUM], body[end - _CHECKSUM : end])
    return _sorted_out(_headers(body[at + _PRELUDE : offset]), payload, offset, end)


def _sorted_out(headers: dict[str, str], payload: bytes, offset: int, end: int) -> Message:
    if headers.get(":message-type") in ("exception", "error"):
        words = headers.get(":error-message", "").encode()
        return Message("error", "", payload or words, offset, end)
    name = headers.get(":event-type", "")
    inner = _unwrapped(payload) if name == "chunk" else None
    if inner is not None:
        return Message("event", "", inner, offset, end)
    return Message("event", name, payload, offset, end)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _check(data: bytes, checksum: bytes) -> None:
    if zlib.crc32(data) != _number(checksum):
        raise _DamagedError


def _headers(block: bytes) -> dict[str, str]:
    """Return the names of all headers, with their values where they are text."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(block):
        name_end = at + 1 + block[at]
        name = block[at + 1 : name_end].decode("utf-8", "replace")
        kind = block[name_end] if name_end < len(block) else -1
        value_at = name_end + (3 if kind in _SIZED else 1)
        sized = _number(block[name_end + 1 : value_at]) if value_at <= len(block) else len(block)
        at = value_at + _FIXED.get(kind, sized)
        if kind not in (*_FIXED, *_SIZED) or at > len(block) or name in headers:
            raise _DamagedError
        headers[name] = block[value_at:at].decode("utf-8", "replace") if kind == _TEXT else ""
    return headers


def _unwrapped(payload: bytes) -> bytes | None:
    """Return the event of the model's own API in an envelope of Bedrock; None if it is none."""
    try:
        value = json.loads(payload)
        return base64.b64decode(value["bytes"], validate=True)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
