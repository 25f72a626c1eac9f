"""The processes that worker processes started, also those that left their process group.

Only Linux tells them. Elsewhere none is found, and only what is left in a process group is killed.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_PR_SET_CHILD_SUBREAPER: Final = 36  # see prctl(2)


def adopt_orphans() -> None:
    """Become the parent of each descendant whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Descendants:
    """The processes below `leaders` at this time; they keep their identity if they end."""

    def __init__(self, leaders: Collection[int]) -> None:
        self._descriptors: list[int] = []
        if sys.platform == "linux":
            for process in _below(leaders):
                with suppress(OSError):  # it has ended
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


def _below(leaders: Collection[int]) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    waiting = list(leaders)
    while waiting:
        found = children.get(waiting.pop(), ())
        yield from found
        waiting.extend(found)


def _parents() -> Iterator[tuple[int, int]]:
    """Yield each process with its parent."""
    for entry in os.scandir(_PROCESSES):
        if entry.name.isdecimal():
            with suppress(OSError):  # it has ended
                state = Path(entry.path, "stat").read_text(encoding="utf-8", errors="replace")
                # The name before the state may contain spaces and brackets.
                yield int(entry.name), int(state.rpartition(")")[2].split()[1])
