"""The payload of a line, typed: the pieces that it adds, or its arguments as they are spelt.

Nearly all lines only add text or thinking, and decoding straight into a shape takes half the
time. Every other line, and one that does not fit, is left to the reader of whole values.
Source: https://docs.ollama.com/api/chat and /api/generate
"""

from typing import Any

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES


class Said(msgspec.Struct, gc=False):
    """The message of a line."""

    content: str = ""
    thinking: str = ""
    tool_calls: Any = None


class Line(msgspec.Struct, gc=False):
    """One line; what `/api/generate` says stands in the line itself."""

    message: Said | None = None
    response: str = ""
    thinking: str = ""
    tool_calls: Any = None
    done: Any = None
    error: Any = None


class _Function(msgspec.Struct, gc=False):
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class _Entry(msgspec.Struct, gc=False):
    function: _Function


class _Calling(msgspec.Struct, gc=False):
    tool_calls: list[_Entry] = []


class _CallLine(_Calling, gc=False):
    message: _Calling | None = None


_decode = msgspec.json.Decoder(Line).decode
_decode_calls = msgspec.json.Decoder(_CallLine).decode


def pieces_of(data: bytes) -> tuple[str, str] | None:
    """Return the thinking and the text that a line adds; None where it may say more."""
    if len(data) > NEVER_DEEP_BYTES:
        return None
    try:
        line = _decode(data)
    except (ValueError, RecursionError):
        return None
    if line.done is not False or line.error or line.tool_calls:
        return None
    said = line.message
    if said is None:
        return (line.thinking, line.response) if line.response or line.thinking else None
    return None if said.tool_calls or line.response else (said.thinking, said.content)


def arguments_of(data: bytes) -> list[str] | None:
    """Return the JSON text of each call's arguments; None where the calls have another shape."""
    try:
        line = _decode_calls(data)
    except (ValueError, RecursionError):
        return None
    entries = line.tool_calls if line.message is None else line.message.tool_calls
    return [str(entry.function.arguments, "utf-8", "replace") for entry in entries]
