"""The processes that worker processes started, also those that left their process group.

Only Linux tells them. Elsewhere none is found, and only what is left in a process group is killed.
A worker adopts the orphans below it. What a worker leaves that ends is adopted by the server
process that forked it (`harness.workers.fork_server`).
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
    """Become the parent of each descendant whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Descendants:
    """The processes below `leader` at this time; they keep their identity if they end.

    Args:
        leader: not one of them.
        but: one that is left out.
    """

    def __init__(self, leader: int, but: int = 0) -> None:
        self._descriptors: list[int] = []
        if sys.platform == "linux":
            for process in _below([leader], _children()):
                with suppress(OSError):  # it has ended
                    if process != but:
                        self._descriptors.append(os.pidfd_open(process))

    def kill(self) -> None:
        """Kill those that still run."""
        if sys.platform == "linux":
            for descriptor in self._descriptors:
                with suppress(OSError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                os.close(descriptor)
            self._descriptors.clear()


def kill_group(leader: int) -> None:
    """Kill what is in the process group of `leader`."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):  # before it leads a group, or after
            os.killpg(leader, signal.SIGKILL)


def stop(process: int, descriptor: int) -> None:
    """Stop a process, so that it starts no others before it is killed; wait a moment for that.

    Args:
        process: its id.
        descriptor: its file descriptor, which no other process can get.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # it has ended
            signal.pidfd_send_signal(descriptor, signal.SIGSTOP)
            end = time.monotonic() + _STOP_SECONDS
            while _state_of(process)[1] not in _STOPPED and time.monotonic() < end:
                time.sleep(_PAUSE_SECONDS)


def server_of(worker: int) -> int:
    """Return the server process that forked `worker`; 0 if there is none, or it has ended."""
    if sys.platform != "linux":
        return 0
    parents = {child: parent for child, parent, _ in _processes()}
    server = parents.get(worker, 0)
    return server if parents.get(server) == os.getpid() else 0


def kill_orphans(server: int, workers: Collection[int]) -> None:
    """Kill what `server` has adopted: all below it but its workers and what these started.

    Clients may start processes meanwhile, so this is repeated for a while until none is found.
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
    """Return the children of each process that has not ended."""
    children: dict[int, list[int]] = {}
    for child, parent, state in _processes():
        if state != _ZOMBIE:
            children.setdefault(parent, []).append(child)
    return children


def _processes() -> Iterator[tuple[int, int, str]]:
    """Yield each process, its parent and its state."""
    for entry in os.scandir(_PROCESSES):
        if entry.name.isdecimal():
            with suppress(OSError):  # it has ended
                process = int(entry.name)
                yield process, *_state_of(process)


def _state_of(process: int) -> tuple[int, str]:
    """Return the parent and the state of a process; raises OSError if there is none."""
    stat = (_PROCESSES / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    # The name before the state may contain spaces and brackets.
    state, parent = stat.rpartition(")")[2].split()[:2]
    return int(parent), state
