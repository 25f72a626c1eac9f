"""Read a text as exactly one JSON value, or find the reason why its value is not usable.

Integers are exact, floats are doubles, and a key may occur once. The functions never raise, never
accept a text that RFC 8259 does not allow, and never return infinity for a number.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation
from typing import Any, NoReturn, TypeVar

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES, is_too_deep

# Python reads no longer integer, unless its limit is set, because the time grows with its square.
MAX_DIGITS = sys.int_info.default_max_str_digits

N = TypeVar("N", int, float)

_EXACT = Context(traps=[InvalidOperation])


class Reading(msgspec.Struct, frozen=True):
    """The value of a text whose syntax is one JSON value, and what makes the value unusable.

    Fields:
        value: the value; meaningless if there is an `unusable_number`.
        unusable_number: the first number that is too large for a double or an exact integer; "" if
            none.
        repeated_key: a key that one object of the text has twice; None if none.
        too_deep: whether more than `MAX_DEPTH` brackets are open at once.
    """

    value: Any
    unusable_number: str
    repeated_key: str | None
    too_deep: bool

    @property
    def is_usable(self) -> bool:
        """Whether `value` is exactly the value of the text, with no problem in the other fields."""
        return not (self.unusable_number or self.too_deep) and self.repeated_key is None


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError(pairs)
    return value


def _read_integer(number: str) -> int:
    if len(number) > MAX_DIGITS:
        raise ValueError(number)
    return int(number)


def _read_float(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value


class _Hooks:
    """Callbacks for `json.JSONDecoder` that note unusable numbers and repeated keys."""

    def __init__(self) -> None:
        self.unusable_number = ""
        self.repeated_key: str | None = None

    def read_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        try:
            return _read_object(pairs)
        except ValueError:
            if self.repeated_key is None:
                counts = Counter(key for key, _ in pairs)
                self.repeated_key = next(key for key, count in counts.items() if count > 1)
        return dict(pairs)

    def read_integer(self, number: str) -> int:
        return self._read(_read_integer, number)

    def read_float(self, number: str) -> float:
        return self._read(_read_float, number)

    def _read(self, read: Callable[[str], N], number: str) -> N:
        try:
            return read(number)
        except ValueError:
            self.unusable_number = self.unusable_number or number
            return read("0")


def read_json(text: str) -> Reading | None:
    """Return the value of `text` and what makes it unusable; None if it is not strict JSON.

    The result is also None if this process has not enough stack to read the text.
    """
    try:
        value = _USUAL_DECODER.decode(text)
    except (ValueError, RecursionError):
        return _read_unusual(text)
    return Reading(value, "", None, _is_too_deep(text, value))


def _read_unusual(text: str) -> Reading | None:
    """Read a text that is not JSON, or has an unusable number or a repeated key."""
    hooks = _Hooks()
    decoder = json.JSONDecoder(
        object_pairs_hook=hooks.read_object,
        parse_int=hooks.read_integer,
        parse_float=hooks.read_float,
        parse_constant=_refuse_constant,
    )
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError):
        return None
    return Reading(value, hooks.unusable_number, hooks.repeated_key, _is_too_deep(text, value))


def _is_too_deep(text: str, value: object) -> bool:
    return len(text) > NEVER_DEEP_BYTES and is_too_deep(value)


def exact_value(text: str) -> Any:  # noqa: ANN401 -- any JSON value, to be compared only
    """Return the value of strict JSON text, only for comparisons, with numbers as tagged pairs.

    In Python, `1`, `1.0` and `true` are equal; in JSON they are not.
    """
    return _EXACT_DECODER.decode(text)


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


# Made once, since to make a decoder takes as long as to read short arguments.
_USUAL_DECODER = json.JSONDecoder(
    object_pairs_hook=_read_object,
    parse_int=_read_integer,
    parse_float=_read_float,
    parse_constant=_refuse_constant,
)


def _exact_integer(number: str) -> tuple[str, str]:
    return "integer", "0" if number == "-0" else number


def _exact_float(number: str) -> tuple[str, Decimal | str]:
    try:
        return "float", Decimal(number, _EXACT)
    except InvalidOperation:  # an exponent that Decimal cannot hold
        return "float", number


_EXACT_DECODER = json.JSONDecoder(
    parse_int=_exact_integer,
    parse_float=_exact_float,
    parse_constant=_refuse_constant,
)
