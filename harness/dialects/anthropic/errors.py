"""An event or a body -> the provider's error in it, as the API or a cloud before it spells it.

Source: Anthropic API reference, "Errors"; Google Cloud (`status`); AWS (`__type`, `Message`).
"""

from typing import Any

from harness.turns.event_reader import quote

Json = dict[str, Any]

_CODES = ("type", "status", "code")
# Beside an error that is no object; the `type` there says `error`, and not which.
_FLAT_CODES = ("code", "status", "__type", "error_type", "type")
_WORDS = ("message", "Message", "error_message", "detail")
# Any of these makes an object without a known type an error, wherever it comes.
_MARKS = ("error", "error_message", "error_type")


def names_an_error(value: Json, event: str, *, first: bool) -> bool:
    """Return whether an object without a known type is an error.

    Args:
        value: the object.
        event: its name in the framing.
        first: nothing of the API came before, so that bare words are no part of a stream.
    """
    if event == "error" or any(map(value.get, _MARKS)):
        return True
    return first and any(isinstance(value.get(word), str) for word in _WORDS)


def error_of(value: Json) -> tuple[str, str]:
    """Return code and message of an error."""
    error = value.get("error")
    if isinstance(error, dict) and error:
        return _code(error, _CODES), quote(_first(error, _WORDS) or error)
    return _code(value, _FLAT_CODES), quote(error or _first(value, _WORDS) or value)


def _code(holder: Json, fields: tuple[str, ...]) -> str:
    return quote(_first(holder, fields)) or "error"


def _first(holder: Json, fields: tuple[str, ...]) -> object:
    """Return the first of `fields` that is text or a number."""
    values = (holder.get(field) for field in fields)
    return next((value for value in values if value and isinstance(value, str | int)), None)
