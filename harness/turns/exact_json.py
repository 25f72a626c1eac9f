"""JSON text -> values from which exactly the same text can be written again.

Some servers send `arguments` as an object instead of a string (quirk ARGS-OBJECT). Ordinary
decoding and encoding would drop the first of two equal keys and the digits that a double cannot
represent, and so change the arguments of an executed call. Here every key and number is preserved.
"""

import json
import re
from json.encoder import encode_basestring
from typing import Any, Self


class _Pairs(dict[str, Any]):
    """An object with a repeated key; it stores all its members."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _Number(float):
    """A number that stores its digits."""

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Pairs(pairs)


# Made once: `json.loads` and `json.dumps` make a new one for each call with options.
_DECODE = json.JSONDecoder(object_pairs_hook=_object, parse_float=_Number).decode
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def decode_exactly(data: bytes) -> object:
    """Return the JSON value of `data`, whose objects and numbers `write_exactly` can write again.

    Raises:
        ValueError: it is not JSON, or contains an integer that is too long.
    """
    return _DECODE(data.decode("utf-8", "replace").removeprefix("\ufeff"))


def write_exactly(value: object) -> str:
    """Return the JSON text of a value that `decode_exactly` gave, or that holds such values."""
    match value:
        case str():
            return _write_string(value)
        case dict():
            pairs = value.pairs if isinstance(value, _Pairs) else value.items()
            members = (f"{_write_string(key)}: {write_exactly(each)}" for key, each in pairs)
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(map(write_exactly, value)) + "]"
        case _Number():
            return value.text
        case _:
            return _ENCODE(value)


def _write_string(text: str) -> str:
    """Return a string as JSON; half a surrogate pair can only be written as its escape."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(text)
    return encode_basestring(text)


def encode_json(value: object) -> bytes:
    """Return the JSON of `value`; half a surrogate pair can only be escaped."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


_SURROGATE = re.compile("[\ud800-\udfff]")


def join_surrogates(text: str) -> str:
    """Return `text` with pairs joined and lone halves replaced by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encodable(value: object) -> object:
    """Return `value`, of built-in types, with surrogates joined in each of its texts."""
    match value:
        case str():
            return join_surrogates(value)
        case dict():
            return {encodable(key): encodable(item) for key, item in value.items()}
        case list() | tuple():
            return [encodable(item) for item in value]
        case _:
            return value
