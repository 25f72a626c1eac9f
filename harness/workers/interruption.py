"""Turn SIGINT and SIGTERM into a request to stop, in a command and in a worker process."""

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
    """Return whether the parent of this worker process, or the user, asked this process to stop."""
    return _is_stopped is not None and _is_stopped()


def stop_if(is_stopped: Callable[[], bool]) -> None:
    """Set the function whose result `stop_requested` returns in this worker process."""
    global _is_stopped  # noqa: PLW0603 - a process has one parent
    _is_stopped = is_stopped


class Interruption:
    """Stores whether the user asked the command to stop."""

    def __init__(self) -> None:
        self.requested = False

    def is_set(self) -> bool:
        """Return whether the user asked the command to stop."""
        return self.requested

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Request a stop when a signal comes; at the second signal, raise KeyboardInterrupt."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT and SIGTERM into a request to stop while the body of the `with` block runs.

    The request is a flag instead of an exception, so that the caller can store finished results.
    Off the main thread, this changes nothing. It also leaves ignored signals (`nohup`) unchanged,
    and signals that are not handled in Python.
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
    """Make `stop_requested` return True after an interrupt while the `with` block runs.

    An exception could be lost, because Python ignores it in some callbacks of libraries.
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
    """Delay SIGINT and SIGTERM while the `with` block runs.

    Processes that are started in the block never receive these signals.
    """
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
    """Handle SIGINT and SIGTERM after the `with` block, because an exception would abort C++ code.

    A signal mask is not enough, because the system may send the signal to another thread.
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
