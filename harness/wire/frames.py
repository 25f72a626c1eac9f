"""Define frames (one event, or a complete body that is not a stream) and their size limit."""

from abc import ABC, abstractmethod
from typing import Final

import msgspec

from harness.errors import StreamError


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One event in a body, or the complete body if it is not a stream.

    Fields:
        data: the payload; the data lines of one event joined by a newline.
        event: the event's name; "" if the stream gives none.
        offset: bytes from the start of the body to the first payload line, with which a report can
            point to the bytes.
        complete: False if the stream ended inside this frame. The WHATWG algorithm drops such an
            event. For an LLM stream it shows a truncated turn, so the decoder emits it.
        failure: the error code if the framing reports that the stream failed: the type of an AWS
            exception, or `bad_event` for a message with a wrong checksum. Otherwise "". A
            frame with a failure is never complete.
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

    Args:
        size: the number of bytes.
        what: the name of the frame in the error message, such as "a line".
        offset: its offset in the body, for the error.

    Raises:
        StreamError: the frame is larger.
    """
    if size > MAX_EVENT_BYTES:
        raise StreamError(f"{what} is larger than {MAX_EVENT_BYTES} bytes", offset=offset)


class BoundedDecoder(ABC):
    """Base of the decoders that split a body into frames and limit the size of a frame."""

    def __init__(self) -> None:
        self._error: StreamError | None = None

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that `data` completes.

        Raises:
            StreamError: a frame is larger than the limit. If `data` also completes frames before
                it,
                `feed` returns them, and the next call raises the error.
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
        """Return the frame that the end of the body completes or truncates; [] if there is none.

        Raises:
            StreamError: a frame is larger than the limit.
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
    """Collects a complete body that is not a stream, and returns it as one frame at the end.

    Args:
        offset: the offset in the body of the first byte that `feed` gets.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Store `data` and return no frame, because only the end of the body completes the frame.

        Raises:
            StreamError: the body is larger than the limit.
        """
        self._pieces.append(data)
        self._size += len(data)
        check_size(self._size, "a plain body", self._offset)
        return []

    def close(self) -> list[Frame]:
        """Return the body as one frame, without white space at its end."""
        return [Frame(b"".join(self._pieces).rstrip(_SPACE), "", self._offset)]
