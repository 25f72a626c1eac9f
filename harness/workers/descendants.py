"""Find and kill the processes that worker processes started, also outside their process group.

This works only on Linux. On other systems, the harness kills only what is left in the process
group of a worker. A worker adopts processes below it whose parent ended. If the worker itself
ends, the server process that forked it adopts them (`harness.workers.fork_server`).
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_PR_SET_CHILD_SUBREAPER: Final = 36  # see prctl(2)
_ZOMBIE: Final = "Z"
_STOPPED: Final = "TtZX"
_SWEEP_SECONDS: Final = 2.0
_STOP_SECONDS: Final = 0.5
_PAUSE_SECONDS: Final = 0.005


def adopt_orphans() -> None:
    """Make this process the parent of each descendant whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Descendants:
    """The processes that `leader` and its descendants have started, at the time of the call.

    Each process is identified safely, even if it ends and its id is used again.

    Args:
        leader: the id of the process whose descendants these are.
        but: the id of a descendant to leave out; 0 for none.
    """

    def __init__(self, leader: int, but: int = 0) -> None:
        self._descriptors: list[int] = []
        if sys.platform == "linux":
            for process in _below([leader], _children()):
                with suppress(OSError):  # it has ended
                    if process != but:
                        self._descriptors.append(os.pidfd_open(process))

    def kill(self) -> None:
        """Kill the processes that still run."""
        if sys.platform == "linux":
            for descriptor in self._descriptors:
                with suppress(OSError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                os.close(descriptor)
            self._descriptors.clear()


def kill_group(leader: int) -> None:
    """Kill all processes in the process group of `leader`."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):  # before it leads a group, or after
            os.killpg(leader, signal.SIGKILL)


def stop(process: int, descriptor: int) -> None:
    """Suspend a process (SIGSTOP), so that it starts no others before the harness kills it.

    It waits half a second at most until the process is suspended.

    Args:
        process: the id of the process.
        descriptor: a process file descriptor, which always refers to this process.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # it has ended
            signal.pidfd_send_signal(descriptor, signal.SIGSTOP)
            end = time.monotonic() + _STOP_SECONDS
            while _state_of(process)[1] not in _STOPPED and time.monotonic() < end:
                time.sleep(_PAUSE_SECONDS)


def server_of(worker: int) -> int:
    """Return the id of the server process that forked `worker`; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    parents = {child: parent for child, parent, _ in _processes()}
    server = parents.get(worker, 0)
    return server if parents.get(server) == os.getpid() else 0


def kill_orphans(server: int, workers: Collection[int]) -> None:
    """Kill the processes that `server` has adopted, and those that they started.

    These are all child processes of `server` except `workers`. Clients may start more meanwhile, so
    this repeats until it finds none, for two seconds at most.
    """
    if sys.platform != "linux" or not server:
        return
    end = time.monotonic() + _SWEEP_SECONDS
    while time.monotonic() < end:
        children = _children()
        if server not in children.get(os.getpid(), ()):  # it has ended
            return
        orphans = [each for each in children.get(server, ()) if each not in workers]
        if not orphans:
            return
        for process in (*_below(orphans, children), *orphans):
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def _below(leaders: Collection[int], children: dict[int, list[int]]) -> Iterator[int]:
    waiting = list(leaders)
    while waiting:
        found = children.get(waiting.pop(), ())
        yield from found
        waiting.extend(found)


def _children() -> dict[int, list[int]]:
    """Return the id of each parent process -> the ids of its children that have not ended."""
    children: dict[int, list[int]] = {}
    for child, parent, state in _processes():
        if state != _ZOMBIE:
            children.setdefault(parent, []).append(child)
    return children


def _processes() -> Iterator[tuple[int, int, str]]:
    """Yield for each process its id, the id of its parent, and the letter of its state."""
    for entry in os.scandir(_PROCESSES):
        if entry.name.isdecimal():
            with suppress(OSError):  # it has ended
                process = int(entry.name)
                yield process, *_state_of(process)


def _state_of(process: int) -> tuple[int, str]:
    """Return the parent and the state of a process; raise OSError if it does not exist."""
    stat = (_PROCESSES / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    # The name before the state may contain spaces and brackets.
    state, parent = stat.rpartition(")")[2].split()[:2]
    return int(parent), state
