"""Capture what code under test writes to standard output and standard error, job by job.

Both go to a file of the worker process. So the file also has what C code and other processes
write, and it still exists after the process has ended.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2
# A client may write without end until its deadline.
_MOST_BYTES: Final = 16 << 20
_WATCH_SECONDS: Final = 0.5
_KEPT_BYTES: Final = 8 << 10  # at the beginning, and as many at the end


class CapturedOutput:
    """Captures the output of this process. Make only one in a process."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._file = os.open(folder / str(os.getpid()), flags, 0o600)
        self.clear()
        threading.Thread(target=self._bound, daemon=True).start()

    def clear(self) -> None:
        """Discard the output so far, and capture both streams again if a client redirected them."""
        for descriptor in (_STANDARD_OUTPUT, _STANDARD_ERROR):
            os.dup2(self._file, descriptor)
        os.ftruncate(self._file, 0)

    def text(self) -> str:
        """Return what the process wrote since `clear`, without the middle if it is long."""
        for stream in (sys.stdout, sys.stderr):
            with suppress(BaseException):  # the code under test may have put anything there
                stream.flush()
        return _text_of(self._file)

    def _bound(self) -> None:
        while True:
            time.sleep(_WATCH_SECONDS)
            if os.fstat(self._file).st_size > _MOST_BYTES:
                os.ftruncate(self._file, 0)
                os.write(self._file, b"[more was written before, and is left out]\n")


def output_in(folder: Path) -> str:
    """Return what the processes with `folder` as their output folder wrote in their last jobs."""
    return "".join(_texts_in(folder))


def _texts_in(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        file = os.open(path, os.O_RDONLY)
        try:
            yield _text_of(file)
        finally:
            os.close(file)


def _text_of(file: int) -> str:
    size = os.fstat(file).st_size
    kept = os.pread(file, _KEPT_BYTES, 0)
    left_out = size - 2 * _KEPT_BYTES
    if left_out > 0:
        kept += b"\n[%d bytes are left out]\n" % left_out
    kept += os.pread(file, _KEPT_BYTES, max(_KEPT_BYTES, size - _KEPT_BYTES))
    return kept.decode("utf-8", "replace")
