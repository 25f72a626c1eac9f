"""Read JSON values strictly, for oracles: members as received, arguments, errors of providers.

A text that RFC 8259 does not allow has no value here, and nothing is repaired. A text that is
unreadable only because of a limit of this parser is uncertain, and not wrong.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn, TypeGuard

import msgspec

from harness.turns.deltas import FinishReason
from harness.turns.exact_json import join_surrogates

_CODE_FIELDS = ("code", "error_code", "type", "error_type")
_MESSAGE_FIELDS = ("message", "error_message")
_DIGITS_OF_STATUS = len("404")


def error_of(chunk: dict[str, Any], event: str = "") -> tuple[str, str] | None:
    """Return code and message of the error in a decoded event; None if it has none.

    Args:
        chunk: a decoded event.
        event: the event's name.
    """
    error = chunk.get("error")
    if isinstance(error, dict) and error:
        return code_of(error), _first_text(error, _MESSAGE_FIELDS)
    if isinstance(error, str) and error:
        return _first_text(chunk, ("code", "error_code")), join_surrogates(error)
    flat = chunk.get("error_message") or chunk.get("error_type")
    named = event == "error" or chunk.get("object") == "error" or chunk.get("type") == "error"
    if flat or named:
        return code_of(chunk), _first_text(chunk, _MESSAGE_FIELDS)
    return None


def code_of(error: dict[str, Any]) -> str:
    """Return the code of an error; "" if it has none.

    Mistral's and other providers' own numbers, such as 1300, say less than the type next to them.
    """
    codes = [code for field in _CODE_FIELDS if (code := _first_text(error, (field,)))]
    words = (code for code in codes if not code.isdigit() or len(code) == _DIGITS_OF_STATUS)
    return next(words, codes[0] if codes else "")


def _first_text(holder: dict[str, Any], fields: tuple[str, ...]) -> str:
    """Return the first of the members `fields` that is text or a number, as text; "" if none."""
    values = (holder.get(field) for field in fields)
    usable = (value for value in values if isinstance(value, str | int) and value != "")
    return join_surrogates(_format_code(next(usable, "")))


def _format_code(value: str | int) -> str:
    # Python refuses to write an integer of thousands of digits, and no code has so many.
    return value if isinstance(value, str) else f"{value:x}" if abs(value) >> 64 else str(value)


UNREADABLE = object()


class _RepeatedKeyError(ValueError):
    """An object has a key twice, so that two readers may see two values."""


class Arguments(msgspec.Struct, frozen=True):
    """The value of the argument text of a call, as the oracle reads it.

    Fields:
        value: the object; None if the text is not a usable object.
        empty: there is no text, or only white space.
        is_json: the text is one JSON value of any type.
        certain: False if the text exceeds a limit of the parser (depth, digits) or contains
            half of a surrogate pair, so that other correct readers may differ.
    """

    value: dict[str, Any] | None
    empty: bool = False
    is_json: bool = False
    certain: bool = True


def text_or_empty(value: object) -> str:
    """Return `value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def meanings(**words: tuple[str, ...]) -> dict[str, FinishReason]:
    """Return the meaning of each finish word, given the words for each finish reason."""
    return {word: FinishReason(reason) for reason, own in words.items() for word in own}


def dict_or_empty(value: object) -> dict[str, Any]:
    """Return `value` if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def is_index(value: object) -> TypeGuard[int]:
    """Return whether `value` is an integer. JSON's true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def event_value(text: str) -> object:
    """Return the JSON value of an event's data; `UNREADABLE` if it is not JSON."""
    try:
        return _decode_event(text)
    except (ValueError, RecursionError):
        return UNREADABLE


def read_arguments(text: str) -> Arguments:
    """Parse `text`, the complete arguments of one call."""
    if not text.strip(" \t\r\n"):
        return Arguments(None, empty=True)
    try:
        value = json.loads(
            text, parse_constant=_reject_constant, object_pairs_hook=_reject_duplicate_keys
        )
        # A lone surrogate cannot be encoded, an infinite number (1e999) is not JSON.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (json.JSONDecodeError, _RepeatedKeyError):
        return Arguments(None)
    except (ValueError, RecursionError):
        return Arguments(None, certain=False)
    return Arguments(value if isinstance(value, dict) else None, is_json=True)


def same_object(first: str, second: str) -> bool:
    """Return whether both texts are JSON objects of equal value."""
    left, right = read_arguments(first).value, read_arguments(second).value
    return left is not None and left == right


def _reject_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)


# `json.loads` would make a decoder for each event.
_decode_event: Final = json.JSONDecoder(parse_constant=_reject_constant).decode


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RepeatedKeyError("a key is given twice")
    return value


_DECODE = json.JSONDecoder().raw_decode
_SPACE = " \t\r\n"


def member_text(text: str, *path: str | int) -> str:
    """Return the JSON text of the member at `path`, keys and indexes; "" if there is none."""
    for step in path:
        found = ""
        for key, value in _members(text):
            if key == step:
                found = value  # the last of several, as decoders have it
        text = found
    return text


def item_texts(text: str) -> tuple[str, ...]:
    """Return the texts of the items of a list, or of the members of an object."""
    return tuple(found for _, found in _members(text))


def _members(text: str) -> Iterator[tuple[str | int, str]]:
    """Yield key (or index) and JSON text of each member of an object or item of a list."""
    at = skip_space(text, 0)
    is_object, is_list = text.startswith("{", at), text.startswith("[", at)
    at = skip_space(text, at + 1)
    place = 0
    while (is_object or is_list) and at < len(text) and text[at] not in "}]":
        key: str | int = place
        if is_object:
            key, end = _DECODE(text, at)
            at = skip_space(text, skip_space(text, end) + 1)
        _, end = _DECODE(text, at)
        yield key, text[at:end]
        at = skip_space(text, end)
        at = skip_space(text, at + 1) if text.startswith(",", at) else at
        place += 1


def skip_space(text: str, at: int) -> int:
    """Return the index of the first character from `at` on that is not white space of JSON."""
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
