"""The payload of an event that only adds a piece -> that piece, typed.

Nearly all events of a stream are of this kind. Decoding them straight into a typed struct skips the
fields that a reader does not need, which halves the time. A payload that does not fit gives None,
and the reader decodes it as a plain value.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES, may_be_deep

S = TypeVar("S", bound=msgspec.Struct)


def piece_decoder(shape: type[S]) -> Callable[[bytes], S | None]:
    """Return a decoder of payloads into `shape`; it gives None if they do not fit, or may be deep.

    `decode_json` refuses values that are nested too deeply; a typed decoder would skip them unseen.
    """
    decode = msgspec.json.Decoder(shape).decode

    def piece_of(data: bytes) -> S | None:
        if len(data) > NEVER_DEEP_BYTES and may_be_deep(data):  # most are short
            return None
        try:
            return decode(data)
        except (ValueError, RecursionError):
            return None

    return piece_of
