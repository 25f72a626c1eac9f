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
            total, headers_size, checksum = _PRELUDE.unpack_from(block, at)
            _check_prelude(block[at : at + _SIZES_BYTES], total, headers_size, checksum)
            end = at + total
            if end > size:
                self._wanted = total
                break
            _check_message(block[at + _SIZES_BYTES : end], checksum)
            found.append(_frame(block, at, headers_size, end, self._offset))
            self._offset += total
            at = end
        return at


class _DamagedError(Exception):
    """The bytes at hand are no message; the text says why."""


def _check_prelude(sizes: bytes, total: int, headers_size: int, checksum: int) -> None:
    if crc32(sizes) != checksum:
        raise _DamagedError(
            f"expected a prelude with checksum {checksum:08x}, found {crc32(sizes):08x}"
        )
    payload_size = total - headers_size - _FRAMING_BYTES
    if headers_size > MAX_HEADERS_BYTES or not 0 <= payload_size <= MAX_PAYLOAD_BYTES:
        raise _DamagedError(
            f"expected a message, found one of {total} bytes with {headers_size} of headers"
        )


def _check_message(rest: bytes, prelude: int) -> None:
    """Check what follows the sizes of a message; `prelude` is the checksum of these."""
    found = crc32(rest[:-4], prelude)
    (checksum,) = _CHECKSUM.unpack(rest[-4:])
    if found != checksum:
        raise _DamagedError(f"expected a message with checksum {checksum:08x}, found {found:08x}")


def _frame(block: bytes, at: int, headers_size: int, end: int, offset: int) -> Frame:
    start = at + _PRELUDE.size
    headers = block[start : start + headers_size]
    payload = block[start + headers_size : end - _CHECKSUM.size]
    offset += _PRELUDE.size + headers_size
    failure, name, words = _meaning(headers)
    if failure:
        return Frame(payload or words, failure, offset, complete=False, failure=failure)
    if name == _CHUNK and (inner := unwrapped(payload)) is not None:
        return Frame(inner, "", offset)
    return Frame(payload, name, offset)


# The headers of one stream are a few, each of them many times: they are read once.
@lru_cache(maxsize=64)
def _meaning(block: bytes) -> tuple[str, str, bytes]:
    """Return what headers say: the code of a failure, the name of an event, words of an error."""
    try:
        headers = aws_headers.parse(block)
    except HeaderError as error:
        raise _DamagedError(str(error)) from None
    kind = _text(headers, ":message-type")
    if kind not in _FAILURES:
        return "", _text(headers, ":event-type"), b""
    code, words = (_text(headers, header) for header in _FAILURES[kind])
    return code or kind, "", words.encode()


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
