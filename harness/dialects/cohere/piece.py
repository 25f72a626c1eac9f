"""The payload of an event of version 2 that only adds a piece -> that piece, typed.

Nearly all events of a stream are such, and decoding straight into this shape takes half the
time. Every other event, and one that does not fit, is left to the reader of whole values.
Source: https://docs.cohere.com/reference/chat-stream
"""

from typing import Any

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES


class Content(msgspec.Struct, gc=False):
    """A piece of text or of thinking."""

    text: str = ""
    thinking: str = ""


class Function(msgspec.Struct, gc=False):
    """A piece of arguments; a name opens a call and is no piece."""

    arguments: str = ""
    name: str = ""


class Call(msgspec.Struct, gc=False):
    """A piece of a call; an id opens one and is no piece."""

    function: Function | None = None
    id: str = ""


class Message(msgspec.Struct, gc=False):
    """What an event adds to the message."""

    content: Content | None = None
    tool_plan: str = ""
    tool_calls: Call | None = None


class Delta(msgspec.Struct, gc=False):
    """The change that an event makes."""

    message: Message | None = None


class Piece(msgspec.Struct, gc=False):
    """One event."""

    type: str
    delta: Delta | None = None
    index: Any = None


_decode = msgspec.json.Decoder(Piece).decode


def piece_of(data: bytes) -> Piece | None:
    """Return the event that `data` is; None where it has not just that shape, or may be deep."""
    if len(data) > NEVER_DEEP_BYTES:
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None
