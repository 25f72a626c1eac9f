"""End a worker process with its parent, and despite threads that a client left running."""

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.util import Finalize
from typing import Final

from harness.workers.descendants import Descendants

_MOST_DESCRIPTORS: Final = 4_096


def end_at_once() -> None:
    """Make this process exit as soon as its main thread ends.

    By default, Python would wait for threads that a client left running, and the parent would wait
    for Python.
    """
    Finalize(None, _exit, exitpriority=0)


def _exit() -> None:
    failed = sys.exc_info()[0] is not None
    if failed:
        with suppress(MemoryError):
            traceback.print_exc()
    os._exit(1 if failed else 0)


def end_with_parent() -> None:
    """Make this process, and all that it starts, end as soon as the parent process has ended.

    The parent is the harness command, which may be killed at any time.
    """
    if hasattr(os, "fork"):
        _start_guardian()
    else:
        threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _start_guardian() -> None:
    """Start a process that ends this one, because code in C may never let a thread do it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    ours, _theirs = os.pipe()  # this process keeps `_theirs` open as long as it lives
    if os.fork():
        os.close(ours)
        return
    try:
        _close_all_but(parent.sentinel, ours)
        worker = os.getppid()
        if connection.wait([parent.sentinel, ours]) == [ours]:
            # The worker has ended, or the client has closed its end of the pipe.
            while os.getppid() == worker and not connection.wait([parent.sentinel], 1.0):
                pass
        if connection.wait([parent.sentinel], 0):
            if os.getppid() == worker:
                Descendants(worker, but=os.getpid()).kill()
            os.killpg(0, signal.SIGKILL)
    finally:
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    """Close all file descriptors except `kept`, because a copy keeps a pipe open."""
    first = 0
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, _MOST_DESCRIPTORS)
