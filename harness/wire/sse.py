"""Server-sent events, sans-IO: bytes in as the network cuts them, frames out.

Exact to the WHATWG algorithm (HTML Standard, 9.2.6 "Interpreting an event stream"), with
three things it leaves open: every frame has its offset, memory is bounded, and an event that
the end of the stream cuts short is handed on as incomplete instead of being swallowed.
Fields are matched on bytes; since no byte of a multi-byte character is a line end or a
colon, decoding the payload later gives the same events.
"""

from collections.abc import Iterator

from harness.errors import StreamError
from harness.wire.frames import Frame

# Larger than any event seen in the field (quirk SSE-HUGE-EVENT asks for at least 16 MiB).
MAX_EVENT_BYTES = 64 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_DIGITS = frozenset(b"0123456789")


class SSEDecoder:
    """Decode one stream; `feed` reads as they come, then `close`.

    `last_event_id` and `retry_ms` hold what `id` and `retry` fields said so far, as the
    algorithm has them; `retry_ms` is None until a valid one came.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.last_event_id = b""
        self.retry_ms: int | None = None
        self._max = max_event_bytes
        self._tail: list[bytes] = []  # the unfinished line, in pieces
        self._tail_size = 0
        self._line_start = 0  # offset of the line that comes next
        self._at_start = True  # a byte order mark may still come
        self._after_cr = False  # the LF of a CRLF may still come
        self._data: list[bytes] = []
        self._data_size = 0
        self._offset = 0
        self._event = b""
        self._id = b""

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the events that `data` completes.

        Raises:
            StreamError: an event is larger than the limit.
        """
        if self._after_cr and data:
            self._after_cr = False
            if data.startswith(b"\n"):
                data = data[1:]
                self._line_start += 1
        if b"\n" not in data and b"\r" not in data:
            self._keep_tail(data)
            return
        block = b"".join([*self._tail, data]) if self._tail else data
        self._tail.clear()
        self._tail_size = 0
        if self._at_start:
            block = self._strip_bom(block)
        lines = block.splitlines(keepends=True)
        # A CR ends its line at once; the LF that may follow it belongs to the same end.
        self._after_cr = lines[-1].endswith(b"\r")
        if not self._after_cr and not lines[-1].endswith(b"\n"):
            self._keep_tail(lines.pop())
        yield from self._lines(lines)

    def close(self) -> Iterator[Frame]:
        """Yield what the end of the stream makes final, and the event it cut short."""
        block = b"".join(self._tail)
        self._tail.clear()
        if self._at_start:
            block = self._strip_bom(block)
        yield from self._lines(block.splitlines(keepends=True))
        if self._data:
            yield self._frame(complete=False)

    def _keep_tail(self, piece: bytes) -> None:
        if piece:
            self._tail.append(piece)
            self._tail_size += len(piece)
            self._check_size(self._tail_size + self._data_size)

    def _strip_bom(self, block: bytes) -> bytes:
        self._at_start = False
        if not block.startswith(_BOM):
            return block
        self._line_start += len(_BOM)
        return block[len(_BOM) :]

    def _lines(self, lines: list[bytes]) -> Iterator[Frame]:
        for line in lines:
            start = self._line_start
            self._line_start = start + len(line)
            if line.startswith(b"data: "):  # nearly every line of every provider
                self._add_data(line[6:].rstrip(b"\r\n"), start)
            elif line in (b"\n", b"\r\n", b"\r"):
                self.last_event_id = self._id
                if self._data:
                    yield self._frame()
                self._event = b""
            elif not line.startswith(b":"):
                self._field(line.rstrip(b"\r\n"), start)

    def _field(self, line: bytes, start: int) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add_data(value, start)
        elif name == b"event":
            self._event = value
        elif name == b"id" and b"\0" not in value:
            self._id = value
        elif name == b"retry" and value and _DIGITS.issuperset(value):
            self.retry_ms = int(value[:18])

    def _add_data(self, value: bytes, start: int) -> None:
        if not self._data:
            self._offset = start
        self._data.append(value)
        self._data_size += len(value) + 1
        if self._data_size > self._max:
            self._check_size(self._data_size)

    def _frame(self, *, complete: bool = True) -> Frame:
        data = self._data
        payload = data[0] if len(data) == 1 else b"\n".join(data)
        data.clear()
        self._data_size = 0
        event = self._event.decode("utf-8", "replace") if self._event else ""
        return Frame(payload, event, self._offset, complete)

    def _check_size(self, size: int) -> None:
        if size > self._max:
            raise StreamError(
                f"one event is larger than {self._max} bytes", offset=self._line_start
            )


def encode(data: bytes, *, event: str = "", line_end: bytes = b"\n", space: bool = True) -> bytes:
    """Spell one event; a payload with line ends becomes several data lines."""
    gap = b" " if space else b""
    lines = [b"event:" + gap + event.encode()] if event else []
    lines += [b"data:" + gap + line for line in data.split(b"\n")]
    return line_end.join(lines) + line_end * 2
