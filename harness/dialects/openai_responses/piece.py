"""The payload of an event that only continues a text or arguments -> that piece.

Nearly all events of a stream are such, and decoding straight into this shape skips the fields
that no reader needs. Its leaves have no types, since they are judged like those of an event
that was read as a whole, as every other event is.
Source: OpenAI API reference, "Responses: streaming events".
"""

from typing import Any

import msgspec

from harness.dialects.kit.piece import piece_decoder


class Piece(msgspec.Struct, gc=False):
    """One event that has a `delta`."""

    type: str
    delta: Any = None
    item_id: Any = None
    output_index: Any = None


piece_of = piece_decoder(Piece)
