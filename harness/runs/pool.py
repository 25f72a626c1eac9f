"""The harness's own worker processes: started clean, stopped in good order or by force.

Always `spawn`: a forked copy of a threaded parent may deadlock, and `spawn` is the same on
every system. What is passed to a worker must therefore be importable and picklable.
"""

import multiprocessing
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeAlias

from harness.runs.batch import enter_worker_process
from harness.runs.interruption import sigint_held

# What a stopped worker gets to finish the cell under way.
GRACE_SECONDS = 5.0

AnyFuture: TypeAlias = Future[Any]


class Pool(Protocol):
    """Somewhere to run functions."""

    def submit(self, function: Callable[..., Any], *arguments: object) -> AnyFuture:
        """Queue a call."""

    def stop(self, running: Collection[AnyFuture]) -> None:
        """Let the calls under way end soon; cancel the rest."""


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

    def submit(self, function: Callable[..., Any], *arguments: object) -> AnyFuture:
        with sigint_held():  # a process that starts now must not see a Ctrl-C
            return self._executor.submit(function, *arguments)

    def stop(self, running: Collection[AnyFuture]) -> None:
        self._stop.set()
        _cancel_and_wait(running)

    def close(self, *, forced: bool) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)
        if forced:
            for process in set(multiprocessing.active_children()) - self._others:
                process.kill()
        self._executor.shutdown(wait=True)


class _Foreign:
    """Any other executor, such as that of a cluster: it cannot be told to hurry."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, function: Callable[..., Any], *arguments: object) -> AnyFuture:
        return self._executor.submit(function, *arguments)

    def stop(self, running: Collection[AnyFuture]) -> None:
        _cancel_and_wait(running)


@contextmanager
def open_processes(workers: int) -> Iterator[Pool]:
    """Start `workers` processes; when the body fails or was stopped, they are killed."""
    pool = _Processes(workers)
    forced = True
    try:
        yield pool
        forced = pool._stop.is_set()
    finally:
        pool.close(forced=forced)


def opener(make_executor: Callable[[int], Executor]) -> OpenPool:
    """Return a way to open pools from a function that makes an executor for n workers."""

    @contextmanager
    def open_executor(workers: int) -> Iterator[Pool]:
        executor = make_executor(workers)
        try:
            yield _Foreign(executor)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    return open_executor


def _cancel_and_wait(running: Collection[AnyFuture]) -> None:
    for future in running:
        future.cancel()
    wait(running, timeout=GRACE_SECONDS)
