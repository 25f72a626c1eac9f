"""Batches on a worker of a Dask cluster, each in a process with the limits of a local run.

A client under test that ends its process costs its cell, and never the worker of the cluster. The
scheduler imports this module, too, because it decodes what is sent.
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
    """The name of a pool of a command, which has processes on each worker.

    Fields:
        key: differs between all pools.
        processes: at most, on each worker.
    """

    key: str
    processes: int


class Reply(msgspec.Struct, frozen=True):
    """What came of a batch.

    Fields:
        batch: None if its process ended.
        output: what the processes had written then.
    """

    batch: Batch[Any] | None
    output: str = ""


def run_on_worker(name: PoolName, needed: Requirements, message: bytes) -> Reply:
    """Run a batch that `encode_work` has encoded. Called by Dask, in a thread of the worker."""
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
    """Let the batches of a pool end after their running jobs, and start no others."""
    with _changing:
        _stopped.add(key)
        found = [pool for (name, _), pool in _pools.items() if name == key]
    for pool in found:
        pool.stop()


async def close_pool(key: str, *, by_force: bool) -> None:
    """End the processes of a pool."""
    with _changing:
        _stopped.discard(key)
        names = [name for name in _pools if name[0] == key]
        found = [_pools.pop(name) for name in names]
    for pool in found:
        await asyncio.to_thread(pool.close, by_force=by_force)


class _SharedPool:
    """The processes of one pool on one worker; used by several threads.

    Attributes:
        running: number of batches; changed with the lock.
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
        """Run a batch; if Dask does not need it any more, end all processes."""
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
        """Let each process end after its running job."""
        self._pool.stopped.set()

    def close(self, *, by_force: bool) -> None:
        """End the processes."""
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
    """Do a job in the working folder of the command. Called in a process of the pool."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageError(f"cannot be the working folder: {error.strerror}", where=folder) from None
    return work(job)
