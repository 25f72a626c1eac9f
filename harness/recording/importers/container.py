"""The common part of all readers of recordings (containers): the result, headers, and base64.

A reader turns the bytes of one file into one cassette, or returns None if the file has another
format. It never guesses: a field that the file does not store stays empty. The reader leaves out
and reports an unreadable entry if the others do not depend on it.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Final, TypeVar

import msgspec

from harness.errors import UnreadableError
from harness.providers import UNKNOWN
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Headers, Interaction, Read, Request
from harness.wire.reads import synthetic_interaction
from harness.wire.session import Session

BY: Final = "harness import"
# What a container stores that joins a stream before it stores it.
BODIES_AND_HEADERS: Final = "bodies and headers; no reads, no times"

_MOST_STATUS: Final = 999
_MOST_REASONS: Final = 20

T = TypeVar("T")


class ContainerFile(msgspec.Struct, frozen=True):
    """The content of one recording file.

    Fields:
        cassette: the entries that can be read.
        damaged: number of each other entry in the file -> what is wrong with it, and where.
        sessions: number of each entry that is a WebSocket connection -> its frames.
    """

    cassette: Cassette
    damaged: Mapping[int, str] = {}
    sessions: Mapping[int, Session] = {}


Reader = Callable[[PurePath, bytes], ContainerFile | None]


def container_file(
    path: PurePath,
    interactions: Iterable[Interaction],
    kept: str,
    damaged: Mapping[int, str] | None = None,
    sessions: Mapping[int, Session] | None = None,
) -> ContainerFile:
    """Return the content of the recording file at `path`.

    Args:
        path: the file's path.
        interactions: the interactions in the order of the file.
        kept: the parts of the traffic that this format stores, as text.
        damaged: number of each unreadable entry -> what is wrong with it.
        sessions: number of each WebSocket connection -> its frames.
    """
    origin = Origin("imported", by=BY, kept=kept)
    kept_ones = tuple(map(_storable, interactions))
    return ContainerFile(Cassette(path.name, kept_ones, origin), damaged or {}, sessions or {})


def entries_file(
    path: PurePath,
    entries: Iterable[tuple[str, T]],
    read_entry: Callable[[T, str], Interaction | Session],
    kept: str = BODIES_AND_HEADERS,
) -> ContainerFile:
    """Return the readable entries of the file at `path`, and what is wrong with the others.

    Args:
        path: the file's path.
        entries: the location of each entry in the file, and its data.
        read_entry: returns the interaction or the session of an entry, or raises UnreadableError.
        kept: the parts of the traffic that this format stores, as text.

    Raises:
        UnreadableError: no entry can be read; the message is the error of the first entry.
    """
    interactions: list[Interaction] = []
    sessions: dict[int, Session] = {}
    damaged: dict[int, str] = {}
    first: UnreadableError | None = None
    for number, (where, entry) in enumerate(entries):
        try:
            found = read_entry(entry, where)
        except UnreadableError as error:
            first = first or error
            more = f": {damage_text(error, path)}" if len(damaged) < _MOST_REASONS else ""
            damaged[number] = f"damaged{more}"
            continue
        if isinstance(found, Session):
            sessions[number] = found
        else:
            interactions.append(found)
    if first and not interactions and not sessions:
        raise first
    return container_file(path, interactions, kept, damaged, sessions)


def damage_text(error: UnreadableError, path: PurePath) -> str:
    """Return the error in the file at `path` as text, with its location."""
    location = error.where.removeprefix(str(path)).lstrip(": ")
    return f"{error.what} (at {location})" if location else error.what


def _storable(interaction: Interaction) -> Interaction:
    """Return `interaction` with a status and text that a cassette can store."""
    request = interaction.request
    return msgspec.structs.replace(
        interaction,
        dialect=UNKNOWN,
        status=int(interaction.status) if 0 <= interaction.status <= _MOST_STATUS else 0,
        headers=_encodable_headers(interaction.headers),
        request=msgspec.structs.replace(
            request,
            method=encodable(request.method),
            uri=encodable(request.uri),
            headers=_encodable_headers(request.headers),
        ),
    )


def _encodable_headers(headers: Headers) -> Headers:
    return tuple((encodable(name), encodable(value)) for name, value in headers)


def encodable(text: str) -> str:
    """Return `text` with each unpaired surrogate, which JSON can contain, replaced by `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def body_interaction(body: bytes, request: Request | None = None, status: int = 200) -> Interaction:
    """Return an interaction with this body; its reads and their times are unknown."""
    return synthetic_interaction(body, request, status=status)


def body_file(path: PurePath, data: bytes) -> ContainerFile:
    """Return a recording with `data` as the body of its only response, without a request."""
    kept = "response body; no request, headers, reads or times"
    return container_file(path, [body_interaction(data)], kept)


def join_reads(chunks: Iterable[tuple[bytes, int]]) -> tuple[bytes, tuple[Read, ...]]:
    """Join chunks (bytes, delay in milliseconds) to a body and its reads; ignore empty chunks."""
    kept = [(data, delay) for data, delay in chunks if data]
    return b"".join(data for data, _ in kept), tuple(Read(len(data), ms) for data, ms in kept)


def decode_base64(text: str, where: str) -> bytes:
    """Return the bytes in base64 `text`; line breaks are ignored.

    Raises:
        UnreadableError: the text is not base64.
    """
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnreadableError(
            f"expected base64: {error}", where=where, hint="Restore the file from its source."
        ) from None
