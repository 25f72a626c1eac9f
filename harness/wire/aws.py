"""Decode AWS event-stream messages to frames, however the network split the bytes (sans-IO).

A message is a prelude (total length, headers length, checksum of the two), headers, payload
and a checksum of all bytes before it. The decoder emits a message only if its checksums are
correct. The first damaged message becomes one frame that reports the damage, and decoding ends.

Headers have ten types. The decoder refuses headers whose lengths do not add up, and never reads
past their end. Bedrock's invoke streams put each event of the model's own API into a `chunk`
message, `{"bytes": "<base64>", "p": "<padding>"}`. The decoder passes on the event in it.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_PayloadPart.html
"""

import binascii
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final, TypeAlias
from uuid import UUID
from zlib import crc32

import msgspec

from harness.wire.frames import Frame

HeaderValue: TypeAlias = bool | int | bytes | str | UUID
Headers: TypeAlias = Mapping[str, HeaderValue]

AWS_CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"
# Of a message of less than 16 MiB, as the first one always is.
AWS_FIRST_BYTE: Final = b"\0"
_LENGTH = struct.Struct(">H")
_STRING = 7


class _DamagedError(Exception):
    """Reports bytes that are not a valid message; the text of the exception is the reason."""


class HeaderError(_DamagedError):
    """Reports damaged headers of a message; the text of the exception describes the damage."""


def _signed(data: bytes) -> int:
    return int.from_bytes(data, signed=True)


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# Type -> how many bytes its value has (None: two bytes before it contain the length), and their
# meaning.
_TYPES: Final[dict[int, tuple[int | None, Callable[[bytes], HeaderValue]]]] = {
    0: (0, lambda _: True),
    1: (0, lambda _: False),
    2: (1, _signed),
    3: (2, _signed),
    4: (4, _signed),
    5: (8, _signed),
    6: (None, bytes),
    _STRING: (None, _decode_text),
    8: (8, _signed),  # milliseconds since 1970
    9: (16, lambda data: UUID(bytes=data)),
}


def parse_headers(data: bytes) -> Headers:
    """Return the headers of one message, by name.

    Args:
        data: the headers section of the message, as bytes.

    Raises:
        HeaderError: `data` is damaged, has two headers with one name, or a header of unknown type.
    """
    block = iter(data)
    headers: dict[str, HeaderValue] = {}
    # Each header is: name length (1 byte), name, type (1 byte), value.
    for size in block:
        name = _decode_text(_take(block, size, "a header name"))
        if name in headers:
            raise HeaderError(f"header {name!r} occurs twice")
        headers[name] = _header_value(block, name)
    return headers


def _header_value(block: Iterator[int], name: str) -> HeaderValue:
    what = f"header {name!r}"
    kind = _take(block, 1, "a header type")[0]
    if kind not in _TYPES:
        raise HeaderError(f"{what} has type {kind}, expected 0 to 9")
    size, read = _TYPES[kind]
    # Texts and bytes state their length in two bytes before the value.
    if size is None:
        (size,) = _LENGTH.unpack(_take(block, _LENGTH.size, f"the length of {what}"))
    return read(_take(block, size, what))


def _take(block: Iterator[int], size: int, what: str) -> bytes:
    """Return the next `size` bytes of `block`.

    Raises:
        HeaderError: `block` has fewer bytes left. `what` names the missing part in the message.
    """
    taken = bytes(islice(block, size))
    if len(taken) < size:
        raise HeaderError(f"expected {size} bytes of {what}, found {len(taken)}")
    return taken


def encode_headers(headers: Mapping[str, str]) -> bytes:
    """Return the headers section of a message, with all headers as text; see `parse_headers`."""
    pieces = []
    for name, value in headers.items():
        key, text = name.encode(), value.encode("utf-8", "replace")
        pieces += [bytes((len(key),)), key, bytes((_STRING,)), _LENGTH.pack(len(text)), text]
    return b"".join(pieces)


class _PayloadPart(msgspec.Struct, gc=False):
    bytes: str


_DECODE = msgspec.json.Decoder(_PayloadPart).decode


def unwrap_chunk(payload: bytes) -> bytes | None:
    """Return the event in the `payload` of a `chunk` message; None if it contains none."""
    try:
        # `p` is padding that hides the length of an event; it has no meaning.
        return binascii.a2b_base64(_DECODE(payload).bytes, strict_mode=True)
    except (ValueError, RecursionError):
        return None


def wrap_chunk(event: bytes, padding: str = "abcdefghijk") -> bytes:
    """Return the payload of a `chunk` message with `event`, and padding as Bedrock adds it."""
    text = binascii.b2a_base64(event, newline=False).decode()
    return msgspec.json.encode({"bytes": text, "p": padding})


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
    """Decodes the AWS messages of one response body to frames.

    Args:
        offset: the offset in the body of the first byte that `feed` gets.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset  # of what is kept
        self._pieces: list[bytes] = []
        self._size = 0
        self._wanted = _PRELUDE.size  # so many bytes are needed for progress
        self._damaged = False

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames of the messages that `data` completes; none after a damaged message."""
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
        """Return an incomplete message at the end of the body as one frame; [] if there is none.

        The frame contains its bytes unchanged. They begin with the prelude, so they are never a
        valid
        payload.
        """
        if self._damaged or not self._size:
            return []
        return [Frame(b"".join(self._pieces), "", self._offset, complete=False)]

    def _take(self, block: bytes, found: list[Frame]) -> int:
        """Append a frame to `found` for each complete message in `block`; return their end."""
        at, size = 0, len(block)
        self._wanted = _PRELUDE.size
        while size - at >= _PRELUDE.size:
            total, headers_size, prelude = _PRELUDE.unpack_from(block, at)
            # The prelude has a separate checksum, so a wrong length is found before it is used.
            if (seen := crc32(block[at : at + _SIZES_BYTES])) != prelude:
                raise _DamagedError(_mismatch("prelude", prelude, seen))
            payload_size = total - headers_size - _FRAMING_BYTES
            # The limits of the AWS format. A wrong length must not make the decoder wait.
            if headers_size > MAX_HEADERS_BYTES or not 0 <= payload_size <= MAX_PAYLOAD_BYTES:
                raise _DamagedError(_impossible(total, headers_size))
            end = at + total
            if end > size:
                self._wanted = total
                break
            payload_end = end - _CHECKSUM.size
            (checksum,) = _CHECKSUM.unpack_from(block, payload_end)
            # The checksum of the message continues that of the prelude, over all bytes before it.
            if (seen := crc32(block[at + _SIZES_BYTES : payload_end], prelude)) != checksum:
                raise _DamagedError(_mismatch("message", checksum, seen))
            start = at + _PRELUDE.size + headers_size
            meaning, payload = _meaning(block[at + _PRELUDE.size : start]), block[start:payload_end]
            offset = self._offset + start - at
            is_plain = not meaning.failure and meaning.name != _CHUNK
            found.append(
                Frame(payload, meaning.name, offset)
                if is_plain
                else _frame(payload, meaning, offset)
            )
            self._offset += total
            at = end
        return at


def _mismatch(what: str, expected: int, found: int) -> str:
    return f"expected a {what} with checksum {expected:08x}, found {found:08x}"


def _impossible(total: int, headers_size: int) -> str:
    return f"expected a message, found one of {total} bytes with {headers_size} of headers"


def _frame(payload: bytes, meaning: "_Meaning", offset: int) -> Frame:
    """Return the frame of a failure, or of an event that a `chunk` message contains."""
    if failure := meaning.failure:
        data = payload or meaning.words
        return Frame(data, failure, offset, complete=False, failure=failure)
    inner = unwrap_chunk(payload) if meaning.name == _CHUNK else None
    return Frame(payload, meaning.name, offset) if inner is None else Frame(inner, "", offset)


class _Meaning(msgspec.Struct, frozen=True):
    """Holds what the headers of one message mean.

    Fields:
        name: the name of the event; "" for a failure.
        failure: the error code if the message reports a failure; else "".
        words: the text of the failure; empty for an event.
    """

    name: str = ""
    failure: str = ""
    words: bytes = b""


# The headers of one stream are a few, each of them many times: they are read once.
@lru_cache(maxsize=64)
def _meaning(block: bytes) -> _Meaning:
    headers = parse_headers(block)
    kind = _text_header(headers, ":message-type")
    # AWS reports a failure in the headers of a message, after the status 200 was sent.
    if kind not in _FAILURES:
        return _Meaning(_text_header(headers, ":event-type"))
    code, words = (_text_header(headers, header) for header in _FAILURES[kind])
    return _Meaning(failure=code or kind, words=words.encode())


def _text_header(headers: Headers, name: str) -> str:
    value = headers.get(name)
    return value if isinstance(value, str) else ""


# The way back

_JSON: Final = {":content-type": "application/json"}


def encode_message(payload: bytes, headers: Mapping[str, str]) -> bytes:
    """Return the bytes of one message with text headers and correct checksums."""
    block = encode_headers(headers)
    total = _FRAMING_BYTES + len(block) + len(payload)
    sizes = struct.pack(">II", total, len(block))
    message = sizes + _CHECKSUM.pack(crc32(sizes)) + block + payload
    return message + _CHECKSUM.pack(crc32(message))


def encode_event(payload: bytes, event: str) -> bytes:
    """Return the bytes of a message for the event named `event` with a JSON payload."""
    return encode_message(payload, {":event-type": event, **_JSON, ":message-type": "event"})


def encode_exception(payload: bytes, name: str) -> bytes:
    """Return the bytes of a message for an AWS exception called `name`, which ends its stream."""
    headers = {":exception-type": name, **_JSON, ":message-type": "exception"}
    return encode_message(payload, headers)


# Where messages begin and end


def borders(body: bytes) -> Iterator[tuple[int, ...]]:
    """Yield, for each message of `body`, the offsets of its parts and of its end.

    The function uses only the lengths in the messages, and ignores wrong checksums. It stops at a
    length that is impossible.
    """
    start = 0
    while start + _PRELUDE.size <= len(body):
        total, headers_size, _ = _PRELUDE.unpack_from(body, start)
        prelude, end = start + _PRELUDE.size, start + total
        if total < _FRAMING_BYTES + headers_size or end > len(body):
            return
        # Start, headers length, prelude checksum, headers, payload, message checksum, end.
        yield start, start + 4, start + 8, prelude, prelude + headers_size, end - 4, end
        start = end
