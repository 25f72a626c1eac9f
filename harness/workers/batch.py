"""Run batches of jobs in a worker process, and send the results to the parent process.

If the parent asks, a worker stops between two jobs. A fault does not lose the results before it.
A worker sends its results as a pickle, from which `decode_batch` accepts only data. Otherwise, the
code under test could let the parent call any function, such as `os._exit`.
"""

import faulthandler
import io
import os
import pickle
import select
import signal
import struct
import threading
import traceback
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from harness.errors import HarnessError
from harness.workers import process_limits
from harness.workers.descendants import adopt_orphans
from harness.workers.end import end_at_once, end_with_parent
from harness.workers.interruption import stop_if, stop_requested
from harness.workers.output import CapturedOutput

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")
Work: TypeAlias = tuple[Callable[[Any], Any], tuple[Any, ...]]

_STANDARD_ERROR: Final = 2
_MOST_TRACE: Final = 100_000
# To a worker that shall stop; any other message is `encode_work`.
STOP: Final = b"s"
# The first byte of a message from a worker; the rest are seconds, or the number of the batch and
# its results.
ALLOW: Final = b"a"
RESULTS: Final = b"r"
_SECONDS: Final = struct.Struct("d")
_NUMBER: Final = struct.Struct("q")
# What `decode_batch` accepts, in addition to structs, enumerations and errors of the harness.
_BUILTINS: Final = frozenset({"frozenset", "set", "bytearray", "complex"})
_OTHERS: Final = frozenset(
    {
        ("harness.runs.declared", "_not_here"),  # in the place of a client
        ("msgspec._utils", "rebuild"),  # of a struct with keywords
        ("msgspec._core", "UNSET"),  # a member that a file leaves out
    }
)

_output: CapturedOutput | None = None  # of a worker process


class WorkerError(Exception):
    """An exception of the harness in a worker process: a bug, or damage done by a client.

    The text of the error is the traceback.
    """


class Exited(msgspec.Struct, frozen=True):
    """Says that the code under test ended its process, or tried to; `reason` says how."""

    reason: str


class Fault(msgspec.Struct, frozen=True):
    """An exception of the harness in a worker process, as a value that can be pickled.

    Fields:
        kind: the class, if it is a HarnessError; None for any other exception, which is a bug.
        state: the attributes of a HarnessError.
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
    """The results of the first jobs of a batch; the other jobs did not run.

    Fields:
        results: the result of each job, or how its client ended the process.
        outputs: what the code under test wrote during each of these jobs.
        fault: the exception of the harness in the next job; None if it did not fail.
    """

    results: tuple[ResultT | Exited, ...]
    outputs: tuple[str, ...]
    fault: Fault | None = None


class _ToParent:
    """The connection of a worker process to its parent, usable from any thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        # `Connection.poll` is slower, and needs the clock, which the code under test may stop.
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(connection.fileno(), select.POLLIN)

    def is_stopped(self) -> bool:
        return self._connection.poll(0) if self._poll is None else bool(self._poll.poll(0))

    def allow(self, seconds: float) -> None:
        """Tell the parent how many seconds the code that runs now may take."""
        self._send(ALLOW + _SECONDS.pack(seconds))

    def send(self, number: int, batch: Batch[Any]) -> None:
        self._send(RESULTS + _NUMBER.pack(number) + pickle.dumps(batch))

    def _send(self, message: bytes) -> None:
        with self._lock:
            self._connection.send_bytes(message)


def serve_batches(connection: Connection, environment: Mapping[str, str], folder: Path) -> None:
    """Run the batches that the parent sends, until it closes the connection.

    Args:
        connection: the connection to the parent.
        environment: the environment variables of the parent, which may have changed since the
            server process started.
        folder: the folder for what the code writes to standard output and standard error.
    """
    parent = _ToParent(connection)
    _enter_process(environment, folder)
    stop_if(parent.is_stopped)
    process = os.getpid()
    for number, message in enumerate(iter(partial(_received, connection), b"")):
        worker, jobs = pickle.loads(message)  # noqa: S301 - from the parent
        batch = run_batch(worker, jobs, parent.allow)
        if os.getpid() != process:  # the code under test has forked, and this is the copy
            os._exit(1)
        parent.send(number, batch)


def _received(connection: Connection) -> bytes:
    """Return the message with the next batch, or b"" if the parent stops or closes the worker."""
    try:
        message = connection.recv_bytes()
    except EOFError:
        return b""
    return b"" if message == STOP else message


def encode_work(worker: Callable[[JobT], Any], jobs: tuple[JobT, ...]) -> bytes:
    """Return the message that tells a worker process to run `worker` for each of `jobs`."""
    return pickle.dumps((worker, jobs))


def decode_seconds(message: bytes) -> float:
    """Return the number of seconds in a message of the kind `ALLOW`, which a worker sent."""
    seconds: float = _SECONDS.unpack(message[1:])[0]
    return seconds


def decode_batch(message: bytes) -> tuple[int, Batch[Any]]:
    """Return the number and the results in a message that starts with `RESULTS`.

    The message comes from untrusted code, so it can raise any exception if it is not valid.
    """
    start = 1 + _NUMBER.size
    batch = _DataUnpickler(io.BytesIO(message[start:])).load()
    if type(batch) is not Batch:
        raise TypeError(f"expected a Batch, found {type(batch).__name__}")
    return _NUMBER.unpack(message[1:start])[0], batch


class _DataUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as in the base class
        if (module == "builtins" and name in _BUILTINS) or (module, name) in _OTHERS:
            return super().find_class(module, name)
        if module.startswith("harness."):
            found = super().find_class(module, name)
            is_data = isinstance(found, type) and issubclass(
                found, (msgspec.Struct, Enum, HarnessError)
            )
            if is_data and found.__module__.startswith("harness."):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not data of the harness")


def run_batch(
    worker: Callable[[JobT], ResultT],
    jobs: tuple[JobT, ...],
    on_renewed: Callable[[float], None],
) -> Batch[ResultT]:
    """Run `jobs` one after another, up to the first fault or until the parent asks to stop.

    Args:
        worker: the function that runs one job.
        jobs: the jobs of the batch.
        on_renewed: called with the number of seconds that the running code may still take.
    """
    results: list[ResultT | Exited] = []
    outputs: list[str] = []
    for job in jobs:
        if stop_requested():
            break
        process_limits.watch(on_renewed)
        try:
            result, output = _run_and_read(worker, job)
        except MemoryError:  # what the code under test keeps leaves no room for more
            os.write(_STANDARD_ERROR, process_limits.MEMORY_USED_UP)
            os._exit(1)
        except Exception as error:  # noqa: BLE001 - the parent raises it again
            return Batch(tuple(results), tuple(outputs), fault_of(error))
        finally:
            process_limits.release()
        results.append(result)
        outputs.append(output)
    return Batch(tuple(results), tuple(outputs))


def _run_and_read(worker: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
    """Run one job; return its result, and what the code wrote."""
    if _output is not None:
        _output.clear()
    result: ResultT | Exited
    try:
        result = run_job(worker, job)
    except Exception:
        raise
    except BaseException as error:  # noqa: BLE001 - of the code under test: Ctrl-C is ignored here
        result = Exited(type(error).__name__)
    return result, "" if _output is None else _output.text()


def run_job(worker: Callable[[JobT], ResultT], job: JobT) -> ResultT | Exited:
    """Run one job; return its result, or Exited if it raises SystemExit."""
    try:
        return worker(job)
    except SystemExit as error:
        return Exited(f"SystemExit: {_text(error.code)}")


def _text(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - of the code under test
        return type(error).__name__


def _enter_process(environment: Mapping[str, str], folder: Path) -> None:
    """Prepare this process as a worker: its process group, output, limits and signals.

    The parent handles Ctrl-C, and this process ends if the parent dies.
    """
    global _output  # noqa: PLW0603 - a process has one standard output
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
    if hasattr(signal, "SIGHUP"):  # a stopped process gets it if its server ends
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def fault_of(error: Exception) -> Fault:
    """Return an exception as a value that can be pickled."""
    trace = "".join(traceback.format_exception(error))[-_MOST_TRACE:]
    if isinstance(error, HarnessError):
        return Fault(type(error), dict(vars(error)), trace)
    return Fault(None, {}, trace)
