"""Treat SIGTERM as Ctrl-C in every command, and end the process within ten seconds after two.

After one signal, the command may still wait for a thread, a name server, or a pipe without a
reader. Its recordings and results are on the disk already. This module imports only the standard
library, because every command uses it at its start.
"""

import os
import signal
import threading
import time
from types import FrameType
from typing import Final

_INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM)
_SEVERAL: Final = 2
_SECONDS: Final = 8.0
_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2
_MESSAGE: Final = b"interrupted twice: the command did not end in time, so it was stopped\n"


class Interrupts:
    """Handles the interrupts of this process after `watch` was called.

    Args:
        code: the exit code of the process if an interrupt ends it.
    """

    def __init__(self, code: int) -> None:
        self._code = code
        self._watching = False

    def watch(self) -> None:
        """Treat SIGTERM as SIGINT from now on, and end the process soon after a second signal."""
        self._watching = True
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=_end_after_two, args=(reader, self._code), daemon=True).start()
        signal.signal(signal.SIGTERM, _interrupt)

    def leave(self) -> None:
        """Let the next interrupt end the process at once, even if a pipe is full."""
        if self._watching:
            for number in _INTERRUPTS:
                if callable(signal.getsignal(number)):
                    signal.signal(number, lambda *_: os._exit(self._code))
            os.dup2(os.open(os.devnull, os.O_WRONLY), _STANDARD_OUTPUT)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # ignored, as `nohup` does
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _end_after_two(reader: int, code: int) -> None:
    """Count the interrupts in a separate thread; some seconds after the second, end the process."""
    count = 0
    while count < _SEVERAL:
        count += sum(number in _INTERRUPTS for number in os.read(reader, 64))
    time.sleep(_SECONDS)
    os.write(_STANDARD_ERROR, _MESSAGE)
    os._exit(code)
