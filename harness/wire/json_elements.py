"""One JSON array, sans-IO: bytes in as the network cuts them, one frame for each element.

Gemini answers so without `alt=sse`, and sends each element as soon as it has it. Brackets
are counted from where the last read stopped, so the time is linear in the body; whether an
element is JSON is for its reader to say.
Source: https://ai.google.dev/api/generate-content (streamGenerateContent)
"""

import re

from harness.wire.bounded import BoundedDecoder
from harness.wire.frames import Frame
from harness.wire.limits import check_size

_OUTSIDE = re.compile(rb'[\[\]{}",]')
_INSIDE = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"
_INSIDE_ONE = 2  # the depth inside an element that has brackets
_STEPS = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


class ElementDecoder(BoundedDecoder):
    """Decode one body that begins with `[`.

    Args:
        offset: of the first byte that it is fed.
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
        while (mark := self._next_mark()) is not None:
            self._pass(mark, found)
        self._forget()
        check_size(len(self._buffer), "an element", self._offset)

    def _rest(self) -> list[Frame]:
        rest = bytes(self._buffer[self._start :]) if self._depth else b""
        return self._frame(rest, complete=False)

    def _next_mark(self) -> bytes | None:
        """Return the next byte that matters, and stop behind it."""
        match = (_INSIDE if self._in_string else _OUTSIDE).search(self._buffer, self._at)
        if match is None:
            self._at = len(self._buffer)
            return None
        mark = match[0]
        if mark == b"\\":
            if match.end() == len(self._buffer):  # what it escapes is yet to come
                self._at = match.start()
                return None
            self._at = match.end() + 1
            return mark
        self._at = match.end()
        return mark

    def _pass(self, mark: bytes, found: list[Frame]) -> None:
        if mark == b'"':
            self._in_string = not self._in_string
            return
        step = _STEPS.get(mark, 0)
        before, self._depth = self._depth, max(0, self._depth + step)
        if before == _INSIDE_ONE and step < 0:  # over with its bracket, not with the comma
            found += self._frame(bytes(self._buffer[self._start : self._at]), complete=True)
        elif before == 1 and (mark == b"," or step < 0):
            found += self._frame(bytes(self._buffer[self._start : self._at - 1]), complete=True)
        elif before or not step:
            return
        self._start = self._at

    def _frame(self, element: bytes, *, complete: bool) -> list[Frame]:
        check_size(len(element), "an element", self._offset + self._start)
        payload = element.strip(_SPACE)
        if not payload:
            return []
        offset = self._offset + self._start + element.index(payload[:1])
        return [Frame(payload, "", offset, complete)]

    def _forget(self) -> None:
        """Let go of what was handed on."""
        done = self._start if self._depth else self._at
        del self._buffer[:done]
        self._offset += done
        self._at -= done
        self._start = 0
