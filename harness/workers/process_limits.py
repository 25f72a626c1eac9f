"""Limit a worker process: its memory, and the time of code that no exception can stop.

At the deadline of a replay, the harness raises an exception. Some code never receives it: a loop in
C that does not check for signals, such as `sum` over an endless iterator, or code that waits with
all signals blocked. So this watchdog is a thread of the interpreter, which needs no signal. It
prints where the code is, and ends the process. Because a client can stop this thread too, the
parent process also learns how long the code may still run.
"""

import faulthandler
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

# For a client to clean up after its deadline.
GRACE_SECONDS: Final = 5.0
# A thread starts each time, so it is not done for each of many short replays.
_RENEWED_AFTER: Final = 2.0
# For what the harness does before and between replays, also on a busy machine.
_WORK_SECONDS: Final = 60.0
_STANDARD_ERROR: Final = 2

# Of the process and of each that it starts; above what any client needs that reads a stream.
_MOST_MEMORY: Final = 4 << 30
MEMORY_USED_UP: Final = b"MemoryError: the process has used 4 GiB of memory\n"

_end: float | None = None  # None: not on watch, as in a process of the user
_on_renewed: Callable[[float], None] | None = None


def watch(on_renewed: Callable[[float], None]) -> None:
    """Start the watchdog of this process. `release` stops it.

    Args:
        on_renewed: called with the remaining seconds, each time that `renew` extends them.
    """
    global _end, _on_renewed
    _end, _on_renewed = 0.0, on_renewed
    renew_for_work()


def renew_for_work() -> None:
    """Let the harness itself work, which takes longer than a replay of a small body may."""
    renew(_WORK_SECONDS)


def renew(seconds: float) -> None:
    """Let the code of this process run for `seconds` and a margin before the watchdog ends it.

    A later end is brought forward. If `watch` was not called, this does nothing.
    """
    global _end  # noqa: PLW0603 - as above
    if _end is None:
        return
    now, needed = time.monotonic(), seconds + GRACE_SECONDS
    limit = needed + _RENEWED_AFTER
    if not now + needed <= _end <= now + limit:
        _end = now + limit
        faulthandler.dump_traceback_later(limit, exit=True, file=_STANDARD_ERROR)
        if _on_renewed is not None:
            _on_renewed(limit)


def release() -> None:
    """Stop the watchdog of this process."""
    global _end  # noqa: PLW0603 - as above
    _end = None
    faulthandler.cancel_dump_traceback_later()


def limit_memory() -> None:
    """Limit the memory of this process and of its child processes, if the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
