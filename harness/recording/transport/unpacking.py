"""The reads of a compressed body -> what each of them brought, once the encoding is off.

The client gets its bytes as they were sent; the cassette keeps them without their encoding
(the format says so), cut where the network cut them. Codings as in `wire.decompress`.
"""

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Final

from harness.errors import UnreadableError
from harness.wire.decompress import decoded, encoding_of, inflate_window
from harness.wire.interaction import Headers

_Feed = Callable[[bytes], bytes]


def unpacked(pieces: list[bytes], headers: Headers, where: str) -> tuple[list[bytes], Headers, str]:
    """Return the pieces decoded, the headers true of them, and the encoding that came off.

    Raises:
        UnreadableError: damaged, too large, several codings, or one that is not known here.
    """
    body = b"".join(pieces)
    plain, left = decoded(body, headers, where)
    if plain == body:
        return pieces, left, ""
    coding = encoding_of(headers).strip().lower()
    feed = _FEEDS[coding](body) if coding in _FEEDS else None
    decoded_pieces = [feed(piece) for piece in pieces] if feed else []
    if b"".join(decoded_pieces) != plain:
        raise UnreadableError(
            f"expected one content encoding of {', '.join(_FEEDS)}, found {coding!r}",
            where=where,
            hint="Let the client ask for accept-encoding: identity.",
        )
    return decoded_pieces, left, coding


def _zlib(body: bytes) -> _Feed:
    return zlib.decompressobj(inflate_window(body)).decompress


def _brotli(_body: bytes) -> _Feed:
    feed: _Feed = import_module("brotli").Decompressor().process
    return feed


def _zstd(_body: bytes) -> _Feed:
    feed: _Feed = import_module("zstandard").ZstdDecompressor().decompressobj().decompress
    return feed


_FEEDS: Final[dict[str, Callable[[bytes], _Feed]]] = {
    "gzip": _zlib,
    "x-gzip": _zlib,
    "deflate": _zlib,
    "br": _brotli,
    "zstd": _zstd,
}
