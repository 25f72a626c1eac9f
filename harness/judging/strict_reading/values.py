"""JSON text -> values, strictly: what RFC 8259 does not allow is no value here.

Nothing is repaired. A text that only a limit of this parser keeps from being read is said
to be uncertain, which is not the same as wrong.
"""

import json
from typing import Any, NoReturn

import msgspec

UNREADABLE = object()


class _RepeatedKeyError(ValueError):
    """An object names a key twice, so two readers may see two values."""


class Arguments(msgspec.Struct, frozen=True):
    """What the argument text of a call is worth.

    Fields:
        value: the object; None where the text is no usable object.
        empty: there is no text, or only white space.
        certain: False where the text passes a limit of the parser (depth, digits) or holds
            half of a surrogate pair, so that other correct readers may differ.
    """

    value: dict[str, Any] | None
    empty: bool = False
    certain: bool = True


def event_value(text: str) -> object:
    """Return the JSON value of an event's data; `UNREADABLE` where it is none."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return UNREADABLE


def read_arguments(text: str) -> Arguments:
    """Return what `text`, the whole arguments of one call, is worth."""
    if not text.strip(" \t\r\n"):
        return Arguments(None, empty=True)
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_once)
        # A lone surrogate cannot be encoded, an infinite number (1e999) is no JSON.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (json.JSONDecodeError, _RepeatedKeyError):
        return Arguments(None)
    except (ValueError, RecursionError):
        return Arguments(None, certain=False)
    return Arguments(value if isinstance(value, dict) else None)


def same_object(first: str, second: str) -> bool:
    """Return whether both texts are JSON objects of equal value."""
    left, right = read_arguments(first).value, read_arguments(second).value
    return left is not None and left == right


def _refuse_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON", name, 0)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RepeatedKeyError("a key is given twice")
    return value
