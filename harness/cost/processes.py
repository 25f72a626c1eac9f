"""Measure a client in separate processes: one for its time, a new one for its memory.

A client that hangs, dies or needs too much memory costs only its own measurement.
"""

import multiprocessing
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from harness.cost.measure import (
    CostLimits,
    check_client,
    measure_memory,
    measure_time,
)
from harness.cost.meters import NotMeasuredError, meters_of
from harness.cost.streams import cost_stream
from harness.dialects.table import DIALECTS
from harness.errors import HarnessError
from harness.normalizers.discovery import load_normalizer
from harness.results.cost import Cost
from harness.wire.interaction import Interaction
from harness.workers.process_limits import limit_memory

T = TypeVar("T")

_PROCESS_SECONDS: Final = 600.0
_MEMORY_RUNS: Final = 3
_CHARACTERS: Final = 300


class Streams(msgspec.Struct, frozen=True):
    """Two streams for another process. The file in `bodies` has the body of each interaction."""

    interactions: tuple[Interaction, ...]
    bodies: tuple[Path, ...]


def measure(name: str, dialect: str, limits: CostLimits) -> Cost:
    """Return the cost of the normalizer called `name` in `dialect`, or why it was not measured."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            cost, streams = in_new_process(_time_of, name, dialect, limits, Path(folder))
        except NotMeasuredError as problem:
            return Cost(dialect, not_measured=str(problem))
        try:
            memory = _memory(name, dialect, streams, limits)
        except NotMeasuredError as problem:
            return replace(cost, not_measured=f"memory: {problem}")
    return replace(cost, memory=memory)


def _memory(name: str, dialect: str, streams: Streams, limits: CostLimits) -> float | None:
    """Return the bytes of peak memory for each further byte of the body; None if not known.

    Each stream is replayed in up to three processes, and its lowest peak counts. A garbage
    collector may keep memory for long that the client no longer uses.
    """
    short_body, long_body = (path.stat().st_size for path in streams.bodies)
    if short_body == long_body:
        return None
    found: list[tuple[int, int]] = []
    start = time.monotonic()
    while len(found) < _MEMORY_RUNS and (not found or time.monotonic() - start < limits.seconds):
        short, long = in_new_process(_peaks_of, name, dialect, streams, limits)
        if short is None or long is None:
            return None
        found.append((short, long))
    lowest_short, lowest_long = (min(peaks) for peaks in zip(*found, strict=True))
    return float(max(0, lowest_long - lowest_short) / (long_body - short_body))


def in_new_process(work: Callable[..., T], *arguments: object) -> T:
    """Call `work` with `arguments` in a new process, and return its result.

    Raises:
        NotMeasuredError: `work` raised this error, the process died, or it took too long.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, work, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(_PROCESS_SECONDS):
            raise NotMeasuredError(f"it did not end within {_PROCESS_SECONDS:g} s")
        done, result = receiver.recv()
    except EOFError:
        process.join()
        raise NotMeasuredError(f"its process ended with exit code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
    if not done:
        raise NotMeasuredError(result)
    value: T = result
    return value


def _run(sender: "Connection", work: Callable[..., T], arguments: tuple[Any, ...]) -> None:
    """Call `work`, and send its result, or the error message, to the other process."""
    limit_memory()
    try:
        sender.send((True, work(*arguments)))
    except (NotMeasuredError, HarnessError, MemoryError) as problem:
        why = str(problem) or type(problem).__name__  # a MemoryError may have no text
        sender.send((False, why[:_CHARACTERS]))


def _time_of(name: str, dialect: str, limits: CostLimits, folder: Path) -> tuple[Cost, Streams]:
    """Measure the time of a client; also return the streams for the processes that measure memory.

    Those only read the streams, because to write them needs more memory than to read them.
    """
    normalizer = load_normalizer(name)
    cost = measure_time(normalizer, dialect, limits, meters_of(normalizer))
    return cost, _write_streams(dialect, (cost.shortest, cost.deltas), folder)


def _write_streams(dialect: str, sizes: tuple[int, ...], folder: Path) -> Streams:
    found = [cost_stream(DIALECTS[dialect], size).interaction for size in sizes]
    paths = tuple(folder / str(size) for size in sizes)
    for path, each in zip(paths, found, strict=True):
        path.write_bytes(each.body)
    return Streams(tuple(each.without_body() for each in found), paths)


def _peaks_of(
    name: str, dialect: str, streams: Streams, limits: CostLimits
) -> tuple[int | None, ...]:
    normalizer = load_normalizer(name)
    check_client(normalizer, dialect)
    interactions = [
        replace(interaction, body=path.read_bytes())
        for interaction, path in zip(streams.interactions, streams.bodies, strict=True)
    ]
    return measure_memory(normalizer, interactions, limits)
