"""Stop a normalizer that does not come back.

A timer signal interrupts even a loop in pure Python. It needs the main thread of a process
(each worker process of a run has one) and a system with interval timers; elsewhere only the
limit on the number of deltas holds.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_CLEANUP_SECONDS = 0.5
_REPEAT_SECONDS = 0.001
_AT_ONCE = 1e-6  # a timer of 0 would never go off


class DeadlineExceeded(BaseException):
    """The time of one replay is over."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `DeadlineExceeded` in the block once `seconds` have passed.

    A timer that somebody else had set, such as a test's own time limit, goes on afterwards.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and hasattr(signal, "setitimer")):
        yield
        return
    before = signal.signal(signal.SIGALRM, _expired)
    others = signal.setitimer(signal.ITIMER_REAL, seconds)
    started = time.monotonic() if others[0] else 0.0
    try:
        yield
    finally:
        _stop_timer()
        signal.signal(signal.SIGALRM, before)
        if others[0]:
            left = max(others[0] - (time.monotonic() - started), _AT_ONCE)
            signal.setitimer(signal.ITIMER_REAL, left, others[1])


def _stop_timer() -> None:
    """Stop the timer, even where it goes off right now."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except DeadlineExceeded:
            continue
        return


def _expired(_signal: int, _frame: FrameType | None) -> None:
    """Raise now, and go on raising: code that swallows one must not hang for ever.

    A loop that catches everything is left when one comes between two of its rounds.
    """
    _, repeats = signal.getitimer(signal.ITIMER_REAL)
    if not repeats:
        signal.setitimer(signal.ITIMER_REAL, _CLEANUP_SECONDS, _REPEAT_SECONDS)
    raise DeadlineExceeded
