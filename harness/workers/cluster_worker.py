"""Run batches on a worker of a Dask cluster, each in a process with the limits of a local run.

If a client under test ends its process, only its cell fails, and the worker continues. The
scheduler imports this module, too, because it decodes the messages.
"""

import asyncio
import importlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any, Final, TypeVar

import msgspec

from harness.errors import UsageError
from harness.workers.batch import Batch, fault_of
from harness.workers.pool import Pool
from harness.workers.process import ProcessEndedError
from harness.workers.requirements import Requirements, difference

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

_POLL_SECONDS: Final = 0.5
# A command that was killed does not close its processes.
_IDLE_SECONDS: Final = 60.0


class PoolName(msgspec.Struct, frozen=True):
    """The name of a pool that one command uses, with processes on each worker.

    Fields:
        key: a text that is unique among all pools.
        processes: the largest number of processes on each worker.
    """

    key: str
    processes: int


class Reply(msgspec.Struct, frozen=True):
    """The answer of a cluster's worker to a batch.

    Fields:
        batch: the results; None if the process of the batch ended.
        output: if the process ended, what the processes of the pool had written.
    """

    batch: Batch[Any] | None
    output: str = ""


def run_on_worker(name: PoolName, needed: Requirements, message: bytes) -> Reply:
    """Run a batch. Dask calls this in a thread of its worker.

    Args:
        name: the pool.
        needed: what this worker must have in common with the command.
        message: the batch, encoded by `encode_work`.
    """
    distributed: Any = importlib.import_module("distributed")  # part of the extra `dask`
    worker = distributed.get_worker()
    problem = difference(needed, worker.address)
    if problem is not None:
        return Reply(Batch((), (), fault_of(problem)))
    key = worker.get_current_task()

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    with _changing:
        if name.key in _stopped:
            return Reply(Batch((), ()))
        shared = _pools.get((name.key, worker.address))
        if shared is None:
            processes = min(name.processes, worker.state.nthreads)
            shared = _pools[name.key, worker.address] = _SharedPool(processes)
        shared.running += 1
    return shared.run(message, is_cancelled)


def stop_pool(key: str) -> None:
    """Stop the batches of a pool after their running jobs, and start no more batches."""
    with _changing:
        _stopped.add(key)
        found = [pool for (name, _), pool in _pools.items() if name == key]
    for pool in found:
        pool.stop()


async def close_pool(key: str, *, by_force: bool) -> None:
    """End the processes of the pool `key`; with `by_force`, kill them at once."""
    with _changing:
        _stopped.discard(key)
        names = [name for name in _pools if name[0] == key]
        found = [_pools.pop(name) for name in names]
    for pool in found:
        await asyncio.to_thread(pool.close, by_force=by_force)


class _SharedPool:
    """The processes of one pool on one worker, which several threads use.

    Attributes:
        running: number of running batches. Threads change it only with the lock `_changing`.
    """

    def __init__(self, processes: int) -> None:
        # A nanny starts its worker as a daemon, which may not have child processes, because they
        # would stay if it is killed. These end with their parent.
        multiprocessing.current_process().daemon = False
        self.running = 0
        self._pool = Pool(processes)
        self._idle_since = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._close_when_idle, daemon=True).start()

    def run(self, message: bytes, is_cancelled: Callable[[], bool]) -> Reply:
        """Run an encoded batch; if Dask has cancelled it, kill all processes."""
        try:
            future = self._pool.submit_encoded(message)
            while wait([future], timeout=_POLL_SECONDS).not_done:
                if is_cancelled():  # the command has ended
                    self.close(by_force=True)
            return Reply(future.result())
        except ProcessEndedError:
            return Reply(None, self._pool.output())
        finally:
            with _changing:
                self.running -= 1
                self._idle_since = time.monotonic()

    def stop(self) -> None:
        """Make each process end after its running job."""
        self._pool.stopped.set()

    def close(self, *, by_force: bool) -> None:
        """End the processes; with `by_force`, kill them at once."""
        if not self._closed.is_set():
            self._closed.set()
            self._pool.close(by_force=by_force)

    def _close_when_idle(self) -> None:
        while not self._closed.wait(_POLL_SECONDS):
            with _changing:
                idle = 0.0 if self.running else time.monotonic() - self._idle_since
                if idle > _IDLE_SECONDS:
                    for name in [name for name, pool in _pools.items() if pool is self]:
                        del _pools[name]
            if idle > _IDLE_SECONDS:
                self.close(by_force=True)


# Of this process: by the key of a pool and the address of the worker.
_pools: dict[tuple[str, str], _SharedPool] = {}
_stopped: set[str] = set()
_changing: Final = threading.Lock()


def work_in_folder(folder: str, work: Callable[[JobT], ResultT], job: JobT) -> ResultT:
    """Run a job in the working folder of the command. A process of the pool calls this.

    Raises:
        UsageError: this machine has no such folder.
    """
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageError(f"cannot be the working folder: {error.strerror}", where=folder) from None
    return work(job)
