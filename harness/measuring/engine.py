"""Measure the parts of logs in worker processes of this machine or of a Dask cluster.

Each worker writes the rows of a part to a file in one step. If its process ends before that, the
part is measured again. So each turn counts once.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from harness.errors import UsageError
from harness.judging.replaying import DEFAULT_LIMITS
from harness.measuring.measured_turn import COLUMNS, MeasuredTurn, measure_turn
from harness.measuring.normalizer_rows import Placed, rows_through
from harness.measuring.parquet import write_rows
from harness.measuring.sources import Part, Unread, read_part
from harness.workers import process_limits
from harness.workers.batch import Batch, Exited
from harness.workers.pool import OpenPool, Pool, open_processes
from harness.workers.process import ProcessEndedError

T = TypeVar("T")

# Parts that are handed out at once, for each process: enough that none waits for the command.
_AHEAD: Final = 3
_TRIES: Final = 3
_EXAMPLES: Final = 5


class PartCount(msgspec.Struct, frozen=True):
    """The result of measuring one part of a log.

    Fields:
        number: the number of the part.
        turns: how many turns were measured.
        skipped, damaged: how many records have no turn, and how many cannot be read.
        examples: the first skipped or damaged records.
    """

    number: int
    turns: int
    skipped: int
    damaged: int
    examples: tuple[Unread, ...]


class PartWork(msgspec.Struct, frozen=True):
    """The settings for measuring parts, which each worker process gets.

    Fields:
        folder: the absolute path of the folder for the files of rows.
        mapping: standard key -> the key in a row of this log; empty if the log has a known format.
        normalizer: the normalizer whose turns are judged; "" for `reference`, which is not judged.
    """

    folder: str
    mapping: Mapping[str, str] = {}
    normalizer: str = ""


def measure_part(work: PartWork, part: Part) -> PartCount:
    """Write the rows of a part to its file, and return the counts. Worker processes call this."""
    unread = _Unread()
    turns = unread.without(read_part(part, work.mapping))
    rows = unread.without(_rows(work.normalizer, turns))
    count = write_rows(Path(work.folder, f"turns-{part.number:06}.parquet"), rows, COLUMNS)
    counts = unread.counts
    return PartCount(part.number, count, counts[False], counts[True], tuple(unread.examples))


def _rows(normalizer: str, turns: Iterable[Placed]) -> Iterator[MeasuredTurn | Unread]:
    if normalizer:
        yield from rows_through(normalizer, turns)
        return
    for file, position, logged in turns:
        process_limits.renew(DEFAULT_LIMITS.time_for(logged.interaction.body))
        yield measure_turn(logged, file, position)


class _Unread:
    """Counts the skipped and damaged records of a part, and keeps the first ones as examples."""

    def __init__(self) -> None:
        self.counts: Counter[bool] = Counter()
        self.examples: list[Unread] = []

    def without(self, found: Iterable[T | Unread]) -> Iterator[T]:
        """Yield the items of `found` that could be read; count the others in `counts`."""
        for each in found:
            if not isinstance(each, Unread):
                yield each
                continue
            self.counts[each.damaged] += 1
            if self.counts[each.damaged] <= _EXAMPLES:
                self.examples.append(each)


def measure_parts(
    parts: Iterable[Part], work: PartWork, processes: int, open_pool: OpenPool = Pool
) -> Iterator[PartCount]:
    """Measure parts in worker processes, and yield the count of each part when it is known.

    Only a few parts are in progress at a time, so that memory does not grow with their number.

    Raises:
        UsageError: the process that measured a part ended several times.
    """
    again: deque[Part] = deque()
    waiting, tries = chain(parts), Counter[int]()
    under_way: dict[Future[Batch[PartCount]], Part] = {}
    measure = partial(measure_part, work)
    with open_processes(processes, open_pool) as pool:
        while True:
            while again:
                part = again.popleft()
                under_way[pool.submit(measure, (part,))] = part
            for part in islice(waiting, processes * _AHEAD - len(under_way)):
                under_way[pool.submit(measure, (part,))] = part
            if not under_way:
                return
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for each in sorted(done, key=lambda it: under_way[it].number):
                part = under_way.pop(each)
                count = _count_of(each)
                if count is not None:
                    yield count
                    continue
                tries[part.number] += 1
                if tries[part.number] > _TRIES:
                    raise _lost_error(part, tries[part.number])
                again.append(part)


def _count_of(future: Future[Batch[PartCount]]) -> PartCount | None:
    """Return the count of a part; None if the process that measured the part ended."""
    try:
        batch = future.result()
    except ProcessEndedError:
        return None
    if batch.fault is not None:
        raise batch.fault.rebuild()
    ended = batch.results[0] if batch.results else Exited("stopped")
    return None if isinstance(ended, Exited) else ended


def _lost_error(part: Part, times: int) -> UsageError:
    return UsageError(
        f"the process that measured this part ended {times} times",
        where=f"{part.files[0]}, from {part.start:,}",
        hint="It may lack memory or time: use fewer processes with -j.",
    )
