"""SIGINT and SIGTERM as a request to stop: in a command, and between two jobs of a worker."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM)

# Whether the parent of this worker process asked it to stop, or the user a search in this process.
_is_stopped: Callable[[], bool] | None = None


def stop_requested() -> bool:
    """Return whether the parent of this worker process, or the user, asked it to stop."""
    return _is_stopped is not None and _is_stopped()


def stop_if(is_stopped: Callable[[], bool]) -> None:
    """Let `stop_requested` return what `is_stopped` does, in this worker process."""
    global _is_stopped  # noqa: PLW0603 - a process has one parent
    _is_stopped = is_stopped


class Interruption:
    """Whether the user asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def is_set(self) -> bool:
        """Whether it was requested."""
        return self.requested

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Request a stop; if it was requested before, raise KeyboardInterrupt."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT and SIGTERM into a request while the body runs.

    A flag instead of an exception, so that no finished result is lost before it is stored. Off the
    main thread, nothing changes. Nor does a signal that is ignored (`nohup`) or that no handler of
    Python receives.
    """
    interruption = Interruption()
    main = threading.current_thread() is threading.main_thread()
    found = {number: signal.getsignal(number) for number in _INTERRUPTS} if main else {}
    before = {number: handler for number, handler in found.items() if callable(handler)}
    for number in before:
        signal.signal(number, interruption.on_signal)
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stoppable() -> Iterator[None]:
    """Let an interrupt set `stop_requested` in this process while the body runs.

    An exception might be raised in a callback of a library, where Python ignores it.
    """
    global _is_stopped  # noqa: PLW0603 - as in a worker process
    before = _is_stopped
    with interruptible() as interruption:
        _is_stopped = interruption.is_set
        try:
            yield
        finally:
            _is_stopped = before


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Delay SIGINT and SIGTERM while the body runs; processes started in it never receive them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Handle SIGINT and SIGTERM after the body; the exception of one would end code in C++.

    A mask would not do, because the system may give the signal to another thread.
    """
    noted: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    found = {number: signal.getsignal(number) for number in _INTERRUPTS} if main else {}
    before = {number: handler for number, handler in found.items() if callable(handler)}
    for number in before:
        signal.signal(number, lambda noted_number, _frame: noted.append(noted_number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for noted_number in noted:
        before[signal.Signals(noted_number)](noted_number, None)
