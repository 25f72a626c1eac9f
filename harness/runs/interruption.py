"""Ctrl-C: the first asks to stop after the cells under way, the second stops at once.

A flag instead of an exception, so that no finished result is lost between a worker and the file.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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
    """Keep SIGINT waiting while the body runs; processes started in it never see one."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
