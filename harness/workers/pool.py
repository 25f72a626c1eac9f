"""Worker processes: a batch of jobs in each, stopped in good order or by force.

Workers are forked from a server process that has imported the harness and nothing else, where the
system can do that, and otherwise spawned: a forked copy of a threaded parent may deadlock. What is
passed to a worker must therefore be importable and picklable. Runs, searches and measurements use
the same pool: the first Ctrl-C stops after the running jobs, the second at once.

A `BatchPool` may also be one of a cluster, see `harness.runs.engine`.
"""

import multiprocessing
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from multiprocessing import get_all_start_methods
from multiprocessing.context import BaseContext
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol, Self, TypeAlias, TypeVar

from harness.workers.batch import Batch, Exited, encode_work
from harness.workers.descendants import kill_orphans
from harness.workers.output import output_in
from harness.workers.process import ENDED, FAILED, STARTING, ProcessEndedError, WorkerProcess

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

# Time for a stopped worker to finish its running job.
GRACE_SECONDS = 5.0
# Time for the processes of a pool without jobs to end; a thread of a client may never end.
_EXIT_SECONDS = 2.0
# Time for the system to end a process that was killed.
_KILL_SECONDS: Final = 5.0
_WATCH_SECONDS: Final = 0.5

_METHOD: Final = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
_PRELOADED: Final = ["harness.workers.fork_server", "harness.runs.judge_job"]


class BatchPool(Protocol):
    """Processes that run batches.

    Attributes:
        stuck: whether batches did not end after `stop`, so that they must be killed.
    """

    stuck: bool

    def submit(
        self, worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...], /
    ) -> Future[Batch[ResultT]]:
        """Queue a batch. Its future raises ProcessEndedError if its process ends."""

    def output(self) -> str:
        """Return what the processes wrote during their last jobs, after one has ended."""

    def stop(self, running: Collection[Future[Batch[Any]]], /) -> None:
        """Wait a while for the running jobs to end; start no others."""

    def close(self, *, by_force: bool) -> None:
        """End all processes and those that they started, at once if `by_force`."""


# Opens a pool of a number of processes.
OpenPool: TypeAlias = Callable[[int], BatchPool]


class _Worker:
    """A thread with a process, which starts with the first batch and again if it has ended."""

    def __init__(self, pool: "Pool") -> None:
        self._pool = pool
        self.process: WorkerProcess | None = None
        # A daemon, so that the command can end whatever the process does.
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (task := self._pool.tasks.get()) is not None:
            future, message = task
            if self._pool.stopped.is_set():
                future.set_result(Batch((), ()))
                continue
            try:
                future.set_result(self._process().run(message, self._pool.stopped.is_set))
            except BaseException as error:  # noqa: BLE001 - who waits for the future gets it
                future.set_exception(error)
        if self.process is not None:
            self.process.close()

    def _process(self) -> WorkerProcess:
        if self.process is None or self.process.is_killed:
            self.process = self._pool.start_process()
        return self.process


class Pool:
    """Some worker processes, which take the batches in turn."""

    def __init__(self, workers: int) -> None:
        self._context: BaseContext = multiprocessing.get_context(_METHOD)
        self._context.set_forkserver_preload(_PRELOADED)
        self._folder = TemporaryDirectory(prefix="harness-output-", ignore_cleanup_errors=True)
        self.tasks: queue.SimpleQueue[tuple[Future[Batch[Any]], bytes] | None] = queue.SimpleQueue()
        self.stopped = threading.Event()
        self.stuck = False
        self._closed = threading.Event()
        self._started: list[WorkerProcess] = []
        # If a pool is not closed, Python would wait for its processes without end.
        self._at_exit = Finalize(None, self._kill, exitpriority=0)
        self._workers = [_Worker(self) for _ in range(workers)]
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(
        self, worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...]
    ) -> Future[Batch[ResultT]]:
        """Queue a batch. Its future raises ProcessEndedError if its process ends."""
        return self.submit_encoded(encode_work(worker, jobs))

    def submit_encoded(self, message: bytes) -> Future[Batch[Any]]:
        """Queue a batch that `encode_work` has encoded, in this process or in another."""
        future: Future[Batch[Any]] = Future()
        self.tasks.put((future, message))
        return future

    def start_process(self) -> WorkerProcess:
        """Start one more process; for the threads of this pool."""
        process = WorkerProcess(self._context, Path(self._folder.name))
        self._started.append(process)
        if self._closed.is_set():
            process.kill()
        return process

    def output(self) -> str:
        """Return what the processes wrote during their last jobs, after one has ended."""
        return output_in(Path(self._folder.name))

    def stop(self, running: Collection[Future[Batch[Any]]]) -> None:
        """Wait a while for the running jobs to end; start no others."""
        # No future is cancelled: queued batches come back empty.
        self.stopped.set()
        self.stuck = bool(wait(running, timeout=GRACE_SECONDS).not_done)

    def close(self, *, by_force: bool) -> None:
        """End all processes and those that they started, at once if `by_force`."""
        self.stopped.set()
        for _ in self._workers:
            self.tasks.put(None)
        try:
            if not by_force:
                self._wait(_EXIT_SECONDS)
        finally:  # also at a Ctrl-C
            self._at_exit.cancel()
            self._kill()
            self._folder.cleanup()

    def _kill(self) -> None:
        self._closed.set()
        for process in tuple(self._started):
            process.kill()
        self._wait(_KILL_SECONDS)
        with STARTING:
            workers = {each.pid for each in multiprocessing.active_children() if each.pid}
            for server in {each.server for each in self._started}:
                kill_orphans(server, workers)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in tuple(self._started):
            process.wait(max(end - time.monotonic(), 0.0))

    def _watch(self) -> None:
        while not self._closed.wait(_WATCH_SECONDS):
            for process in tuple(self._started):
                process.kill_if_late()


@contextmanager
def open_processes(workers: int, open_pool: OpenPool = Pool) -> Iterator[BatchPool]:
    """Open a pool of `workers` processes; those that do not stop, or must not, are killed."""
    pool = open_pool(workers)
    by_force = True
    try:
        yield pool
        by_force = pool.stuck
    finally:
        pool.close(by_force=by_force)


class LoneWorker:
    """A worker process for one call at a time, which starts with the first call.

    If a call ends the process, or fails in it, the next one starts another. Use as a context
    manager.
    """

    def __init__(self, open_pool: OpenPool = Pool) -> None:
        self._open_pool = open_pool
        self._pool: BatchPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def call(self, work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
        """Return what `work` returns for `job`, or how the process ended; and what it wrote.

        Any exception of `work` but the one below is the fault of the client that runs there, too.

        Raises:
            HarnessError: from `work`.
        """
        self._pool = pool = self._pool or self._open_pool(1)
        try:
            batch = pool.submit(work, (job,)).result()
        except ProcessEndedError:
            output = pool.output()
            self.close()
            return Exited(ENDED), output
        except BaseException:  # Ctrl-C
            self.close()
            raise
        if batch.fault is not None:
            self.close()
            if batch.fault.kind is None:
                return Exited(FAILED), batch.fault.trace
            raise batch.fault.rebuild()
        if not batch.results:  # the client has stopped the batch
            self.close()
            return Exited(ENDED), ""
        return batch.results[0], batch.outputs[0]

    def close(self) -> None:
        """End the process, and those that it started, at once."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close(by_force=True)


def call_in_worker(work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
    """Make one call in a `LoneWorker`."""
    with LoneWorker() as worker:
        return worker.call(work, job)
