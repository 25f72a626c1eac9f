"""Stop a normalizer that does not come back.

A timer signal interrupts even a loop in pure Python. It needs the main thread of a process
(each worker process of a run has one) and a system with interval timers; elsewhere only the
limit on the number of deltas holds.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class DeadlineExceeded(BaseException):
    """The time of one replay is over."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `DeadlineExceeded` in the block once `seconds` have passed."""
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and hasattr(signal, "setitimer")):
        yield
        return
    before = signal.signal(signal.SIGALRM, _expired)
    # Repeating, since code that swallows the first one must not hang for ever.
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _expired(_signal: int, _frame: FrameType | None) -> None:
    raise DeadlineExceeded
