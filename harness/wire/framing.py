"""Reads -> frames, told by the first bytes: an event stream, or one plain body.

A server that ignores `stream: true` answers with one JSON object, and a proxy with a page of
HTML; neither has events, and dropping them would make an empty success. Such a body becomes
one frame, and the dialect says what it means.
"""

from collections.abc import Iterable, Iterator

from harness.errors import StreamError
from harness.wire.frames import Frame
from harness.wire.sse import MAX_EVENT_BYTES, SSEDecoder

_BLANK = b" \t\r\n\xef\xbb\xbf"
_PLAIN_STARTS = (b"{", b"[", b"<")
_SNIFF_BYTES = 64


def sse_frames(reads: Iterable[bytes]) -> Iterator[Frame]:
    """Yield the frames of `reads` as soon as each is complete.

    Raises:
        StreamError: an event or a plain body is larger than the limit of the framing.
    """
    decoder = SSEDecoder()
    rest = iter(reads)
    start = b""
    for read in rest:
        start += read
        if start.lstrip(_BLANK) or len(start) > _SNIFF_BYTES:
            break
    if start.lstrip(_BLANK).startswith(_PLAIN_STARTS):
        yield _plain_body(start, rest)
        return
    yield from decoder.feed(start)
    for read in rest:
        yield from decoder.feed(read)
    yield from decoder.close()


def _plain_body(start: bytes, rest: Iterable[bytes]) -> Frame:
    pieces = [start]
    size = len(start)
    for read in rest:
        pieces.append(read)
        size += len(read)
        if size > MAX_EVENT_BYTES:
            raise StreamError(f"a plain body is larger than {MAX_EVENT_BYTES} bytes", offset=0)
    body = b"".join(pieces)
    return Frame(body.strip(_BLANK), "", len(body) - len(body.lstrip(_BLANK)))
