"""A compressed body -> the body, within a limit; what is not compressed stays as it is.

Told by the first bytes, since recorders filter headers away, decode bodies and leave the
header in place.
"""

import zlib
from typing import Final

from harness.errors import UnreadableError

MAX_BODY_BYTES: Final = 256 * 1024 * 1024

_MAX_MEMBERS = 16
_GZIP = b"\x1f\x8b"
_ANY_WINDOW = 32 + zlib.MAX_WBITS  # zlib tells gzip from zlib by the header
_RAW_DEFLATE = -zlib.MAX_WBITS


def decompress(body: bytes, encoding: str, where: str) -> bytes:
    """Return `body` without its content encoding.

    Args:
        body: as stored.
        encoding: the `content-encoding` header, "" where there is none.
        where: the place in the file, for messages.

    Raises:
        UnreadableError: damaged, or larger than the limit when expanded.
    """
    if body.startswith(_GZIP):
        return _inflate(body, _ANY_WINDOW, where)
    if encoding.strip().lower() == "deflate" and not _is_text(body):
        is_zlib = body[0] & 0x0F == zlib.DEFLATED and int.from_bytes(body[:2]) % 31 == 0
        return _inflate(body, _ANY_WINDOW if is_zlib else _RAW_DEFLATE, where)
    return body


def _inflate(body: bytes, window: int, where: str) -> bytes:
    """Inflate the members of `body`; one that ends early gives what there is of it."""
    pieces: list[bytes] = []
    size = 0
    for _ in range(_MAX_MEMBERS):
        inflater = zlib.decompressobj(window)
        try:
            pieces.append(inflater.decompress(body, MAX_BODY_BYTES - size + 1))
        except zlib.error as error:
            raise UnreadableError(
                f"expected a compressed body, found damaged bytes: {error}",
                where=where,
                hint="Record it again, or store the body without compression.",
            ) from None
        size += len(pieces[-1])
        body = inflater.unused_data
        if size > MAX_BODY_BYTES or not body:
            break
    if size > MAX_BODY_BYTES or body:
        raise UnreadableError(
            f"expected at most {_MAX_MEMBERS} members of {MAX_BODY_BYTES} bytes in all when "
            "expanded, found more",
            where=where,
            hint="Remove the interaction.",
        )
    return b"".join(pieces)


def _is_text(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
