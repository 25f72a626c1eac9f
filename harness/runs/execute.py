"""Run jobs in this process, in worker processes or on a cluster, and pass on each result at once.

If a job kills its process, the results of other jobs are not lost. Only running batches are in
memory. If the user interrupts the jobs, all finished results stay.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from time import monotonic
from typing import TypeAlias

import msgspec

from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import AnyCase, UnreadableFile
from harness.runs.plan import Job, batches
from harness.runs.redaction import clean_output
from harness.workers.batch import Batch, Exited, run_job
from harness.workers.interruption import Interruption, interruptible
from harness.workers.isolation import Isolation
from harness.workers.pool import BatchPool, OpenPool, Pool, open_processes
from harness.workers.process import ENDED, FAILED, ProcessEndedError

# The result of a cell, or the file that keeps it from running.
Judged: TypeAlias = tuple[Result, AnyCase | None] | UnreadableFile
Worker: TypeAlias = Callable[[Job], Judged]
OnResult: TypeAlias = Callable[[Result, AnyCase | None, str], None]
OnProgress: TypeAlias = Callable[[int, int], None]
Crashed: TypeAlias = Callable[[Job, str], Result]
Apart: TypeAlias = Callable[[Job], str]

_POLL_SECONDS = 0.1
_BATCHES_PER_WORKER = 2
# A client whose cells in a row do not end, such as one in an endless loop in C, is stopped.
_MOST_ENDLESS = 5
_ENDLESS = 10.0
STOPPED = "several cells in a row did not end, so its other cells did not run"


class Progress(msgspec.Struct, frozen=True):
    """How far the execution of jobs came.

    Fields:
        done, total: number of jobs with a result, and of all jobs.
        interrupted: whether the user stopped the execution.
        unreadable: the files that cannot be used, by path.
        stopped: the clients whose run stopped, because their cells did not end.
    """

    done: int
    total: int
    interrupted: bool = False
    unreadable: tuple[UnreadableFile, ...] = ()
    stopped: tuple[str, ...] = ()

    @property
    def not_run(self) -> int:
        """Number of jobs without a result."""
        return self.total - self.done


def execute(  # noqa: PLR0913 - one run and who listens to it, by keyword
    jobs: Sequence[Job],
    worker: Worker,
    *,
    jobs_in_parallel: int,
    on_result: OnResult,
    on_progress: OnProgress,
    crashed: Crashed,
    apart: Apart = lambda _job: "",
    open_pool: OpenPool = Pool,
) -> Progress:
    """Call `worker` for each of `jobs`; after SIGINT, finish the running jobs and return.

    Args:
        jobs: the cells to judge. They run in this order only if one runs at a time.
        worker: a function that judges one job. It must be importable, so that it can be pickled.
        jobs_in_parallel: number of worker processes; 0 to run the jobs in this process.
        on_result: called in this thread with each result, its detail page and what the client
            wrote, in any order.
        on_progress: called with (done, total), first with (0, total).
        crashed: returns the result of a job that killed its process twice, or tried to exit.
        apart: returns equal values for jobs that may share a worker process: "" for bundled
            clients, another text for third-party code. What a client does to its process must not
            change results of others. If the harness fails twice with such a job, it is a crash.
        open_pool: opens the worker processes; see `harness.runs.engine`.

    Returns:
        How far the execution came.

    Raises:
        HarnessError: `worker` raised it, for example because a client cannot be loaded.
        WorkerError: another exception of `worker` in a process without third-party code.
    """
    with interruptible() as interruption:
        desk = _ResultCollector(len(jobs), on_result, on_progress, crashed)
        on_progress(0, len(jobs))
        try:
            if not jobs_in_parallel:
                _run_here(jobs, worker, desk, interruption)
            else:
                parallel = _Parallel(worker, jobs_in_parallel, desk, interruption, apart, open_pool)
                for group in _groups(jobs, apart):
                    parallel.run(group)
        except KeyboardInterrupt:
            interruption.requested = True
    return Progress(
        desk.done,
        len(jobs),
        interrupted=interruption.requested,
        unreadable=tuple(sorted(desk.unreadable)),
        stopped=tuple(sorted(desk.stopped)),
    )


class _ResultCollector(msgspec.Struct):
    """Passes results to the functions of the caller, and counts them."""

    total: int
    on_result: OnResult
    on_progress: OnProgress
    crashed: Crashed
    done: int = 0
    left_out: int = 0
    stopped: set[str] = msgspec.field(default_factory=set)
    unreadable: set[UnreadableFile] = msgspec.field(default_factory=set)

    def take(self, job: Job, ended: Judged | Exited, output: str = "") -> None:
        if isinstance(ended, UnreadableFile):
            self.unreadable.add(ended)
            self.left_out += 1
        else:
            if isinstance(ended, Exited):
                ended = self.crashed(job, ended.reason), None
            self.on_result(*ended, clean_output(output))
            self.done += 1
        self.on_progress(self.done + self.left_out, self.total)


def _groups(jobs: Sequence[Job], apart: Apart) -> Iterable[Sequence[Job]]:
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(apart(job), []).append(job)
    return groups.values()


def _run_here(
    jobs: Sequence[Job], worker: Worker, desk: _ResultCollector, interruption: Interruption
) -> None:
    for job in jobs:
        if interruption.requested:
            return
        desk.take(job, run_job(worker, job))


class _Parallel(msgspec.Struct):
    """Runs jobs in worker processes, with a limited number of batches at a time.

    A job gets a second try if its process died with its batch, if the harness failed in it, or if
    the client hung. Such jobs run again, each alone in a process, as `Isolation` describes.
    """

    worker: Worker
    workers: int
    desk: _ResultCollector
    interruption: Interruption
    apart: Apart
    open_pool: OpenPool
    flying: dict[Future[Batch[Judged]], tuple[Job, ...]] = msgspec.field(default_factory=dict)
    doubtful: deque[tuple[Job, Judged | Exited | None, str]] = msgspec.field(default_factory=deque)
    deaths: int = 0  # batches in a row whose process ended

    def run(self, jobs: Sequence[Job]) -> None:
        self.deaths = 0
        waiting = deque(batches(jobs, self.workers))
        with open_processes(self.workers, self.open_pool) as pool:
            self._fly(pool, waiting, limit=self.workers * _BATCHES_PER_WORKER)
        if not self.interruption.requested:
            self.doubtful.extend((job, None, "") for group in waiting for job in group)
        clients: dict[str, Isolation] = {}
        endless = EndlessCells()
        try:
            while self.doubtful:
                job, ended, output = self.doubtful.popleft()
                if endless.has_stopped(job.normalizer):
                    self.desk.stopped.add(job.normalizer)
                    continue
                if not self.interruption.requested:
                    client = clients.setdefault(
                        job.normalizer, Isolation(has_hung, open_pool=self.open_pool)
                    )
                    began = monotonic()
                    ended, output = self._run_alone(client, job, ended, output)
                    endless.count(job.normalizer, ended, monotonic() - began)
                elif ended is None or isinstance(ended, Exited):
                    continue  # it is one of the jobs that did not run
                self.desk.take(job, ended, output)
        finally:
            for client in clients.values():
                client.close()

    def _run_alone(
        self, client: Isolation, job: Job, ended: Judged | Exited | None, output: str
    ) -> tuple[Judged | Exited, str]:
        if ended is None:
            return client.run(self.worker, job)
        return client.run_again(self.worker, job, ended, output)

    def _fly(self, pool: BatchPool, waiting: deque[tuple[Job, ...]], limit: int) -> None:
        """Run batches until all have ended, or until the user asks to stop."""
        while not self.interruption.requested:
            if self.deaths >= _MOST_ENDLESS and not self.flying:
                return  # the rest runs alone, where a client that never ends is noticed
            while waiting and self.deaths < _MOST_ENDLESS and len(self.flying) < limit:
                self._submit(pool, waiting.popleft())
            if not self.flying:
                return
            self._collect()
        pool.stop(self.flying)
        self._collect()
        self.flying.clear()

    def _submit(self, pool: BatchPool, jobs: tuple[Job, ...]) -> None:
        self.flying[pool.submit(self.worker, jobs)] = jobs

    def _collect(self) -> None:
        """Wait a moment for batches to end, and collect the results of those that did."""
        done, _ = wait(self.flying, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            jobs = self.flying.pop(future)
            try:
                batch = future.result()
            except ProcessEndedError:
                self.deaths += 1
                self._doubt(jobs, ENDED)
            else:
                if any(map(ran_client, batch.results)):
                    self.deaths = 0
                self._take(jobs, batch)

    def _take(self, jobs: tuple[Job, ...], batch: Batch[Judged]) -> None:
        ended = zip(jobs, batch.results, batch.outputs, strict=False)
        for job, result, output in ended:
            if has_hung(result):
                self.doubtful.append((job, result, output))
            elif isinstance(result, UnreadableFile) and self.apart(job):
                self._doubt([job], ENDED)  # another process may be able to read it
            else:
                self.desk.take(job, result, output)
        left = jobs[len(batch.results) :]
        if batch.fault is not None and (batch.fault.kind is not None or not self.apart(left[0])):
            raise batch.fault.rebuild()
        if not self.interruption.requested:  # a client may have stopped the batch, too
            self._doubt(left, ENDED if batch.fault is None else FAILED)

    def _doubt(self, jobs: Iterable[Job], reason: str) -> None:
        self.doubtful.extend((job, Exited(reason), "") for job in jobs)


class EndlessCells:
    """Counts the cells in a row that did not end, such as those of a client that loops in C."""

    def __init__(self) -> None:
        self._in_a_row: Counter[str] = Counter()

    def count(self, client: str, ended: Judged | Exited, seconds: float) -> None:
        """Count a cell of `client` that took so many seconds, if it is one of those."""
        if isinstance(ended, Exited) and seconds > _ENDLESS:
            self._in_a_row[client] += 1
        elif ran_client(ended):
            self._in_a_row[client] = 0

    def has_stopped(self, client: str) -> bool:
        """Return whether so many cells did not end that no further one may run."""
        return self._in_a_row[client] >= _MOST_ENDLESS


def ran_client(ended: Judged | Exited) -> bool:
    """Return whether the client ran for a cell, which it does not if the cell is unsupported."""
    is_unsupported = isinstance(ended, tuple) and ended[0].outcome is Outcome.UNSUPPORTED
    return not (is_unsupported or isinstance(ended, UnreadableFile))


def has_hung(ended: Judged | Exited) -> bool:
    """Return whether the outcome of a judged cell is a hang of its client."""
    return isinstance(ended, tuple) and ended[0].outcome is Outcome.HANG
