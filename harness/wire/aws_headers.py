"""The headers of one AWS event-stream message: a block of bytes -> names and values.

All ten types that the format knows, each read within the block; a block that does not add up
is refused, never read past its end.
Source: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
"""

import struct
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias
from uuid import UUID

HeaderValue: TypeAlias = bool | int | bytes | str | UUID
Headers: TypeAlias = Mapping[str, HeaderValue]

_LENGTH = struct.Struct(">H")
_STRING = 7


class HeaderError(Exception):
    """The block is damaged; the text says how."""


def _signed(data: bytes) -> int:
    return int.from_bytes(data, signed=True)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _uuid(data: bytes) -> UUID:
    return UUID(bytes=data)


# Type -> how many bytes its value has (None: two bytes before it say so), and what they mean.
_TYPES: Final[dict[int, tuple[int | None, Callable[[bytes], HeaderValue]]]] = {
    0: (0, lambda _: True),
    1: (0, lambda _: False),
    2: (1, _signed),
    3: (2, _signed),
    4: (4, _signed),
    5: (8, _signed),
    6: (None, bytes),
    _STRING: (None, _text),
    8: (8, _signed),  # milliseconds since 1970
    9: (16, _uuid),
}


class _Block:
    """Takes bytes from the front of a block."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int, what: str) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise HeaderError(
                f"expected {size} bytes of {what}, found {len(self._data) - self._at}"
            )
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def take_sized(self, what: str) -> bytes:
        (size,) = _LENGTH.unpack(self.take(2, f"the length of {what}"))
        return self.take(size, what)


def parse(data: bytes) -> Headers:
    """Return the headers that a block spells.

    Raises:
        HeaderError: it is damaged, names a header twice, or has a type that is none.
    """
    block = _Block(data)
    headers: dict[str, HeaderValue] = {}
    while block:
        name = _text(block.take(block.take(1, "a name's length")[0], "a header name"))
        if name in headers:
            raise HeaderError(f"header {name!r} occurs twice")
        headers[name] = _value(block, name)
    return headers


def _value(block: _Block, name: str) -> HeaderValue:
    kind = block.take(1, "a header type")[0]
    if kind not in _TYPES:
        raise HeaderError(f"header {name!r} has type {kind}, expected 0 to 9")
    size, read = _TYPES[kind]
    what = f"header {name!r}"
    return read(block.take_sized(what) if size is None else block.take(size, what))


def spell(headers: Mapping[str, str]) -> bytes:
    """Return the block that `parse` reads back as `headers`, all of them text."""
    pieces = []
    for name, value in headers.items():
        key, text = name.encode(), value.encode("utf-8", "replace")
        pieces += [bytes((len(key),)), key, bytes((_STRING,)), _LENGTH.pack(len(text)), text]
    return b"".join(pieces)
