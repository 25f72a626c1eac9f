"""A chunk -> the provider's error in it, whatever the types of its fields.

Source: OpenAI API reference (`error`), vLLM (`object: error`), gateways that flatten the
fields (`error_type`, `error_message`); quirks ERR-IN-200, ERR-CODE-NOT-INT.
"""

from typing import Any

from harness.turns.exact_json import join_surrogates

_CODE_FIELDS = ("code", "error_code", "type", "error_type")
_MESSAGE_FIELDS = ("message", "error_message")


def error_of(chunk: dict[str, Any], event: str = "") -> tuple[str, str] | None:
    """Return code and message of the error that `chunk` is or holds, or None.

    Args:
        chunk: a decoded event.
        event: the event's name.
    """
    error = chunk.get("error")
    if isinstance(error, dict) and error:
        return _first_text(error, _CODE_FIELDS), _first_text(error, _MESSAGE_FIELDS)
    if isinstance(error, str) and error:
        return _first_text(chunk, ("code", "error_code")), join_surrogates(error)
    flat = chunk.get("error_message") or chunk.get("error_type")
    named = event == "error" or chunk.get("object") == "error" or chunk.get("type") == "error"
    if flat or named:
        return _first_text(chunk, _CODE_FIELDS), _first_text(chunk, _MESSAGE_FIELDS)
    return None


def _first_text(holder: dict[str, Any], fields: tuple[str, ...]) -> str:
    """Return the first of `fields` that is text or a number, as text."""
    values = (holder.get(field) for field in fields)
    usable = (value for value in values if isinstance(value, str | int) and value != "")
    return join_surrogates(_format_code(next(usable, "")))


def _format_code(value: str | int) -> str:
    # Python refuses to write an integer of thousands of digits, and no code has so many.
    return value if isinstance(value, str) else f"{value:x}" if abs(value) >> 64 else str(value)
