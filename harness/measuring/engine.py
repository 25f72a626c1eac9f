"""Parts -> files of rows, in processes of this machine or on a Dask cluster.

Both are executors of `concurrent.futures`. A part whose worker died is measured again, and its file
is written in one step, so that each turn counts once.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.errors import UsageError
from harness.measuring.parquet import write_rows
from harness.measuring.sources import Part, Unread, read_part
from harness.measuring.turn_row import COLUMNS, TurnRow, measure_turn

LOCAL: Final = "local"
_DASK: Final = "dask://"
# Parts that are handed out at once, for each worker: enough that none waits for the command.
_AHEAD: Final = 3
_TRIES: Final = 3
_EXAMPLES: Final = 5


class PartCount(msgspec.Struct, frozen=True):
    """What came of a part.

    Fields:
        turns: how many were measured.
        skipped, damaged: how many records have no turn, and how many cannot be read.
        examples: the first of those.
    """

    number: int
    turns: int
    skipped: int
    damaged: int
    examples: tuple[Unread, ...]


def rows_file(folder: Path, number: int) -> Path:
    """Return the path of the rows of a part."""
    return folder / f"turns-{number:06}.parquet"


def measure_part(part: Part, mapping: Mapping[str, str], folder: Path) -> PartCount:
    """Write the rows of a part. Called in workers."""
    unread: Counter[bool] = Counter()
    examples: list[Unread] = []

    def rows() -> Iterator[TurnRow]:
        for found in read_part(part, mapping):
            if isinstance(found, Unread):
                unread[found.damaged] += 1
                if unread[found.damaged] <= _EXAMPLES:
                    examples.append(found)
            else:
                file, position, logged = found
                yield measure_turn(logged, file, position)

    turns = write_rows(rows_file(folder, part.number), rows(), COLUMNS)
    return PartCount(part.number, turns, unread[False], unread[True], tuple(examples))


Start = Callable[[], Executor]


@contextmanager
def executors(on: str, workers: int) -> Iterator[tuple[Start, int]]:
    """Yield what starts an executor, and how many parts it measures at a time.

    Args:
        on: `local`, or `dask://HOST:PORT` of a scheduler.
        workers: processes of `local`.

    Raises:
        UsageError: `on` is neither, or no scheduler answers.
    """
    if on == LOCAL:
        context = get_context("spawn")
        yield lambda: ProcessPoolExecutor(workers, mp_context=context), workers
        return
    if not on.startswith(_DASK):
        raise UsageError(f"expected `local` or `dask://HOST:PORT`, found {on!r}", where="--on")
    try:
        distributed: Any = importlib.import_module("distributed")  # part of the extra `dask`
    except ImportError:
        raise UsageError(
            "Dask is not installed", where="--on", hint="pip install 'toolcall-harness[dask]'"
        ) from None
    try:
        client = distributed.Client(
            f"tcp://{on.removeprefix(_DASK)}", timeout="10s", set_as_default=False
        )
    except OSError as error:
        raise UsageError(
            f"no scheduler answers: {error}",
            where=on,
            hint="`dask scheduler` and `dask worker tcp://HOST:PORT` start one.",
        ) from None
    with client:
        threads = sum(client.nthreads().values()) or 1
        yield lambda: client.get_executor(pure=False, retries=_TRIES), threads


def measure_parts(
    parts: Iterable[Part],
    mapping: Mapping[str, str],
    folder: Path,
    start: Start,
    at_once: int,
) -> Iterator[PartCount]:
    """Measure parts, and yield each count as soon as it is known.

    The parts are taken one by one, and few are under way, so that memory does not grow with them.
    """
    waiting, tries = iter(parts), 0
    while True:
        executor, under_way = start(), dict[Future[PartCount], Part]()
        try:
            measure = partial(measure_part, mapping=mapping, folder=folder)
            submit = partial(executor.submit, measure)
            yield from _run(waiting, submit, under_way, at_once * _AHEAD)
        except BrokenProcessPool as error:
            tries += 1
            if tries > _TRIES:
                raise UsageError(
                    f"workers died {tries} times: {error}",
                    hint="They may lack memory: use fewer with -j.",
                ) from None
            # Those that were done are not among them.
            waiting = chain(list(under_way.values()), waiting)
        else:
            return
        finally:
            for each in under_way:
                each.cancel()
            executor.shutdown(wait=not under_way)


def _run(
    waiting: Iterator[Part],
    submit: Callable[[Part], Future[PartCount]],
    under_way: dict[Future[PartCount], Part],
    most: int,
) -> Iterator[PartCount]:
    while True:
        for part in islice(waiting, most - len(under_way)):
            # Noted first, so that a pool which breaks here does not lose it.
            noted: Future[PartCount] = Future()
            under_way[noted] = part
            submitted = submit(part)
            del under_way[noted]
            under_way[submitted] = part
        if not under_way:
            return
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for each in sorted(done, key=lambda it: under_way[it].number):
            count = each.result()
            del under_way[each]
            yield count
