"""Decode the payload of an event that only adds text or arguments into a typed struct.

Nearly all events of a stream are of this kind. The typed decoder skips the fields that a reader
does not need, which halves the time. If a payload does not fit, it returns None, and the reader
decodes the payload as a plain value.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES, may_be_deep

S = TypeVar("S", bound=msgspec.Struct)


def piece_decoder(shape: type[S]) -> Callable[[bytes], S | None]:
    """Return a function that decodes a payload into `shape`, or returns None if it does not fit.

    It also returns None if the payload may be nested too deeply, which `decode_json` refuses.
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
