"""NDJSON, sans-IO: one JSON value a line; bytes in as the network cuts them, frames out.

A JSON document over several lines begins in the same way. The first line decides: where it
is no whole value, the body is one document. The last line may lack its line end.
Source: https://github.com/ndjson/ndjson-spec
"""

from harness.wire.frames import Frame
from harness.wire.limits import check_size
from harness.wire.payload import NotJson, decode_json
from harness.wire.plain_body import PlainDecoder

_SPACE = b" \t\r"


class LineDecoder:
    """Decode one body that begins with `{`.

    Args:
        offset: of the first byte that it is fed.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset  # of the unfinished line
        self._tail: list[bytes] = []
        self._size = 0
        self._is_lines = False
        self._document: PlainDecoder | None = None

    def feed(self, data: bytes) -> list[Frame]:
        """Return the lines that `data` completes.

        Raises:
            StreamError: a line is larger than the limit.
        """
        if self._document is not None:
            return self._document.feed(data)
        if b"\n" not in data:
            return self._keep(data)
        block = b"".join((*self._tail, data))
        self._tail, self._size = [], 0
        if not self._is_lines and not _is_value(block[: block.index(b"\n")]):
            self._document = PlainDecoder(self._offset)
            return self._document.feed(block)
        self._is_lines = True
        *lines, tail = block.split(b"\n")
        return self._lines(lines) + self._keep(tail)

    def close(self) -> list[Frame]:
        """Return what stands after the last line end, if anything does."""
        if self._document is not None:
            return self._document.close()
        tail = b"".join(self._tail).strip(_SPACE)
        # A body of one line is a document as well, and a document is never cut short here.
        return [Frame(tail, "", self._offset, not self._is_lines)] if tail else []

    def _keep(self, piece: bytes) -> list[Frame]:
        if piece:
            self._tail.append(piece)
            self._size += len(piece)
            check_size(self._size, "a line", self._offset)
        return []

    def _lines(self, lines: list[bytes]) -> list[Frame]:
        frames = []
        for line in lines:
            check_size(len(line), "a line", self._offset)
            if payload := line.strip(_SPACE):
                frames.append(Frame(payload, "", self._offset + line.index(payload[:1])))
            self._offset += len(line) + 1
        return frames


def _is_value(line: bytes) -> bool:
    try:
        decode_json(line)
    except NotJson:
        return False
    return True
