"""Run jobs, here or in worker processes, and hand over each result as soon as it is there.

A job that kills its process costs nobody else's result; memory is bounded by the batches in
flight; an interruption keeps everything that was finished.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, wait
from typing import TypeAlias

import msgspec

from harness.judging.cases import Case
from harness.judging.results import Result
from harness.runs.batch import Batch, Exited, Judged, Worker, run_batch, run_job
from harness.runs.interruption import Interruption, interruptible
from harness.runs.plan import Job, batches
from harness.runs.pool import AnyFuture, OpenPool, Pool, open_processes, opener

OnResult: TypeAlias = Callable[[Result, Case | None], None]
OnProgress: TypeAlias = Callable[[int, int], None]
Crashed: TypeAlias = Callable[[Job, str], Result]

DIED = "the worker process died twice in this cell (killed, segmentation fault or os._exit)"

_POLL_SECONDS = 0.1
_BATCHES_PER_WORKER = 2


class Progress(msgspec.Struct, frozen=True):
    """How far an execution came; `done` of `total` jobs were handed over."""

    done: int
    total: int
    interrupted: bool = False

    @property
    def not_run(self) -> int:
        """Number of jobs without a result."""
        return self.total - self.done


def execute(
    jobs: Sequence[Job],
    worker: Worker,
    *,
    jobs_in_parallel: int,
    on_result: OnResult,
    on_progress: OnProgress,
    crashed: Crashed,
    make_executor: Callable[[int], Executor] | None = None,
) -> Progress:
    """Run `worker` over `jobs`; SIGINT stops it after the cells under way.

    Args:
        jobs: what to run; their order is kept only where one runs at a time.
        worker: importable and picklable; judges one job.
        jobs_in_parallel: 1 runs here, in this process; more start as many processes.
        on_result: called in this thread with each result, in any order.
        on_progress: called with (done, total), first with (0, total).
        crashed: makes the result of a job that twice killed its process or left it.
        make_executor: another `concurrent.futures.Executor` for n workers; this function
            shuts it down.

    Returns:
        How far it came.

    Raises:
        HarnessError: the worker's own, such as an unreadable cassette; the run stops.
        WorkerError: any other exception of the worker in a process; here it is itself.
    """
    with interruptible() as interruption:
        desk = _Desk(len(jobs), on_result, on_progress, crashed)
        try:
            if make_executor is None and jobs_in_parallel == 1:
                _run_here(jobs, worker, desk, interruption)
            else:
                open_pool = open_processes if make_executor is None else opener(make_executor)
                _Parallel(worker, jobs_in_parallel, open_pool, desk, interruption).run(jobs)
        except KeyboardInterrupt:
            interruption.requested = True
    return Progress(desk.done, len(jobs), interrupted=interruption.requested)


class _Desk:
    """Hands results over and counts them."""

    def __init__(
        self, total: int, on_result: OnResult, on_progress: OnProgress, crashed: Crashed
    ) -> None:
        self.done = 0
        self._total = total
        self._on_result = on_result
        self._on_progress = on_progress
        self._crashed = crashed
        on_progress(0, total)

    def take(self, job: Job, ended: Judged | Exited) -> None:
        if isinstance(ended, Exited):
            ended = self._crashed(job, ended.reason), None
        self._on_result(*ended)
        self.done += 1
        self._on_progress(self.done, self._total)

    def take_batch(self, jobs: tuple[Job, ...], batch: Batch) -> None:
        for job, ended in zip(jobs, batch.ended, strict=False):  # a stopped batch is shorter
            self.take(job, ended)
        if batch.fault is not None:
            raise batch.fault.rebuild()


def _run_here(
    jobs: Sequence[Job], worker: Worker, desk: _Desk, interruption: Interruption
) -> None:
    for job in jobs:
        if interruption.requested:
            return
        desk.take(job, run_job(worker, job))


class _Parallel:
    """Keeps a bounded number of batches in flight.

    When a process dies, its pool is lost with all batches in flight; their jobs then run one
    by one, each alone in a process, which shows whose fault it was.
    """

    def __init__(
        self,
        worker: Worker,
        workers: int,
        open_pool: OpenPool,
        desk: _Desk,
        interruption: Interruption,
    ) -> None:
        self._worker = worker
        self._workers = workers
        self._open_pool = open_pool
        self._desk = desk
        self._interruption = interruption
        self._flying: dict[AnyFuture, tuple[Job, ...]] = {}

    def run(self, jobs: Sequence[Job]) -> None:
        waiting = deque(batches(jobs, self._workers))
        while waiting and not self._interruption.requested:
            suspects = self._run_until_broken(waiting)
            while suspects and not self._interruption.requested:
                self._run_alone(suspects)

    def _run_until_broken(self, waiting: deque[tuple[Job, ...]]) -> deque[Job]:
        """Run batches until all are done; return the jobs in flight when a process died."""
        suspects: deque[Job] = deque()
        with self._open_pool(self._workers) as pool:
            while not suspects and not self._interruption.requested:
                self._fill(pool, waiting)
                if not self._flying:
                    break
                self._collect(self._some_done(), suspects)
            if self._interruption.requested:
                pool.stop(self._flying)
            self._collect_rest(suspects)
        return suspects
