"""Decode server-sent events to frames, however the network split the bytes (sans-IO).

The decoder follows the WHATWG algorithm exactly (HTML Standard, 9.2.6 "Interpreting an event
stream"), with three additions that it permits. Every frame has its offset. Memory is bounded. An
event that is incomplete at the end of the stream becomes a frame with `complete=False`.

The decoder compares bytes. No byte of a multi-byte character is a line end or a colon, so
decoding the payload later gives the same events.
"""

import re

from harness.errors import StreamError
from harness.wire.frames import MAX_EVENT_BYTES, BoundedDecoder, Frame

_BOM = b"\xef\xbb\xbf"
# To look for a byte as a number takes a third of the time that one as text takes.
_LF, _CR = b"\n\r"
_DIGITS = frozenset(b"0123456789")
_LINE_END = re.compile(rb"\r\n|\r|\n")
# A longer time than this is for ever, and no number to calculate with.
_RETRY_DIGITS = 18
_NEVER_MS = 10**_RETRY_DIGITS
# What precedes the data of an event is short, and mostly the same again and again.
_HEAD_BYTES = 200
_HEADS_KEPT = 256
_EVENT_NAMES: dict[bytes, str] = {}
# How JSON, HTML, compressed bodies and messages of AWS begin.
_NOT_EVENTS = (b"[", b"<", b"\x1f", b"{", b"\0")
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


class SSEDecoder(BoundedDecoder):
    """Decodes one stream: call `feed` with each read, and then `close`.

    `last_event_id` and `retry_ms` are the latest values of the `id` and `retry` fields, as in the
    algorithm. `retry_ms` is None until a valid one arrives.

    Args:
        max_event_bytes: the limit for one event: its payload so far plus the current line,
            field name included. The limit does not depend on where the reads end.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        super().__init__()
        self.last_event_id = b""
        self.retry_ms: int | None = None
        self._max = max_event_bytes
        self._tail = bytearray()  # the unfinished line
        self._line_start = 0  # offset of the line that comes next
        self._at_start = True  # a byte order mark may still come
        self._after_cr = False  # the LF of a CRLF may still come
        self._data: list[bytes] = []
        self._data_size = 0
        self._offset = 0
        self._event = b""
        self._id = b""

    def _rest(self) -> list[Frame]:
        """Process the unfinished last line, if it is a `data` field; ignore other fields."""
        line = bytes(self._tail)
        self._tail.clear()
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add_data(value.removeprefix(b" "), self._line_start)
        return [self._frame(complete=False)] if self._data else []

    def _take(self, data: bytes, found: list[Frame]) -> None:
        if self._after_cr and data:
            self._after_cr = False
            # A read may end between CR and LF, which are one line end.
            if data.startswith(b"\n"):
                data = data[1:]
                self._line_start += 1
        if _LF not in data and _CR not in data:
            self._tail += data
            # Asked here, because a body that comes byte by byte spends most of its time here.
            if self._at_start or len(self._tail) + self._data_size > self._max:
                self._check_tail()
            return
        block = bytes(self._tail + data) if self._tail else data
        self._tail.clear()
        if self._at_start:
            block = block[self._skip_bom(block) :]
        if taken := self._take_events(block, found):
            block = block[taken:]
            if not block:
                return
        lines = block.splitlines(keepends=True)
        # A CR ends its line at once; the LF that may follow it belongs to the same end.
        self._after_cr = lines[-1].endswith(b"\r")
        has_tail = not self._after_cr and not lines[-1].endswith(b"\n")
        tail = lines.pop() if has_tail else b""
        # Where all of it fits into one event, no line of it needs to be measured.
        self._take_lines(lines, found, measured=len(block) + self._data_size > self._max)
        if tail:
            self._tail += tail
            self._check_tail()

    def _check_tail(self) -> None:
        """Remove a byte order mark from the unfinished line, and check the line's size."""
        if self._at_start and len(self._tail) >= len(_BOM):
            del self._tail[: self._skip_bom(self._tail)]
        self._check_size(len(self._tail))

    def _skip_bom(self, block: bytes | bytearray) -> int:
        """Return the length of the byte order mark at the start of the stream: 3, or 0 if none."""
        self._at_start = False
        # The decoding of WHATWG removes one byte order mark, at the start of the stream only.
        size = len(_BOM) if block.startswith(_BOM) else 0
        self._line_start += size
        return size

    def _take_events(self, block: bytes, frames: list[Frame]) -> int:
        """Append the complete events of `block` to `frames`, most of them in one step.

        Nearly all events of nearly all providers have one data line, and such an event takes a
        third
        of the time of reading line by line. Returns the number of bytes processed. It is 0 if line
        ends
        are mixed or a size must be checked; the caller then reads line by line.
        """
        line_end = b"\r\n" if _CR in block else b"\n"
        blank = line_end * 2
        end = _events_end(block, blank)
        if not end or len(block) + self._data_size > self._max:
            return 0
        events = block[: end - len(blank)].split(blank)
        if self._data or self._event:  # the first one began in a read before
            self._take_whole(events.pop(0) + blank, frames)
        # A block without the space has it nowhere; one that mixes is taken line by line.
        border = line_end + b"data: "
        border = border if border in block else border[:-1]
        gap, end_size, name_of, add = len(blank), len(line_end), _EVENT_NAMES.get, frames.append
        name: str | None
        start = self._line_start
        for event in events:
            if event.startswith(b"data:"):
                name, place = "", start
                payload = event[6:] if event.startswith(b"data: ") else event[5:]
            else:
                head, found, payload = event.partition(border)
                place = start + len(head) + end_size
                name = None
                if found:
                    name = name_of(head)
                    if name is None:
                        name = self._take_head(head, line_end)
            if name is None or _LF in payload:
                self._line_start = start
                self._take_whole(event + blank, frames)
            else:
                add(Frame(payload, name, place))
            start += len(event) + gap
        self._line_start = start
        self.last_event_id = self._id
        return end

    def _take_head(self, head: bytes, line_end: bytes) -> str | None:
        """Store the `id` in the lines before an event's data, and return the event's name.

        Returns None if the lines contain anything but one `id` followed by names and comments.
        """
        number, _, rest = head.partition(line_end) if head.startswith(b"id:") else (b"", b"", head)
        name = _EVENT_NAMES.get(rest)
        if name is None and len(head) <= _HEAD_BYTES:
            name = _name_in(rest)
        if name is not None and number and b"\0" not in number:
            self._id = number[3:].removeprefix(b" ")
        return name

    def _take_whole(self, event: bytes, frames: list[Frame]) -> None:
        """Process one complete event line by line, including its blank line."""
        self._take_lines(event.splitlines(keepends=True), frames, measured=False)

    def _take_lines(self, lines: list[bytes], frames: list[Frame], *, measured: bool) -> None:
        for line in lines:
            if measured:
                self._check_size(len(line.rstrip(b"\r\n")))
            start = self._line_start
            self._line_start = start + len(line)
            if line.startswith(b"data: "):
                self._add_data(line[6:].rstrip(b"\r\n"), start)
            elif line in (b"\n", b"\r\n", b"\r"):
                self.last_event_id = self._id
                if self._data:
                    frames.append(self._frame())
                self._event = b""
            # A line that starts with a colon is a comment, which gateways use as a keep-alive.
            elif not line.startswith(b":"):
                self._field(line.rstrip(b"\r\n"), start)

    def _field(self, line: bytes, start: int) -> None:
        name, _, value = line.partition(b":")
        # Only one space after the colon is removed; a second one belongs to the value.
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add_data(value, start)
        elif name == b"event":
            self._event = value
        # The algorithm ignores an id with NUL, and a retry that is not only digits.
        elif name == b"id" and b"\0" not in value:
            self._id = value
        elif name == b"retry" and value and _DIGITS.issuperset(value):
            digits = value.lstrip(b"0")
            self.retry_ms = int(digits or b"0") if len(digits) <= _RETRY_DIGITS else _NEVER_MS

    def _add_data(self, value: bytes, start: int) -> None:
        if not self._data:
            self._offset = start
        self._data.append(value)
        self._data_size += len(value) + 1

    def _frame(self, *, complete: bool = True) -> Frame:
        data = self._data
        # Several data lines are one payload, joined by newlines (quirk SSE-MULTILINE-DATA).
        payload = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        self._data_size = 0
        event = self._event.decode("utf-8", "replace") if self._event else ""
        return Frame(payload, event, self._offset, complete)

    def _check_size(self, line_size: int) -> None:
        if line_size + self._data_size > self._max:
            raise StreamError(
                f"one event is larger than {self._max} bytes", offset=self._line_start
            )


def _events_end(block: bytes, blank: bytes) -> int:
    """Return the end of the last complete event of `block`; 0 if none or line ends are mixed."""
    end = block.rfind(blank) + len(blank)
    if end < len(blank) or (_CR in blank and not _is_crlf(block, end)):
        return 0
    return end


def _is_crlf(block: bytes, end: int) -> bool:
    """Return whether every line end of `block` up to `end` is CRLF."""
    pairs = block.count(b"\r\n", 0, end)
    return block.count(b"\r", 0, end) == block.count(b"\n", 0, end) == pairs


def _name_in(head: bytes) -> str | None:
    """Return the event's name if the lines are only comments and `event` fields; else None."""
    name = b""
    for line in _LINE_END.split(head) if head else ():
        field, _, value = line.partition(b":")
        if field == b"event":
            name = value.removeprefix(b" ")
        elif field or not line:
            return None
    text = name.decode("utf-8", "replace")
    if len(_EVENT_NAMES) < _HEADS_KEPT:
        _EVENT_NAMES[head] = text
    return text


def encode(data: bytes, *, event: str = "", line_end: bytes = b"\n", space: bool = True) -> bytes:
    """Return the bytes of one event. A payload with line ends becomes several data lines.

    SSE has only newlines inside a payload, so a CR is read back as a newline. With `space=False`, a
    line that starts with a space still gets a space before it, because decoders remove one.
    """
    lines = [b"event: " + event.encode() if space else b"event:" + event.encode()] if event else []
    for line in _LINE_END.split(data):
        gap = b" " if space or line.startswith(b" ") else b""
        lines.append(b"data:" + gap + line)
    return line_end.join(lines) + line_end * 2


def ends_in_event(body: bytes) -> bool:
    """Return whether the last event of an event stream lacks its blank line.

    The specification of server-sent events discards such an event, so its content is unknown.
    """
    return bool(body) and not body.startswith(_NOT_EVENTS) and not body.endswith(_EVENT_ENDS)
