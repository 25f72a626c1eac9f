"""Run batches of jobs in worker processes, and stop the processes gently or by force.

Where the system can, a server process that has imported only the harness forks the workers. On
other systems, they are spawned, because a forked copy of a parent with threads may deadlock. So
functions and jobs for a worker must be importable and picklable. Runs, searches and measurements
use the same pool. The first Ctrl-C stops it after the running jobs, the second one at once.
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

# Time for a stopped worker to finish its running job. The command ends five seconds after Ctrl-C.
GRACE_SECONDS = 2.0
# Time for the processes of a pool without jobs to end; a thread of a client may never end.
_EXIT_SECONDS = 1.0
# Time for the system to end a process that was killed.
_KILL_SECONDS: Final = 5.0
_WATCH_SECONDS: Final = 0.5

_METHOD: Final = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
_PRELOADED: Final = ["harness.workers.fork_server", "harness.runs.judge_job"]


class BatchPool(Protocol):
    """An interface of pools of worker processes that run batches of jobs.

    Attributes:
        stuck: whether batches did not end after `stop`, so that they must be killed.
    """

    stuck: bool

    def submit(
        self, worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...], /
    ) -> Future[Batch[ResultT]]:
        """Queue a batch; return its future, which raises ProcessEndedError if its process ends."""

    def output(self) -> str:
        """Return what the processes wrote during their last jobs, after a process has ended."""

    def stop(self, running: Collection[Future[Batch[Any]]], /) -> None:
        """Start no more jobs, and wait a few seconds for the running ones to end."""

    def close(self, *, by_force: bool) -> None:
        """End all processes and what they started; with `by_force`, kill them at once."""


# Opens a pool of a number of processes.
OpenPool: TypeAlias = Callable[[int], BatchPool]


class _Worker:
    """A thread that runs batches in one process, and starts it again after it has ended."""

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
    """A pool of worker processes on this machine, each of which takes the next queued batch."""

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
        """Queue a batch; return its future, which raises ProcessEndedError if its process ends."""
        return self.submit_encoded(encode_work(worker, jobs))

    def submit_encoded(self, message: bytes) -> Future[Batch[Any]]:
        """Queue a batch that `encode_work` encoded, and return its future."""
        future: Future[Batch[Any]] = Future()
        self.tasks.put((future, message))
        return future

    def start_process(self) -> WorkerProcess:
        """Start a process. Only the threads of this pool call this."""
        process = WorkerProcess(self._context, Path(self._folder.name))
        self._started.append(process)
        if self._closed.is_set():
            process.kill()
        return process

    def output(self) -> str:
        """Return what the processes wrote during their last jobs, after a process has ended."""
        return output_in(Path(self._folder.name))

    def stop(self, running: Collection[Future[Batch[Any]]]) -> None:
        """Start no more jobs, and wait a few seconds for the running ones to end."""
        # No future is cancelled: queued batches come back empty.
        self.stopped.set()
        self.stuck = bool(wait(running, timeout=GRACE_SECONDS).not_done)

    def close(self, *, by_force: bool) -> None:
        """End all processes and what they started; with `by_force`, kill them at once."""
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
    """Yield a pool of `workers` processes, and close it at the end.

    If the block raises an exception or jobs do not stop, it kills the processes.
    """
    pool = open_pool(workers)
    by_force = True
    try:
        yield pool
        by_force = pool.stuck
    finally:
        pool.close(by_force=by_force)


class LoneWorker:
    """A worker process that makes one call at a time, and starts with the first call.

    If a call ends the process, or the harness fails in it, the next call starts another process.
    Use as a context manager.
    """

    def __init__(self, open_pool: OpenPool = Pool) -> None:
        self._open_pool = open_pool
        self._pool: BatchPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def call(self, work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
        """Call `work(job)` in the process; return its result, and what the code under test wrote.

        The result is Exited if the process ended, or if `work` raised another exception than a
        HarnessError, because a client in the same process may have caused it.

        Raises:
            HarnessError: `work` raised it.
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
        """Kill the process and all that it started."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close(by_force=True)


def call_in_worker(work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
    """Call `work(job)` in a new worker process; return its result or Exited, and its output."""
    with LoneWorker() as worker:
        return worker.call(work, job)
