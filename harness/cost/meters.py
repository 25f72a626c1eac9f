"""Read the CPU time and peak memory of the process in which a client runs.

CPU time is used instead of the clock, because other processes of the machine change it less.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from harness.normalizers.client import process_of
from harness.normalizers.protocol import Normalizer

Clock: TypeAlias = Callable[[], float]

_PROCESSES: Final = Path("/proc")
_NANOSECONDS: Final = 1e-9
_KIB: Final = 1024
_RESET_PEAK: Final = "5"  # see proc(5)


class NotMeasuredError(Exception):
    """A client cannot be measured; the message is the reason."""


class Meters(msgspec.Struct, frozen=True):
    """The functions that measure a client, which may run in another process.

    Fields:
        client: returns the seconds of CPU time that the client's process has used.
        floor: returns the CPU time of this process, in which the floor (a minimal client) runs.
        peak: returns the peak memory of the client's process in bytes; None if the system does not
            report it.
        reset_peak: sets the recorded peak memory of this process to its current memory, if the
            system supports that.
    """

    client: Clock
    floor: Clock
    peak: Callable[[], int | None]
    reset_peak: Callable[[], None]


def meters_of(normalizer: Normalizer) -> Meters:
    """Return the meters for `normalizer`, which runs in this process or as a separate program."""

    def client() -> float:
        process = process_of(normalizer)
        return time.process_time() if process is None else _cpu_seconds(process)

    def peak() -> int | None:
        return _peak_memory(process_of(normalizer))

    def reset_peak() -> None:
        _reset_peak(process_of(normalizer))

    return Meters(client, time.process_time, peak, reset_peak)


def _cpu_seconds(process: int) -> float:
    """Return the CPU time of all threads of `process`, from Linux's `schedstat` or `stat`.

    `schedstat` is more exact than `stat`.

    Raises:
        NotMeasuredError: the system does not report the CPU time.
    """
    tasks = (_PROCESSES / str(process) / "task").glob("*/schedstat")
    used = sum(int(each.read_text().split()[0]) for each in tasks)
    if not used:
        raise NotMeasuredError("the system does not report the CPU time of another process")
    return used * _NANOSECONDS


def _peak_memory(process: int | None) -> int | None:
    """Return the peak of the resident memory in bytes; None if the system does not report it.

    `ru_maxrss` is not used, because a process inherits this value from its parent.
    """
    try:
        text = (_folder(process) / "status").read_text(encoding="utf-8")
    except OSError:
        return None
    lines = (line.split() for line in text.splitlines() if line.startswith("VmHWM:"))
    return next((int(fields[1]) * _KIB for fields in lines), None)


def _reset_peak(process: int | None) -> None:
    """Reset the peak memory, because imports and reading bodies could need more than the client."""
    with suppress(OSError):
        (_folder(process) / "clear_refs").write_text(_RESET_PEAK, encoding="utf-8")


def _folder(process: int | None) -> Path:
    return _PROCESSES / ("self" if process is None else str(process))
