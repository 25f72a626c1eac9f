"""Record one response while it arrives: each read with its time, and how the body ended.

The code that passes the bytes to the client calls `add` for each read, and `end` once. A response
beyond the size limit is passed to the client and not recorded. The client gets the bytes as they
were sent. The cassette contains them without their content encoding, split where the network split
them. `wire.decompress` lists the supported encodings.
"""

import re
import zlib
from collections.abc import Callable
from importlib import import_module
from time import monotonic
from typing import Final

from harness.errors import UnreadableError
from harness.wire.decompress import brotli_output, decode_body, encoding_of, inflate_window
from harness.wire.interaction import Ended, Headers, Interaction, Read, Request

_Feed = Callable[[bytes], bytes]

# Of a body as sent, and of one without its content encoding: a small one may unpack to a large one.
MAX_BODY_BYTES: Final = 32 * 1024 * 1024
MAX_READS: Final = 1_000_000


def decode_pieces(
    pieces: list[bytes], headers: Headers, where: str
) -> tuple[list[bytes], Headers, str]:
    """Remove the content encoding of a body.

    Returns:
        The decoded parts of the body, the headers without the encoding, and its name.

    Raises:
        UnreadableError: the body is damaged or too large, or has several or unknown encodings.
    """
    body = b"".join(pieces)
    plain, left = decode_body(body, headers, where, MAX_BODY_BYTES)
    if plain == body:
        return pieces, left, ""
    coding = encoding_of(headers).strip().lower()
    feed = _FEEDS[coding](body) if coding in _FEEDS else None
    decoded_pieces = [feed(piece) for piece in pieces] if feed else []
    if b"".join(decoded_pieces) != plain:
        raise UnreadableError(
            f"expected one content encoding of {', '.join(_FEEDS)}, found {coding!r}",
            where=where,
            hint="Let the client send accept-encoding: identity.",
        )
    return decoded_pieces, left, coding


def _zlib(body: bytes) -> _Feed:
    return zlib.decompressobj(inflate_window(body)).decompress


def _brotli(_body: bytes) -> _Feed:
    decoder = import_module("brotli").Decompressor()
    return lambda piece: b"".join(brotli_output(decoder, piece))


_FEEDS: Final[dict[str, Callable[[bytes], _Feed]]] = {
    **dict.fromkeys(("gzip", "x-gzip", "deflate"), _zlib),
    "br": _brotli,
    "zstd": lambda _: import_module("zstandard").ZstdDecompressor().decompressobj().decompress,
}


# The last event of most chat streams. SDKs close the connection there, before the end of the body.
_DONE: Final = re.compile(rb"^data: ?\[DONE\]\s*\Z", re.MULTILINE)


class ResponseRecorder:
    """Records one response. Its times count from its creation, when the request is sent.

    Args:
        request: the request that is sent.
        clock: returns the seconds of a monotonic clock.
        on_end: called once, when the body has ended and before the client learns of it.
    """

    def __init__(
        self,
        request: Request,
        clock: Callable[[], float] = monotonic,
        on_end: Callable[[], object] = lambda: None,
    ) -> None:
        self.request = request
        self.overflowed = False
        self.ended: Ended | None = None
        self._status: int | None = None
        self._headers: Headers = ()
        self._clock = clock
        self._start = clock()
        self._on_end = on_end
        self._pieces: list[tuple[bytes, float]] = []  # each with its time
        self._size = 0

    @property
    def answered(self) -> bool:
        """Whether the head of a response arrived."""
        return self._status is not None

    def head(self, status: int, headers: Headers) -> None:
        """Record the status and headers of the response."""
        self._status = status
        self._headers = headers

    def add(self, piece: bytes) -> None:
        """Record the bytes of one read."""
        time = self._clock()
        if self.ended is not None:  # the recorder did not wait for the client
            return
        self._size += len(piece)
        full = self._size > MAX_BODY_BYTES or len(self._pieces) >= MAX_READS
        self.overflowed = self.overflowed or full
        if self.overflowed:
            self._pieces.clear()
        elif piece:
            self._pieces.append((bytes(piece), time))

    def end(self, how: Ended) -> None:
        """Record how the body ended. Only the first call counts."""
        if self.ended is None:
            self.ended = how
            self._on_end()

    def forget(self) -> None:
        """Free the memory of the body, because the interaction is on the disk."""
        self._pieces.clear()

    def interaction(self) -> Interaction:
        """Return the recorded interaction without content encoding; aborted if it did not end.

        If a client closes the connection after the last event, the response is complete.

        Raises:
            UnreadableError: a content encoding that cannot be removed.
        """
        taken = tuple(self._pieces)  # a client may still read
        ends = [round((time - self._start) * 1_000) for _, time in taken]
        delays = [end - before for before, end in zip([0, *ends], ends, strict=False)]
        pieces, headers, encoding = decode_pieces(
            [piece for piece, _ in taken], self._headers, self.request.uri
        )
        body = b"".join(pieces)
        left = self.ended or "aborted"
        return Interaction(
            self.request,
            self._status or 0,
            headers,
            body,
            _reads(pieces, delays),
            dialect="unknown",
            ended="complete" if left == "aborted" and _DONE.search(body) else left,
            encoding=encoding,
        )


def _reads(pieces: list[bytes], delays: list[int]) -> tuple[Read, ...]:
    """Return the reads of a body; if a part decodes to nothing, add its delay to the next read."""
    reads: list[Read] = []
    waited = 0
    for piece, delay in zip(pieces, delays, strict=True):
        waited += delay
        if piece:
            reads.append(Read(len(piece), waited))
            waited = 0
    return tuple(reads)
