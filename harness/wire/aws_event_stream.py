"""AWS event-stream messages, sans-IO: bytes in as the network cuts them, frames out.

A message is a prelude (total length, headers length, checksum of the two), headers, payload
and a checksum of all before it. Nothing is handed on whose checksums were not seen to be
right: the first damaged message becomes one frame that says so, and the framing ends there.
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

import struct
from collections.abc import Iterator, Mapping
from typing import Final
from zlib import crc32

from harness.wire import aws_headers
from harness.wire.aws_headers import HeaderError, Headers
from harness.wire.bedrock_chunk import unwrapped
from harness.wire.frames import Frame

MAX_HEADERS_BYTES: Final = 128 * 1024
MAX_PAYLOAD_BYTES: Final = 24 * 1024 * 1024

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_FRAMING_BYTES = _PRELUDE.size + _CHECKSUM.size
_CHUNK = "chunk"
# Message type -> the headers that name and explain a failure.
_FAILURES: Final = {
    "exception": (":exception-type", ":exception-message"),
    "error": (":error-code", ":error-message"),
}


class MessageDecoder:
    """Decode one body of messages.

    Args:
        offset: of the first byte that it is fed.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset  # of the buffer
        self._buffer = bytearray()
        self._wanted = _PRELUDE.size  # so many bytes say something new
        self._damaged = False

    def feed(self, data: bytes) -> list[Frame]:
        """Return the messages that `data` completes; after a damaged one there is none."""
        if self._damaged:
            return []
        self._buffer += data
        found: list[Frame] = []
        while len(self._buffer) >= self._wanted:
            found += self._next()
        return found

    def close(self) -> list[Frame]:
        """Return the message that the end of the body cut short, if there is one.

        Its bytes are handed on as they are, prelude first, which is never a payload.
        """
        if self._damaged or not self._buffer:
            return []
        return [Frame(bytes(self._buffer), "", self._offset, complete=False)]

    def _next(self) -> list[Frame]:
        """Take the prelude at hand, or the whole message that it announced."""
        total, headers_size, checksum = _PRELUDE.unpack_from(self._buffer)
        if self._wanted == _PRELUDE.size:
            why = _refuse_prelude(self._buffer, total, headers_size, checksum)
            self._wanted = total
            return self._refuse(why) if why else []
        message = bytes(self._buffer[:total])
        why = _refuse_message(message)
        if why:
            return self._refuse(why)
        try:
            frame = _frame(message, headers_size, self._offset)
        except HeaderError as error:
            return self._refuse(str(error))
        del self._buffer[:total]
        self._offset += total
        self._wanted = _PRELUDE.size
        return [frame]

    def _refuse(self, why: str) -> list[Frame]:
        self._damaged = True
        self._buffer.clear()
        self._wanted = _PRELUDE.size
        words = f"byte {self._offset}: {why}".encode()
        return [Frame(words, "", self._offset, complete=False, failure="bad_event")]


def _refuse_prelude(buffer: bytearray, total: int, headers_size: int, checksum: int) -> str:
    found = crc32(buffer[: _PRELUDE.size - _CHECKSUM.size])
    if found != checksum:
        return f"expected a prelude with checksum {checksum:08x}, found {found:08x}"
    payload_size = total - headers_size - _FRAMING_BYTES
    if headers_size > MAX_HEADERS_BYTES or not 0 <= payload_size <= MAX_PAYLOAD_BYTES:
        return f"expected a message, found one of {total} bytes with {headers_size} of headers"
    return ""


def _refuse_message(message: bytes) -> str:
    end = len(message) - _CHECKSUM.size
    (checksum,) = _CHECKSUM.unpack_from(message, end)
    found = crc32(message[:end])
    if found != checksum:
        return f"expected a message with checksum {checksum:08x}, found {found:08x}"
    return ""


def _frame(message: bytes, headers_size: int, offset: int) -> Frame:
    start = _PRELUDE.size + headers_size
    headers = aws_headers.parse(message[_PRELUDE.size : start])
    payload = message[start : -_CHECKSUM.size]
    kind = _text(headers, ":message-type")
    if kind in _FAILURES:
        return _failure(kind, headers, payload, offset + start)
    event = _text(headers, ":event-type")
    inner = unwrapped(payload) if event == _CHUNK else None
    if inner is not None:
        return Frame(inner, "", offset + start)
    return Frame(payload, event, offset + start)


def _failure(kind: str, headers: Headers, payload: bytes, offset: int) -> Frame:
    name, words = (_text(headers, header) for header in _FAILURES[kind])
    code = name or kind
    return Frame(payload or words.encode(), code, offset, complete=False, failure=code)


def _text(headers: Headers, name: str) -> str:
    value = headers.get(name)
    return value if isinstance(value, str) else ""


# The way back


def encode(payload: bytes, headers: Mapping[str, str]) -> bytes:
    """Spell one message with right checksums; its headers are text."""
    block = aws_headers.spell(headers)
    total = _FRAMING_BYTES + len(block) + len(payload)
    sizes = struct.pack(">II", total, len(block))
    message = sizes + _CHECKSUM.pack(crc32(sizes)) + block + payload
    return message + _CHECKSUM.pack(crc32(message))


def encode_event(payload: bytes, event: str) -> bytes:
    """Spell one event with a JSON payload, with the headers that AWS gives it."""
    headers = {":event-type": event, ":content-type": "application/json", ":message-type": "event"}
    return encode(payload, headers)


def encode_exception(payload: bytes, name: str) -> bytes:
    """Spell one exception, which ends its stream."""
    headers = {
        ":exception-type": name,
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    return encode(payload, headers)


# Where messages begin and end


def borders(body: bytes) -> Iterator[tuple[int, ...]]:
    """Yield the offsets where the parts of each message of `body` meet; the last is its end.

    Told by the lengths alone, whatever the checksums say; stops where they are impossible.
    """
    start = 0
    while start + _PRELUDE.size <= len(body):
        total, headers_size, _ = _PRELUDE.unpack_from(body, start)
        prelude, end = start + _PRELUDE.size, start + total
        if total < _FRAMING_BYTES + headers_size or end > len(body):
            return
        yield start, start + 4, start + 8, prelude, prelude + headers_size, end - 4, end
        start = end
