"""What every container reader shares: the shape of its answer, headers, and base64.

A reader turns the bytes of one file into one cassette, or says that they are another
container's (None). It never guesses: what the container does not keep stays empty, and an
entry that cannot be read is left out and told where the others do not depend on it.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Final

import msgspec

from harness.errors import UnreadableError
from harness.providers import UNKNOWN
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Headers, Interaction, Read, Request
from harness.wire.reads import synthetic_interaction

BY: Final = "harness import"

_MOST_STATUS: Final = 999


class ContainerFile(msgspec.Struct, frozen=True):
    """What a reader found in a file.

    Fields:
        cassette: all entries that can be read.
        damaged: number of each other entry in the file -> what is wrong with it, and where.
    """

    cassette: Cassette
    damaged: Mapping[int, str] = {}


Reader = Callable[[PurePath, bytes], ContainerFile | None]


def container_file(
    path: PurePath,
    interactions: Iterable[Interaction],
    kept: str,
    damaged: Mapping[int, str] | None = None,
) -> ContainerFile:
    """Return what a reader found in `path`.

    Args:
        path: the file's path.
        interactions: in the order of the file.
        kept: what of the traffic the container kept, in words.
        damaged: as `Found.damaged`.
    """
    origin = Origin("imported", by=BY, kept=kept)
    kept_ones = tuple(map(_storable, interactions))
    return ContainerFile(Cassette(path.name, kept_ones, origin).in_dialect(UNKNOWN), damaged or {})


def damage_text(error: UnreadableError, path: PurePath) -> str:
    """Return what is wrong with the file at `path`, and where inside of it."""
    place = error.where.removeprefix(str(path)).lstrip(": ")
    return f"{error.what} (at {place})" if place else error.what


def _storable(interaction: Interaction) -> Interaction:
    """Return what a cassette can hold: HTTP's three digits, and text that has an encoding."""
    request = interaction.request
    return msgspec.structs.replace(
        interaction,
        status=int(interaction.status) if 0 <= interaction.status <= _MOST_STATUS else 0,
        headers=_encodable_headers(interaction.headers),
        request=msgspec.structs.replace(
            request,
            method=_encodable(request.method),
            uri=_encodable(request.uri),
            headers=_encodable_headers(request.headers),
        ),
    )


def _encodable_headers(headers: Headers) -> Headers:
    return tuple((_encodable(name), _encodable(value)) for name, value in headers)


def _encodable(text: str) -> str:
    """Return `text` without the halves of surrogate pairs that JSON can spell."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def body_interaction(body: bytes, request: Request | None = None, status: int = 200) -> Interaction:
    """Return an interaction whose reads the source did not keep."""
    return synthetic_interaction(body, request, status=status)


def join_reads(chunks: Iterable[tuple[bytes, int]]) -> tuple[bytes, tuple[Read, ...]]:
    """Join chunks (bytes, delay in milliseconds) to a body and its reads; empty ones go."""
    kept = [(data, delay) for data, delay in chunks if data]
    return b"".join(data for data, _ in kept), tuple(Read(len(data), ms) for data, ms in kept)


def decode_base64(text: str, where: str) -> bytes:
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
