"""NDJSON, sans-IO: one JSON value a line; bytes in as the network cuts them, frames out.

A JSON document over several lines begins in the same way. The first line decides: where it
is no whole value, the body is one document. The last line may lack its line end.
Source: https://github.com/ndjson/ndjson-spec
"""

from harness.wire import limits
from harness.wire.bounded import BoundedDecoder
from harness.wire.frames import Frame
from harness.wire.limits import check_size
from harness.wire.payload import NotJson, decode_json
from harness.wire.plain_body import PlainDecoder

_SPACE = b" \t\r"


class LineDecoder(BoundedDecoder):
    """Decode one body that begins with `{`.

    Args:
        offset: of the first byte that it is fed.
    """

    def __init__(self, offset: int = 0) -> None:
        super().__init__()
        self._offset = offset  # of the unfinished line
        self._tail: list[bytes] = []
        self._size = 0
        self._is_lines = False
        self._document: PlainDecoder | None = None

    def _take(self, data: bytes, found: list[Frame]) -> None:
        if self._document is not None:
            found += self._document.feed(data)
            return
        if b"\n" not in data:
            self._keep(data)
            return
        block = b"".join((*self._tail, data))
        self._tail, self._size = [], 0
        if not self._is_lines:
            check_size(block.index(b"\n"), "a line", self._offset)
            if not holds_lines(block):
                self._document = PlainDecoder(self._offset)
                found += self._document.feed(block)
                return
            self._is_lines = True
        *lines, tail = block.split(b"\n")
        is_small = len(block) <= limits.MAX_EVENT_BYTES
        for line in lines:
            if is_small and line.startswith(b"{") and line.endswith(b"}"):
                found.append(Frame(line, "", self._offset))  # no blank to take off
                self._offset += len(line) + 1
            else:
                found += self._line(line, complete=True)
        self._keep(tail)

    def _rest(self) -> list[Frame]:
        if self._document is not None:
            return [_maybe_cut(frame) for frame in self._document.close()]
        # A body of one line is a document as well.
        found = self._line(b"".join(self._tail), complete=not self._is_lines)
        return [_maybe_cut(frame) for frame in found]

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._tail.append(piece)
            self._size += len(piece)
            check_size(self._size, "a line", self._offset)

    def _line(self, line: bytes, *, complete: bool) -> list[Frame]:
        check_size(len(line), "a line", self._offset)
        start = self._offset
        self._offset += len(line) + 1
        payload = line.strip(_SPACE)
        if not payload:
            return []
        return [Frame(payload, "", start + line.index(payload[:1]), complete)]


def holds_lines(body: bytes) -> bool:
    """Return whether the first line of `body` is a whole JSON value, so that others may follow."""
    try:
        decode_json(body.partition(b"\n")[0])
    except NotJson:
        return False
    return True


def _maybe_cut(frame: Frame) -> Frame:
    """Mark a document that does not end as an object ends: the body ended inside of it."""
    whole = frame.complete and frame.data.endswith(b"}")
    return Frame(frame.data, frame.event, frame.offset, whole)
