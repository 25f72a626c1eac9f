"""The payload of a `contentBlockDelta` -> the piece that it adds, typed in its shape.

Nearly all events of a stream are such, and decoding straight into this shape skips the fields
that no reader needs. One that does not fit, or whose input is no text, is left to the reader
of whole values.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlockDeltaEvent.html
"""

from typing import Any

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES, may_be_deep


class ToolUse(msgspec.Struct, gc=False):
    """A piece of a call."""

    input: str | None = None


class Reasoning(msgspec.Struct, gc=False):
    """A piece of the reasoning, or its signature."""

    text: Any = None


class Delta(msgspec.Struct, gc=False, rename="camel"):
    """What the event adds to its block."""

    text: Any = None
    tool_use: ToolUse | None = None
    reasoning_content: Reasoning | None = None


class Piece(msgspec.Struct, gc=False, rename="camel"):
    """One event."""

    delta: Delta
    content_block_index: Any = None


_decode = msgspec.json.Decoder(Piece).decode


def piece_of(data: bytes) -> Piece | None:
    """Return the event that `data` is; None where it has not just that shape, or may be deep."""
    if len(data) > NEVER_DEEP_BYTES and may_be_deep(data):
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None
