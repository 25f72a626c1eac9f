"""AWS event-stream messages, sans-IO: bytes in as the network cuts them, frames out.

A message is a prelude (total length, headers length, checksum of the two), headers, payload
and a checksum of all before it. Nothing is handed on whose checksums were not seen to be
right: the first damaged message becomes one frame that says so, and the framing ends there.
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final
from zlib import crc32

import msgspec

from harness.wire import aws_headers
from harness.wire.aws_headers import HeaderError, Headers
from harness.wire.bedrock_chunk import unwrapped
from harness.wire.frames import Frame

MAX_HEADERS_BYTES: Final = 128 * 1024
MAX_PAYLOAD_BYTES: Final = 24 * 1024 * 1024

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_SIZES_BYTES = _PRELUDE.size - _CHECKSUM.size
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
        self._offset = offset  # of what is kept
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = _PRELUDE.size  # so many bytes say something new
        self._damaged = False

    def feed(self, data: bytes) -> list[Frame]:
        """Return the messages that `data` completes; after a damaged one there is none."""
        if self._damaged:
            return []
        self._pieces.append(data)
        self._size += len(data)
        if self._size < self._wanted:
            return []
        block = data if len(self._pieces) == 1 else b"".join(self._pieces)
        found: list[Frame] = []
        try:
            done = self._take(block, found)
        except _DamagedError as error:
            self._damaged = True
            words = f"byte {self._offset}: {error}".encode()
            found.append(Frame(words, "", self._offset, complete=False, failure="bad_event"))
            done = len(block)
        self._pieces = [block[done:]] if done < len(block) else []
        self._size = len(block) - done
        return found

    def close(self) -> list[Frame]:
        """Return the message that the end of the body cut short, if there is one.

        Its bytes are handed on as they are, prelude first, which is never a payload.
        """
        if self._damaged or not self._size:
            return []
        return [Frame(b"".join(self._pieces), "", self._offset, complete=False)]

    def _take(self, block: bytes, found: list[Frame]) -> int:
        """Take the messages at the start of `block`; return where they end."""
        at, size = 0, len(block)
        self._wanted = _PRELUDE.size
        while size - at >= _PRELUDE.size:
            total, headers_size, prelude = _PRELUDE.unpack_from(block, at)
            if (seen := crc32(block[at : at + _SIZES_BYTES])) != prelude:
                raise _DamagedError(_mismatch("prelude", prelude, seen))
            payload_size = total - headers_size - _FRAMING_BYTES
            if headers_size > MAX_HEADERS_BYTES or not 0 <= payload_size <= MAX_PAYLOAD_BYTES:
                raise _DamagedError(_impossible(total, headers_size))
            end = at + total
            if end > size:
                self._wanted = total
                break
            payload_end = end - _CHECKSUM.size
            (checksum,) = _CHECKSUM.unpack_from(block, payload_end)
            if (seen := crc32(block[at + _SIZES_BYTES : payload_end], prelude)) != checksum:
                raise _DamagedError(_mismatch("message", checksum, seen))
            start = at + _PRELUDE.size + headers_size
            meaning = _meaning(block[at + _PRELUDE.size : start])
            payload, offset = block[start:payload_end], self._offset + start - at
            if meaning.is_plain:
                found.append(Frame(payload, meaning.name, offset))
            else:
                found.append(_odd_frame(payload, meaning, offset))
            self._offset += total
            at = end
        return at


class _DamagedError(Exception):
    """The bytes at hand are no message; the text says why."""


def _mismatch(what: str, expected: int, found: int) -> str:
    return f"expected a {what} with checksum {expected:08x}, found {found:08x}"


def _impossible(total: int, headers_size: int) -> str:
    return f"expected a message, found one of {total} bytes with {headers_size} of headers"


def _odd_frame(payload: bytes, meaning: "_Meaning", offset: int) -> Frame:
    """Return the frame of a failure, or of a payload that is wrapped in another."""
    failure = meaning.failure
    if failure:
        data = payload or meaning.words
        return Frame(data, failure, offset, complete=False, failure=failure)
    inner = unwrapped(payload)
    return Frame(payload, meaning.name, offset) if inner is None else Frame(inner, "", offset)


class _Meaning(msgspec.Struct, frozen=True):
    """What the headers of a message say.

    Fields:
        name: of the event.
        failure: the code of a failure; "" where it is none.
        words: of the failure.
        is_plain: the payload is the event.
    """

    name: str = ""
    failure: str = ""
    words: bytes = b""
    is_plain: bool = False


# The headers of one stream are a few, each of them many times: they are read once.
@lru_cache(maxsize=64)
def _meaning(block: bytes) -> _Meaning:
    try:
        headers = aws_headers.parse(block)
    except HeaderError as error:
        raise _DamagedError(str(error)) from None
    kind = _text(headers, ":message-type")
    if kind not in _FAILURES:
        name = _text(headers, ":event-type")
        return _Meaning(name, is_plain=name != _CHUNK)
    code, words = (_text(headers, header) for header in _FAILURES[kind])
    return _Meaning(failure=code or kind, words=words.encode())


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
