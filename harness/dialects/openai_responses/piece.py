"""The payload of an event that only continues a text or arguments -> that piece.

Nearly all events of a stream are such, and decoding straight into this shape skips the fields
that no reader needs. Its leaves have no types, since they are judged like those of an event
that was read as a whole, as every other event is.
Source: OpenAI API reference, "Responses: streaming events".
"""

from typing import Any

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES


class Piece(msgspec.Struct, gc=False):
    """One event that has a `delta`."""

    type: str
    delta: Any = None
    item_id: Any = None
    output_index: Any = None


_decode = msgspec.json.Decoder(Piece).decode


def piece_of(data: bytes) -> Piece | None:
    """Return the event that `data` is; None where it has not just that shape, or may be deep."""
    if len(data) > NEVER_DEEP_BYTES:
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None
