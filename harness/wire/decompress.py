"""Decompress response bodies, up to a size limit.

The first bytes of a body can show its encoding, as in gzip. They count more than the header,
because recorders may remove headers, or decode a body and keep the header. So text is never
decompressed. Brotli and Zstandard need an optional package each, in the extra `compressed`.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from harness.errors import UnreadableError
from harness.wire.interaction import Headers

MAX_BODY_BYTES: Final = 256 * 1024 * 1024

_MAX_MEMBERS = 16
_PIECE_BYTES = 1 << 20  # that a decoder gives at once
_MOST_CODINGS = 4
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ANY_WINDOW = 32 + zlib.MAX_WBITS  # zlib distinguishes gzip from zlib by the header
_RAW_DEFLATE = -zlib.MAX_WBITS
_MOST_WINDOW = 1 << 27  # what RFC 8878 asks decoders to support at least, many times over
_CONTROLS = bytes(sorted(set(range(0x20)) - set(b"\t\n\r")))
# What no longer describes a body whose content encoding was taken off.
_GONE: Final = frozenset({"content-encoding", "content-length"})


def decompress(body: bytes, encoding: str, where: str, most: int | None = None) -> bytes:
    """Return `body` without its content encoding; unchanged if it is not compressed.

    Args:
        body: the body as stored.
        encoding: the `content-encoding` header, "" if there is none.
        where: the location in the file, for messages.
        most: the limit of the result in bytes; None for `MAX_BODY_BYTES`.

    Raises:
        UnreadableError: the body is damaged, expands to more than the limit, or has an encoding
            whose package is not installed.
    """
    limit = MAX_BODY_BYTES if most is None else most
    for coding in reversed(_codings(encoding)):
        decode = _by_mark(body) or (
            _unchanged if is_text(body) else _BY_NAME.get(coding, _unchanged)
        )
        body = decode(body, coding, where, limit)
    return body


def decode_body(
    body: bytes, headers: Headers, where: str, most: int | None = None
) -> tuple[bytes, Headers]:
    """Return `body` without its content encoding, and `headers` without those that describe it.

    If the encoding is unknown, the function returns the body and its headers unchanged.

    Raises:
        UnreadableError: under the conditions of `decompress`.
    """
    encoding = encoding_of(headers)
    found = decompress(body, encoding, where, most)
    known = all(coding in _BY_NAME for coding in _codings(encoding))
    if not encoding or not (known or is_text(found)):
        return found, headers
    return found, tuple(header for header in headers if header[0].lower() not in _GONE)


def decode_body_if_possible(body: bytes, headers: Headers) -> tuple[bytes, Headers]:
    """Return the result of `decode_body`, or the arguments if the body cannot be decoded."""
    try:
        return decode_body(body, headers, "")
    except UnreadableError:
        return body, headers


def why_encoded(body: bytes, headers: Headers) -> str:
    """Return why the content encoding of `body` cannot be removed; "" if it can."""
    try:
        _, left = decode_body(body, headers, "")
    except UnreadableError as error:
        return error.what
    encoding = encoding_of(left)
    return f"content encoding {encoding[:20]} is not read" if encoding else ""


def is_marked(body: bytes) -> bool:
    """Return whether `body` starts like gzip or Zstandard, so that `decompress` would expand it."""
    return _by_mark(body) is not None


def encoding_of(headers: Headers) -> str:
    """Return the value of the `content-encoding` header; "" if there is none."""
    return next((value for name, value in headers if name.lower() == "content-encoding"), "")


def inflate_window(body: bytes) -> int:
    """Return zlib's `wbits` argument for a gzip or deflate body, with or without a header."""
    is_zlib = body[0] & 0x0F == zlib.DEFLATED and int.from_bytes(body[:2]) % 31 == 0
    return _ANY_WINDOW if is_zlib or body.startswith(_GZIP) else _RAW_DEFLATE


def _codings(encoding: str) -> list[str]:
    return [coding.strip().lower() for coding in encoding.split(",")][:_MOST_CODINGS]


def _by_mark(body: bytes) -> "_Decode | None":
    if body.startswith(_GZIP):
        return _inflate
    return _zstd if body.startswith(_ZSTD) else None


def is_text(body: bytes) -> bool:
    """Return whether `body` is UTF-8 without control characters, as no compressed body is."""
    if len(body) != len(body.translate(None, _CONTROLS)):
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unchanged(body: bytes, _coding: str, _where: str, _most: int) -> bytes:
    return body


def _inflate(body: bytes, _coding: str, where: str, most: int) -> bytes:
    """Decompress all gzip or deflate members of `body`, even if the last is truncated."""
    pieces: list[bytes] = []
    size, window = 0, inflate_window(body)
    for _ in range(_MAX_MEMBERS):
        inflater = zlib.decompressobj(window)
        try:
            pieces.append(inflater.decompress(body, most - size + 1))
        except zlib.error as error:
            raise _damaged(error, where) from None
        size += len(pieces[-1])
        body = inflater.unused_data
        if size > most or not body:
            break
    if size > most or body:
        raise _too_large(where, most)
    return b"".join(pieces)


def _brotli(body: bytes, coding: str, where: str, most: int) -> bytes:
    package = _package("brotli", coding, where)
    try:
        return _joined(brotli_output(package.Decompressor(), body), where, most)
    except package.error as error:
        raise _damaged(error, where) from None


def brotli_output(decoder: Any, data: bytes) -> Iterator[bytes]:  # noqa: ANN401 - of a module without types
    """Pass `data` to a Brotli decoder, and yield all output that the decoder has by then."""
    piece = decoder.process(data, output_buffer_limit=_PIECE_BYTES)
    # A decoder that accepts more data may still have output.
    while piece or not decoder.can_accept_more_data():
        yield piece
        piece = decoder.process(b"", output_buffer_limit=_PIECE_BYTES)


def _zstd(body: bytes, coding: str, where: str, most: int) -> bytes:
    package = _package("zstandard", coding or "zstd", where)
    decoder = package.ZstdDecompressor(max_window_size=_MOST_WINDOW)
    try:
        with decoder.stream_reader(body, read_across_frames=True) as reader:
            return _joined(iter(lambda: reader.read(_PIECE_BYTES), b""), where, most)
    except package.ZstdError as error:
        raise _damaged(error, where) from None


def _joined(pieces: Iterable[bytes], where: str, most: int) -> bytes:
    """Join the output of a decoder; refuse more than `most` bytes."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > most:
            raise _too_large(where, most)
    return bytes(body)


def _package(name: str, coding: str, where: str) -> Any:  # noqa: ANN401 - a module without types
    try:
        return import_module(name)
    except ImportError:
        raise UnreadableError(
            f"content encoding {coding} needs the package {name}, which is not installed",
            where=where,
            hint="Install it: pip install 'toolcall-harness[compressed]'",
        ) from None


def _damaged(error: Exception, where: str) -> UnreadableError:
    return UnreadableError(
        f"expected a compressed body, found damaged bytes: {error}",
        where=where,
        hint="Record it again, or store the body without compression.",
    )


def _too_large(where: str, most: int) -> UnreadableError:
    return UnreadableError(
        f"expected at most {_MAX_MEMBERS} members of {most} bytes in all when expanded, found more",
        where=where,
        hint="Remove the interaction.",
    )


_Decode = Callable[[bytes, str, str, int], bytes]

_BY_NAME: Final[dict[str, _Decode]] = {
    # Without the first bytes of gzip, the body is decoded already.
    **dict.fromkeys(("", "identity", "gzip", "x-gzip"), _unchanged),
    "deflate": _inflate,
    "br": _brotli,
    "zstd": _zstd,
}
