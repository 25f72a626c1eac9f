"""Frames: one event of a body each, or a complete body that is not a stream; their size limit."""

from abc import ABC, abstractmethod
from typing import Final

import msgspec

from harness.errors import StreamError


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a framing decoder cuts out of the body.

    Fields:
        data: the payload; the data lines of one event joined by a newline.
        event: the event's name; "" if the stream gives none.
        offset: bytes from the start of the body to the first payload line, the thread that
            leads a report back to the wire.
        complete: False if the stream ended inside this frame (WHATWG drops such an
            event; for an LLM stream it is a sign of truncation, so it is emitted marked).
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
        StreamError: it is larger.
    """
    if size > MAX_EVENT_BYTES:
        raise StreamError(f"{what} is larger than {MAX_EVENT_BYTES} bytes", offset=offset)


class BoundedDecoder(ABC):
    """Cuts one body into frames, none larger than the limit."""

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
        """Return what the end of the body leaves.

        Raises:
            StreamError: as `feed`.
        """
        if self._error is not None:
            raise self._error
        return self._rest()

    @abstractmethod
    def _take(self, data: bytes, found: list[Frame]) -> None:
        """Put the frames that `data` completes into `found`."""

    @abstractmethod
    def _rest(self) -> list[Frame]:
        """Return the frame that the end of the body truncated, if there is one."""


_SPACE = b" \t\r\n"


class PlainDecoder:
    """Keep the complete body; it is one frame when it is over.

    Args:
        offset: of the first byte that it is fed.
    """

    def __init__(self, offset: int = 0) -> None:
        self._offset = offset
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Keep `data`; nothing is emitted before the end.

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
