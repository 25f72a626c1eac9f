"""Worker processes: a batch of jobs in each, stopped in good order or by force.

Always `spawn`: a forked copy of a threaded parent may deadlock, and `spawn` is the same on
every system. What is passed to a worker must therefore be importable and picklable. A worker
stops between two jobs if the parent asks, keeps the results before a fault, and returns nothing
that might fail to unpickle. The first Ctrl-C stops after the running cells, the second at once.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.synchronize import Event
from types import FrameType
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from harness.errors import HarnessError
from harness.judging.results import Result
from harness.runs.plan import Job
from harness.runs.run import AnyCase

Judged: TypeAlias = tuple[Result, AnyCase | None]
Worker: TypeAlias = Callable[[Job], Judged]

# Set by the parent when the run is to stop; None outside the harness's own pool.
_stop: Event | None = None


class WorkerError(Exception):
    """A bug of the harness in a worker process; its text is the traceback."""


class Exited(msgspec.Struct, frozen=True):
    """The code under test called `sys.exit` or so; the reason in words."""

    reason: str


class Fault(msgspec.Struct, frozen=True):
    """An exception of the worker itself, as it crosses the border between processes.

    Fields:
        kind: the HarnessError that it was, with its attributes in `state`; None for a bug.
        trace: the traceback.
    """

    kind: type[HarnessError] | None
    state: dict[str, Any]
    trace: str

    def rebuild(self) -> Exception:
        """Return an exception that says the same as the one that was raised."""
        if self.kind is None:
            return WorkerError(self.trace)
        error = self.kind.__new__(self.kind)
        error.__dict__.update(self.state)
        error.args = (error.what, error.where, error.hint)
        return error


class Batch(msgspec.Struct, frozen=True):
    """What came of the first jobs of a batch; those after them did not run."""

    ended: tuple[Judged | Exited, ...]
    fault: Fault | None = None


def run_batch(worker: Worker, jobs: tuple[Job, ...]) -> Batch:
    """Run `jobs` one after another, up to the first fault or until asked to stop."""
    ended: list[Judged | Exited] = []
    for job in jobs:
        if _stop is not None and _stop.is_set():
            break
        try:
            ended.append(run_job(worker, job))
        except Exception as error:  # noqa: BLE001 - it is handed to the parent, which raises it
            return Batch(tuple(ended), _fault(error))
    return Batch(tuple(ended))


def run_job(worker: Worker, job: Job) -> Judged | Exited:
    """Run one job; an attempt to leave the process is what came of it, not an exit."""
    try:
        return worker(job)
    except SystemExit as error:
        return Exited(f"SystemExit: {error.code!r}")


def enter_worker_process(stop: Event) -> None:
    """Prepare a process of the pool: Ctrl-C is the parent's, and no parent means no work."""
    global _stop  # noqa: PLW0603 - a pool's initializer has no other place to leave a value
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for systems without signal masks
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _fault(error: Exception) -> Fault:
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, HarnessError):
        return Fault(type(error), dict(vars(error)), trace)
    return Fault(None, {}, trace)


class Interruption:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Ask to stop; when asked before, raise KeyboardInterrupt."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT into a request while the body runs.

    Off the main thread, and where SIGINT is ignored already (`nohup`), nothing changes.
    """
    interruption = Interruption()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or before is signal.SIG_IGN or before is None:
        yield interruption
        return
    signal.signal(signal.SIGINT, interruption.on_signal)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def block_sigint() -> Iterator[None]:
    """Keep SIGINT waiting while the body runs; processes started in it hold it too."""
    with _sigint("SIG_BLOCK"):
        yield


@contextmanager
def unblock_sigint() -> Iterator[None]:
    """Let SIGINT through while the body runs, in a process that was started with it held."""
    with _sigint("SIG_UNBLOCK"):
        yield


@contextmanager
def _sigint(how: Literal["SIG_BLOCK", "SIG_UNBLOCK"]) -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks
        yield
        return
    before = signal.pthread_sigmask(getattr(signal, how), {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
        with block_sigint():  # a process that starts now must not see a Ctrl-C
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


class _OtherExecutor:
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
            yield _OtherExecutor(executor)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    return open_executor
