"""Split JSON lines, or the elements of one streamed JSON array, into frames (sans-IO).

If a frame exceeds the size limit, the decoders first return the frames before it, so that the
result does not depend on the cuts.
"""

import re

from harness.wire import frames
from harness.wire.frames import BoundedDecoder, Frame, PlainDecoder, check_size
from harness.wire.payload import NotJson, decode_json

_find_outside = re.compile(rb'[\[\]{}",]').search
_find_inside = re.compile(rb'["\\]').search
_SPACE = b" \t\r\n"
_INSIDE_ONE = 2  # the depth inside an element that has brackets
_STEPS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1, b",": 0}


class ElementDecoder(BoundedDecoder):
    """Decodes a body that is one JSON array: each element becomes a frame.

    Args:
        offset: the offset in the body of the first byte that `feed` gets, which is the `[`.
    """

    def __init__(self, offset: int = 0) -> None:
        super().__init__()
        self._offset = offset  # of the buffer
        self._buffer = bytearray()
        self._at = 0  # up to here the buffer was looked at
        self._start = 0  # of the element at hand
        self._depth = 0
        self._in_string = False

    def _take(self, data: bytes, found: list[Frame]) -> None:
        self._buffer += data
        buffer, at, in_string = self._buffer, self._at, self._in_string
        while (match := (_find_inside if in_string else _find_outside)(buffer, at)) is not None:
            mark, at = match[0], match.end()
            if mark == b'"':
                in_string = not in_string
            # A bracket inside a string is text, so strings are skipped with their escapes.
            elif mark != b"\\":
                self._pass(mark, at, found)
            elif at == len(buffer):  # what it escapes is yet to come
                at -= 1
                break
            else:
                at += 1
        else:
            at = len(buffer)
        self._at, self._in_string = at, in_string
        self._forget()
        check_size(len(self._buffer), "an element", self._offset)

    def _rest(self) -> list[Frame]:
        rest = bytes(self._buffer[self._start :]) if self._depth else b""
        return self._frame(rest, complete=False)

    def _pass(self, mark: bytes, at: int, found: list[Frame]) -> None:
        """Process the bracket or comma `mark`, which ends at offset `at` of the buffer."""
        step = _STEPS[mark]
        before, self._depth = self._depth, self._depth + step
        if before > _INSIDE_ONE:
            return
        if before == _INSIDE_ONE and step < 0:  # over with its bracket, not with the comma
            found += self._frame(bytes(self._buffer[self._start : at]), complete=True)
        elif before == 1 and step <= 0:
            found += self._frame(bytes(self._buffer[self._start : at - 1]), complete=True)
        elif before or not step:
            return
        self._depth = max(0, self._depth)
        self._start = at

    def _frame(self, element: bytes, *, complete: bool) -> list[Frame]:
        check_size(len(element), "an element", self._offset + self._start)
        payload = element.strip(_SPACE)
        if not payload:
            return []
        offset = self._offset + self._start + element.index(payload[:1])
        return [Frame(payload, "", offset, complete)]

    def _forget(self) -> None:
        """Delete the bytes of emitted elements from the buffer."""
        done = self._start if self._depth else self._at
        del self._buffer[:done]
        self._offset += done
        self._at -= done
        self._start = 0


_LINE_SPACE = b" \t\r"
_OPENER, _CLOSER = b"{}"


class LineDecoder(BoundedDecoder):
    """Decodes a body that begins with `{`: JSON lines, or one indented JSON object.

    Args:
        offset: the offset in the body of the first byte that `feed` gets, which is the `{`.
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
            # A first line that is not a JSON value is the start of an indented document.
            if not holds_lines(block):
                self._document = PlainDecoder(self._offset)
                found += self._document.feed(block)
                return
            self._is_lines = True
        lines = block.split(b"\n")
        tail = lines.pop()
        is_small, add, start = len(block) <= frames.MAX_EVENT_BYTES, found.append, self._offset
        for line in lines:
            if is_small and line and line[0] == _OPENER and line[-1] == _CLOSER:
                add(Frame(line, "", start))  # no blank to take off
            else:
                self._offset = start
                found += self._line(line, complete=True)
            start += len(line) + 1
        self._offset = start
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
        # NDJSON permits CRLF, and white space around a value.
        payload = line.strip(_LINE_SPACE)
        if not payload:
            return []
        return [Frame(payload, "", start + line.index(payload[:1]), complete)]


def holds_lines(body: bytes) -> bool:
    """Return whether the first line of `body` is a JSON value, so that further lines may follow."""
    try:
        decode_json(body.partition(b"\n")[0])
    except NotJson:
        return False
    return True


def _maybe_cut(frame: Frame) -> Frame:
    """Return the frame, marked as incomplete unless it ends like a JSON object."""
    whole = frame.complete and frame.data.endswith(b"}")
    return Frame(frame.data, frame.event, frame.offset, whole)
