"""A body that no other framing claims -> server-sent events, or words that are none.

`404 page not found` and a compressed body have lines and no event. Dropping them, as an event
stream drops a field that it does not know, would lose the only words that the server said, so
a body that gave no event at all is handed on by its first bytes.
"""

from harness.wire.frames import Frame
from harness.wire.sse import SSEDecoder

_BOM = b"\xef\xbb\xbf"
_KEPT_BYTES = 300
# How the lines begin that an event stream without an event may still hold.
_FIELDS = (b":", b"data", b"event", b"id", b"retry")


class EventStreamDecoder:
    """Decode one body; `SSEDecoder` with a memory for what was no event."""

    def __init__(self) -> None:
        self._events = SSEDecoder()
        self._head = b""
        self._came = False

    def feed(self, data: bytes) -> list[Frame]:
        """Return the events that `data` completes.

        Raises:
            StreamError: an event is larger than the limit.
        """
        found = self._events.feed(data)
        if found:
            self._came = True
        elif not self._came and len(self._head) < _KEPT_BYTES:
            self._head += data[: _KEPT_BYTES - len(self._head)]
        return found

    def close(self) -> list[Frame]:
        """Return the event that the end cut short, or the words of a body without any.

        Raises:
            StreamError: as `feed`.
        """
        found = self._events.close()
        if found or self._came:
            return found
        words = self._head.strip().removeprefix(_BOM).strip()
        is_stream = all(line.startswith(_FIELDS) for line in words.splitlines() if line.strip())
        return [] if is_stream else [Frame(words, "", self._head.index(words))]
