"""Stop a normalizer that does not come back.

A timer signal interrupts even a loop in pure Python. It needs the main thread of a process
(each worker process of a run has one) and a system with interval timers; elsewhere only the
limit on the number of deltas holds.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, TracebackType

_CLEANUP_SECONDS = 0.5
_REPEAT_SECONDS = 0.001
_HAS_TIMERS = hasattr(signal, "setitimer")
_AT_ONCE = 1e-6  # a timer of 0 would never go off


class DeadlineExceeded(BaseException):
    """The time of one replay is over."""


class _State:
    """Whether the handler is in place in this process; only the main thread looks at it."""

    handled = False
    guarded = False  # a replay is under way: only then may the handler raise


def deadline(seconds: float) -> AbstractContextManager[None]:
    """Return a block in which `DeadlineExceeded` is raised once `seconds` have passed."""
    if threading.get_ident() != threading.main_thread().ident or not _HAS_TIMERS:
        return nullcontext()
    return _Armed(seconds) if _State.handled else _alone(seconds)


@contextmanager
def deadlines() -> Iterator[None]:
    """Keep the handler in place for many deadlines, since putting it there costs as much as one.

    A timer that somebody else had set, such as a test's own time limit, goes on afterwards.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and _HAS_TIMERS) or _State.handled:
        yield
        return
    before = signal.signal(signal.SIGALRM, _expired)
    others = signal.setitimer(signal.ITIMER_REAL, 0)
    started = time.monotonic() if others[0] else 0.0
    _State.handled = True
    try:
        yield
    finally:
        _State.handled = False
        _stop_timer()
        signal.signal(signal.SIGALRM, before)
        if others[0]:
            left = max(others[0] - (time.monotonic() - started), _AT_ONCE)
            signal.setitimer(signal.ITIMER_REAL, left, others[1])


@contextmanager
def _alone(seconds: float) -> Iterator[None]:
    with deadlines(), _Armed(seconds):
        yield


class _Armed:
    """The timer runs in the block; a class, since it is entered for every replay."""

    __slots__ = ("_seconds",)

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        # First the timer: one that is left of a replay before must not go off in this one.
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        _State.guarded = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The timer is left to the next replay, or to the end of all: stopping it here would
        # cost as much as starting it.
        _State.guarded = False


def disarm() -> None:
    """Make sure that nothing is raised from here on, however the block was left."""
    _State.guarded = False


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
    if not _State.guarded:
        signal.setitimer(signal.ITIMER_REAL, 0)
        return
    _, repeats = signal.getitimer(signal.ITIMER_REAL)
    if not repeats:
        signal.setitimer(signal.ITIMER_REAL, _CLEANUP_SECONDS, _REPEAT_SECONDS)
    raise DeadlineExceeded
