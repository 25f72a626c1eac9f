"""What decoders with a limit share: the frames before a breach are handed on first.

So where the reads end does not decide what is seen of a body that breaks its limit.
"""

from abc import ABC, abstractmethod

from harness.errors import StreamError
from harness.wire.frames import Frame


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
        """Return the frame that the end of the body cut short, if there is one."""
