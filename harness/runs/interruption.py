"""Ctrl-C: the first asks to stop after the cells under way, the second stops at once.

A flag instead of an exception, so that no finished result is lost between a worker and the file.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal


class Interruption:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Ask to stop; when asked before, raise KeyboardInterrupt."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT into a request while the body runs.

    Off the main thread, and where SIGINT is ignored already (`nohup`), nothing changes.
    """
    interruption = Interruption()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or before is signal.SIG_IGN or before is None:
        yield interruption
        return
    signal.signal(signal.SIGINT, interruption.on_signal)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def sigint_held() -> Iterator[None]:
    """Keep SIGINT waiting while the body runs; processes started in it hold it too."""
    with _sigint("SIG_BLOCK"):
        yield


@contextmanager
def sigint_heard() -> Iterator[None]:
    """Let SIGINT through while the body runs, in a process that was started with it held."""
    with _sigint("SIG_UNBLOCK"):
        yield


@contextmanager
def _sigint(how: Literal["SIG_BLOCK", "SIG_UNBLOCK"]) -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks
        yield
        return
    before = signal.pthread_sigmask(getattr(signal, how), {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
