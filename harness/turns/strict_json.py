"""Text -> the one JSON value it is, exactly, or what keeps it from being used.

Integers are exact, floats are doubles, a key may occur once. It must never raise, accept
what RFC 8259 does not, or put infinity in the place of a number.
"""

import json
import math
import re
from decimal import Context, Decimal, InvalidOperation
from typing import Any, NoReturn

import msgspec

from harness.wire.payload import MAX_DEPTH, is_too_deep

# A longer integer is refused: making it costs more than its length.
MAX_DIGITS = 1_000_000

# Python converts this many digits at once wherever its own limit is set.
_DIGITS_AT_ONCE = 640
# Values about which two correct decoders cannot differ; a long integer is a float in one.
_PLAIN = frozenset((str, int, bool, type(None)))
_DECODE_PLAIN = msgspec.json.Decoder().decode
_EXACT = Context(traps=[InvalidOperation])
_TOKEN = re.compile(
    r'("(?:[^"\\]++|\\.)*+")([ \t\n\r]*+:)?|(-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)|[{}]',
)


class Reading(msgspec.Struct, frozen=True):
    """A text that is one JSON value by its syntax.

    Fields:
        value: the value; meaningless where `unusable_number` is set.
        unusable_number: the first number that no double or exact integer holds; "" if none.
        repeats_key: whether some object has one key twice.
        too_deep: whether more than `MAX_DEPTH` brackets are open at once.
    """

    value: Any
    unusable_number: str
    repeats_key: bool
    too_deep: bool


class _Hooks:
    """What the decoder calls back; it remembers what a value cannot show."""

    def __init__(self) -> None:
        self.unusable_number = ""
        self.repeats_key = False

    def read_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.repeats_key = True
        return value

    def read_integer(self, number: str) -> int:
        if len(number) < _DIGITS_AT_ONCE:
            return int(number)
        if len(number.lstrip("-")) > MAX_DIGITS:
            self.unusable_number = self.unusable_number or number
            return 0
        return -_long_integer(number[1:]) if number[0] == "-" else _long_integer(number)

    def read_float(self, number: str) -> float:
        value = float(number)
        if math.isinf(value):
            self.unusable_number = self.unusable_number or number
        return value


def read_json(text: str) -> Reading | None:
    """Return the reading of `text`; None if it is not one strict JSON value.

    None too where this process has no stack left to read it.
    """
    return _read_plain(text) or _read_with_hooks(text)


def _read_plain(text: str) -> Reading | None:
    """Return the reading of a flat object with nothing about it to look at twice.

    So are most arguments, and this takes a tenth of the time. A colon for each key leaves none
    for a key that comes again.
    """
    try:
        value = _DECODE_PLAIN(text)
    except (ValueError, RecursionError):
        return None
    if type(value) is not dict or text.count(":") != len(value):
        return None
    is_plain = _PLAIN.issuperset(map(type, value.values()))
    return Reading(value, "", repeats_key=False, too_deep=False) if is_plain else None


def _read_with_hooks(text: str) -> Reading | None:
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
    too_deep = text.count("[") + text.count("{") > MAX_DEPTH and is_too_deep(value)
    return Reading(value, hooks.unusable_number, hooks.repeats_key, too_deep)


def exact_value(text: str) -> Any:  # noqa: ANN401 -- any JSON value, to be compared only
    """Return the value of strict JSON for comparing, numbers tagged with their kind.

    Source of the difference: `1`, `1.0` and `true` are equal in Python and not in JSON.
    """
    return _EXACT_DECODER.decode(text)


def find_number(text: str, number: str) -> int:
    """Return the offset at which `number` is in the JSON text `text`, outside strings."""
    found = (match.start() for match in _TOKEN.finditer(text) if match[3] == number)
    return next(found, 0)


def find_repeated_key(text: str) -> tuple[str, int]:
    """Return the first key of the JSON text `text` that its object had before, and its offset."""
    open_objects: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        if match[0] == "{":
            open_objects.append(set())
        elif match[0] == "}":
            open_objects.pop()
        elif match[2]:
            key = json.loads(match[1])
            if key in open_objects[-1]:
                return key, match.start()
            open_objects[-1].add(key)
    return "", 0


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _long_integer(digits: str) -> int:
    """Convert digits by halves, which Python's limit of 4,300 digits does not touch."""
    if len(digits) <= _DIGITS_AT_ONCE:
        return int(digits)
    middle = len(digits) // 2
    low = digits[middle:]
    high: int = _long_integer(digits[:middle]) * 10 ** len(low)
    return high + _long_integer(low)


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
