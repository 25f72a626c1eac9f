"""Split reads into frames. The first bytes of a body show which framing it has, if any.

A server that ignores `stream: true` responds with one JSON object, and a proxy with an HTML page.
Neither has events. A decoder that dropped them would return an empty success. Such a body becomes
one frame, and the dialect interprets it.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from harness.wire.aws import AWS_FIRST_BYTE, MessageDecoder
from harness.wire.frames import BoundedDecoder, Frame, PlainDecoder
from harness.wire.json_stream import ElementDecoder, LineDecoder
from harness.wire.sse import SSEDecoder

_BOM = b"\xef\xbb\xbf"
# To look for a byte as a number takes a third of the time that one as text takes.
_LF, _CR = b"\n\r"
_MOST_WAITING_BYTES = 1 << 16
_KEPT_BYTES = 300
# How the lines begin that an event stream without an event may still hold.
_FIELDS = (b":", b"data", b"event", b"id", b"retry")


class EventStreamDecoder(SSEDecoder):
    """Decodes a body of server-sent events; if it has no event at all, returns its text instead."""

    def __init__(self) -> None:
        super().__init__()
        self._head = b""
        self._came = False

    def feed(self, data: bytes) -> list[Frame]:
        """Return the events that `data` completes.

        Raises:
            StreamError: an event is larger than the limit.
        """
        found = SSEDecoder.feed(self, data)  # faster than super(), and called for each read
        if found:
            self._came = True
        elif not self._came and len(self._head) < _KEPT_BYTES:
            self._head += data[: _KEPT_BYTES - len(self._head)]
        return found

    def close(self) -> list[Frame]:
        """Return an event that is incomplete at the end, or the text of a body without any event.

        Raises:
            StreamError: an event is larger than the limit.
        """
        found = super().close()
        if found or self._came:
            return found
        # A proxy may answer with plain text, whose lines are not fields of an event stream.
        words = self._head.strip().removeprefix(_BOM).strip()
        is_stream = all(line.startswith(_FIELDS) for line in words.splitlines() if line.strip())
        return [] if is_stream else [Frame(words, "", self._head.index(words))]


_BLANK = b" \t\r\n\xef\xbb\xbf"


# What cuts one body into frames; sans-IO.
Decoder: TypeAlias = BoundedDecoder | PlainDecoder | MessageDecoder

# First byte that is not a blank -> the decoder, made with the offset of that byte.
_BY_FIRST_BYTE: Final[dict[bytes, Callable[[int], Decoder]]] = {
    b"{": LineDecoder,
    b"[": ElementDecoder,
    b"<": PlainDecoder,
    AWS_FIRST_BYTE: MessageDecoder,
    b"\x1f": PlainDecoder,  # gzip: a body whose encoding was not removed
}


def iter_frames(reads: Iterable[bytes]) -> Iterator[Frame]:
    """Yield the frames of `reads` as soon as each is complete.

    The first byte that is not white space decides about the framing, because servers may send
    blank lines while a model is busy. A body of text without any event gives one frame with its
    first bytes.

    Raises:
        StreamError: an event or a plain body is larger than the limit of the framing.
    """
    return chain.from_iterable(_iter_found(reads))


def _iter_found(reads: Iterable[bytes]) -> Iterator[list[Frame]]:
    """Yield a list for each read: the frames that it completes."""
    decoder: Decoder = EventStreamDecoder()
    rest = iter(reads)
    blanks = 0
    for read in rest:
        start = read.lstrip(_BLANK)
        make = _BY_FIRST_BYTE.get(start[:1])
        if make is not None:
            decoder = make(blanks + len(read) - len(start))
            yield decoder.feed(start)
            break
        yield decoder.feed(read)
        # White space may precede the body, so it decides nothing; any other byte does.
        if start:
            break
        blanks += len(read)
    if type(decoder) is EventStreamDecoder:
        rest = _joined_to_line_ends(rest)
    yield from map(decoder.feed, rest)
    yield decoder.close()


def _joined_to_line_ends(reads: Iterator[bytes]) -> Iterator[bytes]:
    """Join each read without a line end to the next, because a frame can end only at a line end.

    Decoding a body that arrives byte by byte then takes half the time.
    """
    waiting = bytearray()
    for read in reads:
        if _LF not in read and _CR not in read and len(waiting) < _MOST_WAITING_BYTES:
            waiting += read
        elif waiting:
            waiting += read
            yield bytes(waiting)
            waiting.clear()
        else:
            yield read
    if waiting:
        yield bytes(waiting)
