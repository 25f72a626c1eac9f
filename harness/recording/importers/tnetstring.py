"""Typed netstrings, as mitmproxy writes its flows: `LENGTH:DATA` and a letter for the type.

Bounded in depth and in the number of values; anything else than such strings is refused.
Source: https://tnetstrings.info, and mitmproxy's `;` for text beside `,` for bytes.
"""

from collections.abc import Callable
from typing import Any, Final

MAX_DEPTH: Final = 32
MAX_VALUES: Final = 1_000_000

_MOST_DIGITS = 12
_COLON = b":"


class NotTnetstringError(ValueError):
    """The bytes are no typed netstrings; the text says where."""


def load_all(data: bytes) -> list[Any]:
    """Return the values that stand one after another in `data`.

    Raises:
        NotTnetstringError: they are none, nested too deeply, or too many.
    """
    return _Reader(data).values(0, len(data), 0)


class _Reader:
    """Reads values out of one buffer without copying what it nests."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = MAX_VALUES

    def values(self, at: int, end: int, depth: int) -> list[Any]:
        if depth > MAX_DEPTH:
            raise NotTnetstringError(f"nested more than {MAX_DEPTH} deep at byte {at}")
        found = []
        while at < end:
            start, stop = self._bounds(at, end)
            found.append(self._value(start, stop, depth))
            at = stop + 1
        return found

    def _bounds(self, at: int, end: int) -> tuple[int, int]:
        colon = self._data.find(_COLON, at, at + _MOST_DIGITS + 1)
        digits = self._data[at : max(colon, at)]
        if not digits.isdigit():
            raise NotTnetstringError(f"expected a length at byte {at}")
        stop = colon + 1 + int(digits)
        if stop >= end:
            raise NotTnetstringError(f"expected {int(digits)} bytes and a type at byte {colon + 1}")
        return colon + 1, stop

    def _value(self, start: int, stop: int, depth: int) -> Any:  # noqa: ANN401 - any value of the file
        self._left -= 1
        if self._left < 0:
            raise NotTnetstringError(f"more than {MAX_VALUES} values")
        kind = self._data[stop : stop + 1]
        if kind == b"]":
            return self.values(start, stop, depth + 1)
        if kind == b"}":
            items = self.values(start, stop, depth + 1)
            return {_key(key): value for key, value in zip(items[::2], items[1::2], strict=False)}
        parse = _PLAIN.get(kind)
        if parse is None:
            raise NotTnetstringError(f"unknown type {kind!r} at byte {stop}")
        try:
            return parse(self._data[start:stop])
        except ValueError as error:
            raise NotTnetstringError(f"{error} at byte {start}") from None


def _key(key: object) -> object:
    """Return a key as text; before 2016 keys were bytes."""
    if isinstance(key, bytes):
        return key.decode("utf-8", "replace")
    return key if isinstance(key, str) else ""


def _boolean(data: bytes) -> bool:
    if data not in (b"true", b"false"):
        raise ValueError(f"expected true or false, found {data[:20]!r}")
    return data == b"true"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


_PLAIN: Final[dict[bytes, Callable[[bytes], Any]]] = {
    b",": bytes,
    b";": _text,
    b"#": int,
    b"^": float,
    b"!": _boolean,
    b"~": lambda _: None,
}
