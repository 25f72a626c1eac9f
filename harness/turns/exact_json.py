"""JSON text -> values that can be written again exactly as they were spelt.

Some servers send `arguments` as an object instead of a string (quirk ARGS-OBJECT). Decoding
and encoding it would drop the first of two equal keys and the digits that a double cannot
hold, and so change what is executed; here every key and number keeps its spelling.
"""

import json
from typing import Any, Self


class _Pairs(dict[str, Any]):
    """An object that remembers all its members, also those whose key comes again."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _Number(float):
    """A number that remembers its digits."""

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def decode_exactly(data: bytes) -> object:
    """Return the JSON value of `data`, whose objects and numbers `written` can spell again.

    Raises:
        ValueError: it is no JSON, or holds an integer too long to be read.
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return json.loads(text, object_pairs_hook=_Pairs, parse_float=_Number)


def written(value: object) -> str:
    """Return the JSON text of a value that `decode_exactly` gave, or that holds such values."""
    match value:
        case _Pairs():
            members = (f"{written(key)}: {written(member)}" for key, member in value.pairs)
            return "{" + ", ".join(members) + "}"
        case dict():
            members = (f"{written(key)}: {written(member)}" for key, member in value.items())
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case _Number():
            return value.text
        case str():
            return _string(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _string(text: str) -> str:
    """Return a string as JSON; half a surrogate pair can only be spelt as its escape."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)
