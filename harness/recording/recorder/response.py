"""One response while it comes: each read with its time, and how it ended.

Only a clock and bytes: whoever carries the bytes to the client calls `add` with each read
and `end` once. Bounded; a response beyond the limit goes on to the client and is not kept.
"""

import re
import zlib
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import Final

from harness.errors import UnreadableError
from harness.wire.decompress import decode_body, encoding_of, inflate_window
from harness.wire.interaction import Ended, Headers, Interaction, Read, Request

_Feed = Callable[[bytes], bytes]


def decode_pieces(
    pieces: list[bytes], headers: Headers, where: str
) -> tuple[list[bytes], Headers, str]:
    """Return the pieces decoded, the headers true of them, and the encoding that came off.

    Raises:
        UnreadableError: damaged, too large, several codings, or one that is not known here.
    """
    body = b"".join(pieces)
    plain, left = decode_body(body, headers, where)
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


MAX_BODY_BYTES: Final = 32 * 1024 * 1024
MAX_READS: Final = 1_000_000

# The last event of most chat streams. SDKs leave there, and not at the end of the body.
_SAID_DONE: Final = re.compile(rb"^data: ?\[DONE\]\s*\Z", re.MULTILINE)


class ResponseRecorder:
    """Keeps one response; its times count from when it was made, as the request was sent.

    Args:
        request: what was asked.
        clock: seconds, never going back.
    """

    def __init__(self, request: Request, clock: Callable[[], float] = monotonic) -> None:
        self.request = request
        self.overflowed = False
        self.ended: Ended | None = None
        self._status: int | None = None
        self._headers: Headers = ()
        self._clock = clock
        self._start = clock()
        self._pieces: list[bytes] = []
        self._times: list[float] = []
        self._size = 0

    @property
    def answered(self) -> bool:
        """Whether the head of a response came."""
        return self._status is not None

    def head(self, status: int, headers: Headers) -> None:
        """Keep the head of the response."""
        self._status = status
        self._headers = headers

    def add(self, piece: bytes) -> None:
        """Keep what one read returned."""
        time = self._clock()
        self._size += len(piece)
        full = self._size > MAX_BODY_BYTES or len(self._pieces) >= MAX_READS
        self.overflowed = self.overflowed or full
        if self.overflowed:
            self._pieces.clear()
        elif piece:
            self._pieces.append(bytes(piece))
            self._times.append(time)

    def end(self, how: Ended) -> None:
        """Note how it ended; what is said first counts."""
        self.ended = self.ended or how

    def interaction(self) -> Interaction:
        """Return what was kept, content encoding removed; not ended yet counts as aborted.

        A client that leaves once the stream has said that it is done has all of it.

        Raises:
            UnreadableError: a content encoding that cannot be taken off.
        """
        ends = [round((time - self._start) * 1_000) for time in self._times]
        delays = [end - before for before, end in zip([0, *ends], ends, strict=False)]
        pieces, headers, encoding = decode_pieces(self._pieces, self._headers, self.request.uri)
        body = b"".join(pieces)
        left = self.ended or "aborted"
        return Interaction(
            self.request,
            self._status or 0,
            headers,
            body,
            _reads(pieces, delays),
            dialect="unknown",
            ended="complete" if left == "aborted" and _SAID_DONE.search(body) else left,
            encoding=encoding,
        )


def _reads(pieces: list[bytes], delays: list[int]) -> tuple[Read, ...]:
    """Return the reads; one that unpacked to nothing lends its time to the next."""
    reads: list[Read] = []
    waited = 0
    for piece, delay in zip(pieces, delays, strict=True):
        waited += delay
        if piece:
            reads.append(Read(len(piece), waited))
            waited = 0
    return tuple(reads)
