"""Decode JSON text to values from which exactly the same text can be written again.

Some servers send `arguments` as an object instead of a string (quirk ARGS-OBJECT). Ordinary
decoding and encoding drop the first of two equal keys and the digits that a double cannot
represent. That changes the arguments of an executed call. This module preserves keys and digits.
"""

import json
import re
from json.encoder import encode_basestring
from typing import Any, Self


class _Pairs(dict[str, Any]):
    """A JSON object in which a key occurs twice. `pairs` stores all its members."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _Number(float):
    """A float that also stores the digits from which it was read."""

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
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_exactly(data: bytes) -> object:
    """Return the JSON value of `data`, which `write_exactly` can write again without changes.

    Raises:
        ValueError: `data` is not JSON, or contains an integer with too many digits.
    """
    return _DECODE(data.decode("utf-8", "replace").removeprefix("\ufeff"))


def write_exactly(value: object) -> str:
    """Return the JSON text of a value from `decode_exactly`, or of a value that contains one."""
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
    """Return `text` as a JSON string, in which half a surrogate pair is an escape."""
    written = encode_basestring(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", written)
    return written


def encode_json(value: object) -> bytes:
    """Return `value` as JSON in UTF-8, or in ASCII with escapes if it has half a surrogate pair."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def join_surrogates(text: str) -> str:
    """Return `text` with surrogate pairs joined to one character, and single halves as U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def squeezed(text: str) -> str:
    """Return `text` without white space and with surrogates joined.

    A client may change white space between the parts of a text.
    """
    return "".join(join_surrogates(text).split())


def encodable(value: object) -> object:
    """Return a copy of `value` in which `join_surrogates` was applied to each text."""
    match value:
        case str():
            return join_surrogates(value)
        case dict():
            return {encodable(key): encodable(item) for key, item in value.items()}
        case list() | tuple():
            return [encodable(item) for item in value]
        case _:
            return value
