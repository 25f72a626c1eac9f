"""Parse the arguments of a call: return the class of the text, and its value if it has one.

Only an object has a value, and an empty text, which means `{}`. For every other class the value
is None, and a sentence says what was found, what was expected and where. The functions repair,
evaluate and guess nothing. They never raise, whatever the text. Time is linear in its length.
Source: quirks ARGS-* of the catalogue; RFC 8259.
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Final

import msgspec

from harness.turns.argument_errors import ArgumentClass, explain
from harness.turns.exact_json import join_surrogates
from harness.turns.strict_json import exact_value, read_json


class ParsedArguments(msgspec.Struct, frozen=True):
    """The result of parsing an argument text.

    Fields:
        kind: the class of the text.
        value: the arguments if `kind` is OBJECT, `{}` if it is EMPTY, else None.
        error: why the text has no value, in one sentence with offsets in characters; "" if
            it has one.
    """

    kind: ArgumentClass
    value: dict[str, Any] | None
    error: str


def parse(text: str) -> ParsedArguments:
    """Return the class of an argument text, and its value or the reason why it has none."""
    if not text.strip():
        return ParsedArguments(ArgumentClass.EMPTY, {}, "")
    reading = read_json(text)
    if reading is not None and reading.is_usable and isinstance(reading.value, dict):
        return ParsedArguments(ArgumentClass.OBJECT, reading.value, "")
    kind, error = explain(text)
    return ParsedArguments(kind, None, error)


def is_json_value(text: str) -> bool:
    """Return whether `text` is one JSON value that can be used, such as an array or a string."""
    reading = read_json(text)
    return reading is not None and reading.is_usable


def same_value(a: str, b: str) -> bool:
    """Return whether two argument texts mean the same.

    An empty text means `{}`, the order of keys does not matter and numbers are compared exactly:
    `1.0` is `1.00`, but `1`, `1.0` and `true` are three values. Half of a surrogate pair is
    U+FFFD, as in a turn. A text that is not one JSON value, or repeats a key, equals only itself.
    """
    if a == b:
        return True
    try:
        return meaning(a) == meaning(b)
    except RecursionError:  # no stack left to compare: two texts, so not known to be the same
        return False


# A judged conversation compares the same few arguments many times.
_KEPT_CHARACTERS: Final = 1000


def meaning(text: str) -> Hashable:
    """Return a hashable value that is equal for two argument texts with the same meaning.

    The value is the JSON value in a tuple, or the text itself if it is not usable JSON.
    """
    try:
        return _kept_meaning(text) if len(text) <= _KEPT_CHARACTERS else _meaning(text)
    except RecursionError:  # no stack left to read it: known to mean only itself
        return text


def _meaning(text: str) -> Hashable:
    if not text.strip():
        return (frozenset(),)
    return (_hashable(exact_value(text)),) if is_json_value(text) else text


_kept_meaning = lru_cache(maxsize=512)(_meaning)


def _hashable(value: Any) -> Hashable:  # noqa: ANN401 -- any exact JSON value
    if isinstance(value, dict):
        return frozenset((join_surrogates(key), _hashable(inner)) for key, inner in value.items())
    if isinstance(value, list):
        # Marked, because an exact number is a pair too.
        return ("array", *map(_hashable, value))
    if isinstance(value, str):
        return join_surrogates(value)
    return value  # type: ignore[no-any-return]  # a number's pair, true, false or null
