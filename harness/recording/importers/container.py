"""What every container reader shares: the shape of its answer, headers, and base64.

A reader turns the bytes of one file into one cassette, or says that they are another
container's (None). It never guesses: what the container does not keep stays empty.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Final

from harness.errors import UnreadableError
from harness.wire.cassette import Cassette, Origin
from harness.wire.hosts import UNKNOWN
from harness.wire.interaction import Interaction, Read, Request
from harness.wire.reads import synthetic

Reader = Callable[[PurePath, bytes], Cassette | None]

BY: Final = "harness import"


def found(path: PurePath, interactions: Iterable[Interaction], kept: str) -> Cassette:
    """Return the cassette that a reader found in `path`.

    Args:
        path: the file's path.
        interactions: in the order of the file.
        kept: what of the traffic the container kept, in words.
    """
    origin = Origin("imported", by=BY, kept=kept)
    return Cassette(path.name, tuple(interactions), origin).in_dialect(UNKNOWN)


def joined(body: bytes, request: Request | None = None, status: int = 200) -> Interaction:
    """Return an interaction whose reads the source did not keep."""
    return Interaction(request or Request(), status, (), body, synthetic(body), reads_kept=False)


def in_reads(chunks: Iterable[tuple[bytes, int]]) -> tuple[bytes, tuple[Read, ...]]:
    """Join chunks (bytes, delay in milliseconds) to a body and its reads; empty ones go."""
    kept = [(data, delay) for data, delay in chunks if data]
    return b"".join(data for data, _ in kept), tuple(Read(len(data), ms) for data, ms in kept)


def from_base64(text: str, where: str) -> bytes:
    """Return the bytes that `text` spells; line breaks in it do not matter.

    Raises:
        UnreadableError: it is not base64.
    """
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnreadableError(
            f"expected base64: {error}", where=where, hint="Restore the file from its source."
        ) from None
