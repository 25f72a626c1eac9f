"""The harness's own worker processes: started clean, stopped in good order or by force.

Always `spawn`: a forked copy of a threaded parent may deadlock, and `spawn` is the same on
every system. What is passed to a worker must therefore be importable and picklable.
"""

import multiprocessing
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeAlias

from harness.runs.batch import Batch, Worker, enter_worker_process, run_batch
from harness.runs.interruption import sigint_held
from harness.runs.plan import Job

# What a stopped worker gets to finish the cell under way.
GRACE_SECONDS = 5.0

BatchFuture: TypeAlias = Future[Batch]


class Pool(Protocol):
    """Somewhere to run batches."""

    def submit(self, worker: Worker, jobs: tuple[Job, ...]) -> BatchFuture:
        """Queue a batch."""

    def stop(self, flying: Collection[BatchFuture]) -> None:
        """Let the cells under way end, for a while at most; start no others."""


OpenPool: TypeAlias = Callable[[int], AbstractContextManager[Pool]]


class _Processes:
    """A process pool and the event that tells its workers to stop."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._others = set(multiprocessing.active_children())
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(
            workers, context, initializer=enter_worker_process, initargs=(self._stop,)
        )
        self.stuck = False

    def submit(self, worker: Worker, jobs: tuple[Job, ...]) -> BatchFuture:
        with sigint_held():  # a process that starts now must not see a Ctrl-C
            return self._executor.submit(run_batch, worker, jobs)

    def stop(self, flying: Collection[BatchFuture]) -> None:
        # No future is cancelled: queued batches come back empty, and a cancelled future
        # makes CPython 3.11's pool fail when it breaks later.
        self._stop.set()
        self.stuck = bool(wait(flying, timeout=GRACE_SECONDS).not_done)

    def close(self, *, by_force: bool) -> None:
        if by_force:
            for process in set(multiprocessing.active_children()) - self._others:
                process.kill()
        self._executor.shutdown(wait=True)


class _Foreign:
    """Any other executor, such as that of a cluster: it cannot be told to hurry."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, worker: Worker, jobs: tuple[Job, ...]) -> BatchFuture:
        return self._executor.submit(run_batch, worker, jobs)

    def stop(self, flying: Collection[BatchFuture]) -> None:
        for future in flying:
            future.cancel()
        wait(flying, timeout=GRACE_SECONDS)


@contextmanager
def open_processes(workers: int) -> Iterator[Pool]:
    """Open a pool of `workers` processes; those that do not stop, or must not, are killed."""
    pool = _Processes(workers)
    by_force = True
    try:
        yield pool
        by_force = pool.stuck
    finally:
        pool.close(by_force=by_force)


def opener(make_executor: Callable[[int], Executor]) -> OpenPool:
    """Return what opens a pool on an executor that `make_executor` makes for n workers."""

    @contextmanager
    def open_executor(workers: int) -> Iterator[Pool]:
        executor = make_executor(workers)
        try:
            yield _Foreign(executor)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    return open_executor
