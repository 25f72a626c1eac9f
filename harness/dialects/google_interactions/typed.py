"""The payload of an event that adds one piece -> that piece, typed.

Nearly all events add text or a fragment of arguments, and decoding straight into a shape
takes half the time. Every other event, and one that does not fit, is left to the reader of
whole values. Source: Gemini API reference, "Interactions", `InteractionSseEvent`.
"""

from typing import Literal

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES


class Piece(msgspec.Struct, gc=False):
    """What an event adds to its step.

    Fields:
        text: of the answer, or of a thought, where the step is one.
        arguments: a fragment of the text of a call's arguments.
    """

    type: Literal["text", "arguments_delta"]
    text: str = ""
    arguments: str = ""


class Event(msgspec.Struct, gc=False):
    """An event that adds one piece to step `index`."""

    event_type: Literal["step.delta", "content.delta"]
    delta: Piece
    index: int | None = None


_decode = msgspec.json.Decoder(Event).decode


def piece_event(data: bytes) -> Event | None:
    """Return the event that `data` is; None where it may be another one."""
    if len(data) > NEVER_DEEP_BYTES:
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None
