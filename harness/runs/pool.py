"""Worker processes: a batch of jobs in each, stopped in good order or by force.

Workers are forked from a server process that has imported the harness and nothing else, where the
system can do that, and otherwise spawned: a forked copy of a threaded parent may deadlock. What is
passed to a worker must therefore be importable and picklable. A worker stops between two jobs if
the parent asks, keeps the results before a fault, and returns nothing that might fail to unpickle.
Runs and searches use the same pool: the first Ctrl-C stops after the running jobs, the second at
once.
"""

import faulthandler
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_all_start_methods
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final, Generic, Self, TypeVar

import msgspec

from harness.errors import HarnessError
from harness.judging import process_limits
from harness.runs.descendants import Descendants, adopt_orphans, kill_group
from harness.runs.output import CapturedOutput, output_in
from harness.runs.worker_end import end_at_once, end_with_parent

_STANDARD_ERROR: Final = 2
JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

# Time for a stopped worker to finish its running job.
GRACE_SECONDS = 5.0
# Time for the processes of a pool without jobs to end; a thread of a client may never end.
_EXIT_SECONDS: Final = 2.0
ENDED: Final = (
    "its process ended (killed, segmentation fault, os._exit, or code that no deadline can stop)"
)
_INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM)

_METHOD: Final = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"

# Set by the parent to stop the workers, or by the user to stop a search in this process.
_stop: "Event | Interruption | None" = None
_output: CapturedOutput | None = None  # of a worker process


class WorkerError(Exception):
    """A bug of the harness in a worker process; its text is the traceback."""


class Exited(msgspec.Struct, frozen=True):
    """The code under test ended its process, or tried to; a message says how."""

    reason: str


class Fault(msgspec.Struct, frozen=True):
    """An exception of the worker itself, as a value that can be pickled.

    Fields:
        kind: the class of a HarnessError, with its attributes in `state`; None for a bug.
        trace: the traceback.
    """

    kind: type[HarnessError] | None
    state: dict[str, Any]
    trace: str

    def rebuild(self) -> Exception:
        """Return an exception equal to the one that was raised."""
        if self.kind is None:
            return WorkerError(self.trace)
        error = self.kind.__new__(self.kind)
        error.__dict__.update(self.state)
        error.args = (error.what, error.where, error.hint)
        return error


class Batch(msgspec.Struct, Generic[ResultT], frozen=True):
    """The results of the first jobs of a batch; those after them did not run.

    Fields:
        outputs: what the code under test wrote during each of these jobs.
        fault: of the job after them.
    """

    results: tuple[ResultT | Exited, ...]
    outputs: tuple[str, ...]
    fault: Fault | None = None


def run_batch(worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...]) -> Batch[ResultT]:
    """Run `jobs` one after another, up to the first fault or until the parent asks to stop."""
    results: list[ResultT | Exited] = []
    outputs: list[str] = []
    for job in jobs:
        if stop_requested():
            break
        if _output is not None:
            _output.clear()
        try:
            results.append(_run_on_watch(worker, job))
        except MemoryError:  # what the code under test keeps leaves no room for more
            os.write(_STANDARD_ERROR, process_limits.MEMORY_USED_UP)
            os._exit(1)
        except Exception as error:  # noqa: BLE001 - the parent raises it again
            return Batch(tuple(results), tuple(outputs), _fault(error))
        outputs.append("" if _output is None else _output.text())
    return Batch(tuple(results), tuple(outputs))


def run_job(worker: Callable[[JobT], ResultT], job: JobT) -> ResultT | Exited:
    """Run one job; if it tries to leave the process, that is its result."""
    try:
        return worker(job)
    except SystemExit as error:
        return Exited(f"SystemExit: {error.code!r}")


def _run_on_watch(worker: Callable[[JobT], ResultT], job: JobT) -> ResultT | Exited:
    process_limits.watch()
    try:
        return run_job(worker, job)
    except KeyboardInterrupt:  # of the code under test: a worker ignores Ctrl-C
        return Exited("KeyboardInterrupt")
    finally:
        process_limits.release()


def stop_requested() -> bool:
    """Return whether the parent of this worker process, or the user, asked it to stop."""
    return _stop is not None and _stop.is_set()


def enter_worker_process(stop: Event, environment: Mapping[str, str], folder: Path) -> None:
    """Prepare a process of the pool, which leads a process group.

    Its parent handles Ctrl-C, and the process ends if its parent dies.

    Args:
        stop: set to stop between two jobs.
        environment: of the parent, which may have changed since its server process started.
        folder: for what is written to standard output and standard error.
    """
    global _stop, _output  # noqa: PLW0603 - a pool's initializer has no other place for values
    _stop = stop
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # so that it ends together with the processes that it starts
    adopt_orphans()
    end_with_parent()  # before any thread starts, because it may fork
    end_at_once()
    _output = CapturedOutput(folder)
    faulthandler.enable()  # a segmentation fault prints where the code was
    process_limits.limit_memory()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for systems without signal masks
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _fault(error: Exception) -> Fault:
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, HarnessError):
        return Fault(type(error), dict(vars(error)), trace)
    return Fault(None, {}, trace)


class Interruption:
    """Whether the user asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def is_set(self) -> bool:
        """Whether it was requested."""
        return self.requested

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Request a stop; if it was requested before, raise KeyboardInterrupt."""
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGINT and SIGTERM into a request while the body runs.

    A flag instead of an exception, so that no finished result is lost before it is stored. Off the
    main thread, nothing changes. Nor does a signal that is ignored (`nohup`) or that no handler of
    Python receives.
    """
    interruption = Interruption()
    main = threading.current_thread() is threading.main_thread()
    found = {number: signal.getsignal(number) for number in _INTERRUPTS} if main else {}
    before = {number: handler for number, handler in found.items() if callable(handler)}
    for number in before:
        signal.signal(number, interruption.on_signal)
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stoppable() -> Iterator[None]:
    """Let an interrupt set `stop_requested` in this process while the body runs.

    An exception might be raised in a callback of a library, where Python ignores it.
    """
    global _stop  # noqa: PLW0603 - as in a worker process
    before = _stop
    with interruptible() as _stop:
        try:
            yield
        finally:
            _stop = before


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Delay SIGINT and SIGTERM while the body runs; processes started in it never receive them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no signal masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Handle SIGINT and SIGTERM after the body; the exception of one would end code in C++.

    A mask would not do, because the system may give the signal to another thread.
    """
    noted: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    found = {number: signal.getsignal(number) for number in _INTERRUPTS} if main else {}
    before = {number: handler for number, handler in found.items() if callable(handler)}
    for number in before:
        signal.signal(number, lambda noted_number, _frame: noted.append(noted_number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for noted_number in noted:
        before[signal.Signals(noted_number)](noted_number, None)


class Pool:
    """A process pool and the event that tells its workers to stop."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context(_METHOD)
        context.set_forkserver_preload(["harness.runs.worker"])
        self._folder = TemporaryDirectory(prefix="harness-output-", ignore_cleanup_errors=True)
        self._others = set(multiprocessing.active_children())
        self._stop = context.Event()
        self._executor = ProcessPoolExecutor(
            workers,
            context,
            initializer=enter_worker_process,
            initargs=(self._stop, dict(os.environ), Path(self._folder.name)),
        )
        self.stuck = False

    def submit(
        self, worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...]
    ) -> Future[Batch[ResultT]]:
        """Queue a batch."""
        with block_interrupts():  # a process that starts now must not receive them
            return self._executor.submit(run_batch, worker, jobs)

    def output(self) -> str:
        """Return what the processes wrote during their last jobs, after one has ended."""
        return output_in(Path(self._folder.name))

    def stop(self, running: Collection[Future[Batch[ResultT]]]) -> None:
        """Wait a while for the running jobs to end; start no others."""
        # No future is cancelled: queued batches come back empty, and a cancelled future
        # makes CPython 3.11's pool fail when it breaks later.
        self._stop.set()
        self.stuck = bool(wait(running, timeout=GRACE_SECONDS).not_done)

    def close(self, *, by_force: bool) -> None:
        """End all processes and those that they started, at once if `by_force`."""
        workers = set(multiprocessing.active_children()) - self._others
        started = Descendants([each.pid for each in workers if each.pid is not None])
        ending = threading.Thread(target=self._executor.shutdown)
        ending.start()
        ending.join(0.0 if by_force else _EXIT_SECONDS)
        for process in workers:
            if process.pid is not None:
                kill_group(process.pid)
            process.kill()
        started.kill()
        ending.join()
        self._folder.cleanup()


@contextmanager
def open_processes(workers: int) -> Iterator[Pool]:
    """Open a pool of `workers` processes; those that do not stop, or must not, are killed."""
    pool = Pool(workers)
    by_force = True
    try:
        yield pool
        by_force = pool.stuck
    finally:
        pool.close(by_force=by_force)


class LoneWorker:
    """A worker process for one call at a time, which starts with the first call.

    If a call ends the process, the next one starts another. Use as a context manager.
    """

    def __init__(self) -> None:
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def call(self, work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
        """Return what `work` returns for `job`, or how the process ended; and what it wrote.

        Raises:
            HarnessError: from `work`.
            WorkerError: any other exception of it.
        """
        self._pool = pool = self._pool or Pool(1)
        try:
            batch = pool.submit(work, (job,)).result()
        except BrokenExecutor:
            output = pool.output()
            self.close()
            return Exited(ENDED), output
        except BaseException:  # Ctrl-C
            self.close()
            raise
        if batch.fault is not None:
            raise batch.fault.rebuild()
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
