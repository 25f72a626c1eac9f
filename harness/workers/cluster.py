"""Run batches in processes on the workers of a Dask cluster, from the side of the command.

Dask distributes the batches, and gives the batches of a lost worker to another one. Each batch has
one future, so that its results count only once.
"""

import importlib
import socket
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from harness.errors import UsageError
from harness.workers.batch import Batch, encode_work
from harness.workers.cluster_worker import (
    PoolName,
    Reply,
    close_pool,
    run_on_worker,
    stop_pool,
    work_in_folder,
)
from harness.workers.pool import GRACE_SECONDS
from harness.workers.process import ENDED, ProcessEndedError
from harness.workers.requirements import Requirements

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

PREFIX: Final = "dask://"
_CONNECT_SECONDS: Final = 10
_WATCH_SECONDS: Final = 2.0
# For a request to all workers, and after a Ctrl-C. A worker that is stopped, or whose machine is
# lost, never answers.
_REACH_SECONDS: Final = 5.0
_LEAVE_SECONDS: Final = 0.5
# For workers to come back after all were lost.
_WITHOUT_WORKERS_SECONDS: Final = 60.0
_START: Final = "`dask worker tcp://{}` starts a worker."
_SAME: Final = "Install the same version of harness for the command, the scheduler and all workers."


class Cluster(msgspec.Struct, frozen=True):
    """A connection to the scheduler of a Dask cluster.

    Fields:
        address: the address of the scheduler, `HOST:PORT`.
        client: the `distributed.Client`.
        needed: what the workers must have in common with the command.
        threads: number of batches that the cluster runs at a time.
    """

    address: str
    client: Any
    needed: Requirements
    threads: int

    def pool(self, processes: int) -> "ClusterPool":
        """Open a pool with at most `processes` processes on each worker."""
        return ClusterPool(self, processes)

    def has_workers(self) -> bool:
        """Return whether the scheduler knows at least one worker."""
        try:
            return bool(self.client.nthreads())
        except Exception:  # noqa: BLE001 - of any kind, if the scheduler is lost
            return False

    def everywhere(
        self,
        seconds: float,
        action: Callable[..., Any],
        *values: Any,  # noqa: ANN401 - those of `action`
        **named: Any,  # noqa: ANN401
    ) -> None:
        """Call `action` on each worker, ignore errors, and wait at most `seconds` for the answers.

        The call reaches the other workers, too, if one of them never answers.
        """
        _in_time(seconds, lambda: self.client.run(action, *values, on_error="ignore", **named))


def _in_time(seconds: float, action: Callable[[], object]) -> None:
    """Call `action` in a thread, ignore its errors, and wait at most `seconds` for its end."""

    def call() -> None:
        with suppress(Exception):  # what is lost has nothing to end
            action()

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)


@contextmanager
def connect(on: str, needed: Requirements) -> Iterator[Cluster]:
    """Yield a connection to the cluster whose scheduler is at `on`.

    Args:
        on: the address `dask://HOST:PORT`.
        needed: what the workers must have in common with the command.

    Raises:
        UsageError: Dask is not installed, no scheduler answers, or the scheduler has no worker.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise UsageError(
            "Dask is not installed", where="--on", hint="Run pip install 'toolcall-harness[dask]'."
        ) from None
    address = on.removeprefix(PREFIX)
    try:
        _greet(on)
        client = distributed.Client(
            f"tcp://{address}", timeout=_CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            f"expected a Dask scheduler, but none answers: {error}",
            where=on,
            hint="Check host and port: not those of the dashboard. `dask scheduler --port 8786` "
            "starts a scheduler at dask://127.0.0.1:8786.",
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"expected workers, found none within {_CONNECT_SECONDS} seconds",
                where=on,
                hint=_START.format(address),
            ) from None
        yield Cluster(address, client, needed, sum(client.nthreads().values()) or 1)
    finally:
        _in_time(_LEAVE_SECONDS, client.close)


def _greet(on: str) -> None:
    """Check that a scheduler answers, because Dask would wait endlessly for another server.

    Raises:
        OSError: no scheduler answers.
        ValueError: the address is not HOST:PORT.
    """
    place = urlsplit(on)
    if not place.hostname or not place.port:
        raise ValueError("the address is not HOST:PORT")
    with socket.create_connection((place.hostname, place.port), _CONNECT_SECONDS) as connection:
        if not connection.recv(1):
            raise ConnectionError("the connection was closed")


class ClusterPool:
    """A `BatchPool` whose processes run on the workers of a cluster."""

    def __init__(self, cluster: Cluster, processes: int) -> None:
        self._cluster = cluster
        self._name = PoolName(uuid.uuid4().hex, processes)
        self._executor = cluster.client.get_executor(pure=False)
        self._waiting: set[Future[Any]] = set()
        self._output = ""
        self._closed = threading.Event()
        self._is_stopped = False
        self.stuck = False
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(
        self, worker: Callable[[JobT], ResultT], jobs: tuple[JobT, ...]
    ) -> Future[Batch[ResultT]]:
        """Queue a batch; return its future, which raises ProcessEndedError if its process ends."""
        work = partial(work_in_folder, self._cluster.needed.folder, worker)
        message = encode_work(work, jobs)
        future: Future[Batch[ResultT]] = Future()
        self._waiting.add(future)
        sent = self._executor.submit(run_on_worker, self._name, self._cluster.needed, message)
        sent.add_done_callback(partial(self._resolve, future))
        return future

    def output(self) -> str:
        """Return what the code wrote before the last process that ended."""
        return self._output

    def stop(self, running: Collection[Future[Batch[Any]]]) -> None:
        """Start no more jobs, and wait a few seconds for the running ones to end."""
        self._is_stopped = True
        self._cluster.everywhere(0.0, stop_pool, self._name.key)
        self.stuck = bool(wait(running, timeout=GRACE_SECONDS).not_done)

    def close(self, *, by_force: bool) -> None:
        """End the pool's processes on all workers; with `by_force`, kill them at once."""
        self._closed.set()
        seconds = _LEAVE_SECONDS if by_force or self._is_stopped else _REACH_SECONDS
        _in_time(seconds, lambda: self._executor.shutdown(wait=False))
        self._cluster.everywhere(seconds, close_pool, self._name.key, by_force=by_force)

    def _resolve(self, future: Future[Any], sent: Future[Reply]) -> None:
        self._waiting.discard(future)
        with suppress(InvalidStateError):  # the cluster was given up before
            try:
                reply = sent.result()
            except BaseException as error:  # noqa: BLE001 - who waits for the future gets it
                future.set_exception(self._error_of(error))
                return
            if reply.batch is None:
                self._output = reply.output
                future.set_exception(ProcessEndedError(ENDED))
            else:
                future.set_result(reply.batch)

    def _error_of(self, error: BaseException) -> BaseException:
        where = f"{PREFIX}{self._cluster.address}"
        if type(error).__name__ == "KilledWorker":  # each worker that ran it ended
            return ProcessEndedError(str(error))
        if isinstance(error, CancelledError):
            return UsageError(
                "the connection to the scheduler was lost",
                where=where,
                hint="Check that the scheduler runs, then repeat the command.",
            )
        text = f"{type(error).__name__}: {error}"
        return UsageError(f"the cluster cannot run a batch: {text}", where=where, hint=_SAME)

    def _watch(self) -> None:
        """Fail all waiting batches if no worker is left, because Dask would wait endlessly."""
        seen = time.monotonic()
        while not self._closed.wait(_WATCH_SECONDS):
            if self._cluster.has_workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > _WITHOUT_WORKERS_SECONDS:
                lost = UsageError(
                    f"no worker is left since {_WITHOUT_WORKERS_SECONDS:.0f} seconds",
                    where=f"{PREFIX}{self._cluster.address}",
                    hint=_START.format(self._cluster.address),
                )
                for future in tuple(self._waiting):
                    with suppress(InvalidStateError):
                        future.set_exception(lost)
