"""A body that is no stream -> one frame: a JSON document, a page of HTML, compressed bytes."""

from harness.wire.frames import Frame
from harness.wire.limits import check_size

_SPACE = b" \t\r\n"


class PlainDecoder:
    """Keep the whole body; it is one frame when it is over.

    Args:
        offset: of the first byte that it is fed.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Keep `data`; nothing is said before the end.

        Raises:
            StreamError: the body is larger than the limit.
        """
        self._pieces.append(data)
        self._size += len(data)
        check_size(self._size, "a plain body", self._offset)
        return []

    def close(self) -> list[Frame]:
        """Return the body without the blanks at its end."""
        return [Frame(b"".join(self._pieces).rstrip(_SPACE), "", self._offset)]
