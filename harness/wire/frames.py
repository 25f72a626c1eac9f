"""Frames: each is one event of a body, or a complete body that is not a stream; a size limit."""

from abc import ABC, abstractmethod
from typing import Final

import msgspec

from harness.errors import StreamError


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One part of the body that a framing decoder found.

    Fields:
        data: the payload; the data lines of one event joined by a newline.
        event: the event's name; "" if the stream gives none.
        offset: bytes from the start of the body to the first payload line, with which a report can
            point to the bytes.
        complete: False if the stream ended inside this frame. The WHATWG algorithm drops such an
            event. For an LLM stream it shows a truncated turn, so it is emitted and marked.
        failure: the code with which the framing itself reports that the stream failed: the type
            of an AWS exception, or `bad_event` for a message whose checksum is wrong; ""
            if it does not. Such a frame is never complete.
    """

    data: bytes
    event: str = ""
    offset: int = 0
    complete: bool = True
    failure: str = ""


# Larger than any event seen in the field (quirk SSE-HUGE-EVENT asks for at least 16 MiB).
MAX_EVENT_BYTES: Final = 64 * 1024 * 1024


def check_size(size: int, what: str, offset: int) -> None:
    """Refuse a frame of more than `MAX_EVENT_BYTES`.

    Raises:
        StreamError: the frame is larger.
    """
    if size > MAX_EVENT_BYTES:
        raise StreamError(f"{what} is larger than {MAX_EVENT_BYTES} bytes", offset=offset)


class BoundedDecoder(ABC):
    """Splits one body into frames, none larger than the limit."""

    def __init__(self) -> None:
        self._error: StreamError | None = None

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that `data` completes.

        Raises:
            StreamError: a frame is larger than the limit; the frames before it are returned
                first, and the error is raised by the call that follows.
        """
        if self._error is not None:
            raise self._error
        found: list[Frame] = []
        try:
            self._take(data, found)
        except StreamError as error:
            if not found:
                raise
            self._error = error
        return found

    def close(self) -> list[Frame]:
        """Return the frames that the end of the body completes or truncates.

        Raises:
            StreamError: as `feed`.
        """
        if self._error is not None:
            raise self._error
        return self._rest()

    @abstractmethod
    def _take(self, data: bytes, found: list[Frame]) -> None:
        """Append the frames that `data` completes to `found`."""

    @abstractmethod
    def _rest(self) -> list[Frame]:
        """Return the frame that is incomplete at the end of the body, if there is one."""


_SPACE = b" \t\r\n"


class PlainDecoder:
    """Stores the complete body, which becomes one frame at its end.

    Args:
        offset: the offset in the body of the first byte that it is fed.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Store `data`; no frame is emitted before the end.

        Raises:
            StreamError: the body is larger than the limit.
        """
        self._pieces.append(data)
        self._size += len(data)
        check_size(self._size, "a plain body", self._offset)
        return []

    def close(self) -> list[Frame]:
        """Return the body without white space at its end."""
        return [Frame(b"".join(self._pieces).rstrip(_SPACE), "", self._offset)]
