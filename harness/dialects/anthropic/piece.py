"""The payload of a `content_block_delta` -> the piece that it adds, typed in its shape.

Nearly all events of a stream are such, and decoding straight into this shape skips the fields
that no reader needs. Its leaves have no types, since they are judged like those of an event
that was read as a whole, as every other event is.
Source: Anthropic API reference, "Streaming Messages".
"""

from typing import Any

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES, may_be_deep


class Delta(msgspec.Struct, gc=False):
    """What the event adds to its block."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    partial_json: Any = None


class Piece(msgspec.Struct, gc=False):
    """One event."""

    type: str
    delta: Delta
    index: Any = None


_decode = msgspec.json.Decoder(Piece).decode


def piece_of(data: bytes) -> Piece | None:
    """Return the event that `data` is; None where it has not just that shape, or may be deep."""
    if len(data) > NEVER_DEEP_BYTES and may_be_deep(data):
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None


def delta_of(value: dict[str, Any]) -> Delta:
    """Return the delta that was decoded as `value`."""
    return Delta(
        value.get("type"), value.get("text"), value.get("thinking"), value.get("partial_json")
    )
