"""Reads -> frames, told by the first bytes: an event stream, or one plain body.

A server that ignores `stream: true` answers with one JSON object, and a proxy with a page of
HTML; neither has events, and dropping them would make an empty success. Such a body becomes
one frame, and the dialect says what it means.
"""

from collections.abc import Iterable, Iterator

from harness.errors import StreamError
from harness.wire.frames import Frame
from harness.wire.sse import MAX_EVENT_BYTES, SSEDecoder

_SPACE = b" \t\r\n"
_BLANK = _SPACE + b"\xef\xbb\xbf"
_PLAIN_STARTS = (b"{", b"[", b"<")


def sse_frames(reads: Iterable[bytes]) -> Iterator[Frame]:
    """Yield the frames of `reads` as soon as each is complete.

    However many blanks come first (servers send them while a model is busy), the first other
    byte decides; an event stream that has only blanks so far has no frame either.

    Raises:
        StreamError: an event or a plain body is larger than the limit of the framing.
    """
    decoder = SSEDecoder()
    rest = iter(reads)
    blanks = 0
    for read in rest:
        start = read.lstrip(_BLANK)
        if start.startswith(_PLAIN_STARTS):
            yield _plain_body(start, rest, blanks + len(read) - len(start))
            return
        yield from decoder.feed(read)
        if start:
            break
        blanks += len(read)
    for read in rest:
        yield from decoder.feed(read)
    yield from decoder.close()


def _plain_body(start: bytes, rest: Iterable[bytes], offset: int) -> Frame:
    pieces: list[bytes] = []
    size = 0
    for read in (start, *rest):
        pieces.append(read)
        size += len(read)
        if size > MAX_EVENT_BYTES:
            limit = f"a plain body is larger than {MAX_EVENT_BYTES} bytes"
            raise StreamError(limit, offset=offset)
    return Frame(b"".join(pieces).rstrip(_SPACE), "", offset)
