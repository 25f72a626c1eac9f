"""Control one worker process from its parent: send batches, and enforce time limits.

The parent does not rely on code in the process, because a client may stop it, close or fill its
connection, or remove its watchdog. If the time of a batch is over, the parent kills the process.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from harness.workers.batch import (
    ALLOW,
    STOP,
    Batch,
    decode_batch,
    decode_seconds,
    fault_of,
    serve_batches,
)
from harness.workers.descendants import Descendants, kill_group, server_of, stop
from harness.workers.interruption import block_interrupts

ENDED: Final = (
    "its process ended (killed, segmentation fault, os._exit, or code that no deadline can stop)"
)
# Either the client has changed what it shares with the harness, or the harness has a bug.
FAILED: Final = (
    "the harness failed in the process of the client, which may have changed modules or classes; "
    "its output ends with the traceback"
)
# For a process to start and to load what its first job names, also on a busy machine.
_START_SECONDS: Final = 90.0
# A client may end the server process that forks the workers.
_PAUSES: Final = (0.1, 0.5, 2.0)
# The watchdog in the process comes first, because it prints where the code is.
_LATER_SECONDS: Final = 10.0
# The limit of a body of 64 MiB is 34 minutes.
_MOST_SECONDS: Final = 3_600.0
_MOST_BYTES: Final = 1 << 30
_POLL_SECONDS: Final = 0.1
# Held while a process starts: until then, it is not in `multiprocessing.active_children`.
STARTING: Final = threading.Lock()


class ProcessEndedError(Exception):
    """Raised if a worker process ended, or had to be killed, before it returned its batch."""


class WorkerProcess:
    """A process that runs one batch after another. Only one thread uses it, except for `kill`.

    Attributes:
        is_killed: whether the process was killed, so that it cannot run more batches.
        server: id of the server process that forked it; 0 if there is none.
    """

    def __init__(self, context: BaseContext, folder: Path) -> None:
        self._process, self._connection = _start(context, folder)
        self.server = server_of(self.id)
        self._identity = -1
        if sys.platform == "linux":
            with suppress(OSError):  # it has ended
                self._identity = os.pidfd_open(self.id)
        self._number = -1
        self._end = 0.0
        self._left: Descendants | None = None
        self._killing = threading.Lock()
        self.is_killed = False

    @property
    def id(self) -> int:
        """The id of the process."""
        return self._process.pid or 0

    def run(self, message: bytes, is_stopped: Callable[[], bool]) -> Batch[Any]:
        """Send a batch to the process, and return its results.

        Args:
            message: the batch, encoded by `encode_work`.
            is_stopped: returns whether the process shall stop after its running job.

        Raises:
            ProcessEndedError: the process ended, or the parent killed it because its time was over.
        """
        self._number += 1
        self._end = time.monotonic() + _START_SECONDS
        try:
            self._connection.send_bytes(message)
            return self._answer(is_stopped)
        except Exception as error:  # the client may write anything into the connection
            self.kill()
            raise ProcessEndedError(ENDED) from error
        finally:
            self._end = 0.0

    def _answer(self, is_stopped: Callable[[], bool]) -> Batch[Any]:
        told = False
        while True:
            if not told and is_stopped():
                self._connection.send_bytes(STOP)
                told = True
            ready = connection.wait([self._connection, self._process.sentinel], _POLL_SECONDS)
            if self._connection in ready:
                message = self._connection.recv_bytes(_MOST_BYTES)
                if message.startswith(ALLOW):
                    seconds = min(decode_seconds(message), _MOST_SECONDS)
                    self._end = time.monotonic() + seconds + _LATER_SECONDS
                    continue
                number, batch = self._decode(message)
                if number == self._number:
                    return batch
            elif ready:
                raise EOFError

    def _decode(self, message: bytes) -> tuple[int, Batch[Any]]:
        try:
            return decode_batch(message)
        except Exception as error:  # noqa: BLE001 - a client can send anything
            self.kill()
            return self._number, Batch((), (), fault_of(error))

    def kill_if_late(self) -> None:
        """Kill the process if the time for its batch is over."""
        if 0.0 < self._end < time.monotonic():
            self.kill()

    def close(self) -> None:
        """Close the connection, so that the process ends when it has nothing more to do."""
        self._left = Descendants(self.id)  # its server may have ended, and not adopt them
        self._connection.close()

    def wait(self, seconds: float) -> None:
        """Wait until the process ends, for `seconds` at most."""
        self._process.join(seconds)

    def kill(self) -> None:
        """Kill the process, and all processes that it started."""
        with self._killing:
            if self.is_killed:
                return
            self.is_killed = True
            stop(self.id, self._identity)
            started = (self._left, Descendants(self.id))
            kill_group(self.id)
            if sys.platform == "linux":  # also if its server has ended, and its exit is not known
                with suppress(OSError):
                    signal.pidfd_send_signal(self._identity, signal.SIGKILL)
                with suppress(OSError):
                    os.close(self._identity)
            self._process.kill()
            for each in started:
                if each is not None:
                    each.kill()
            self._shut_connection()

    def _shut_connection(self) -> None:
        """Shut the connection down, also for other processes that have a copy of it."""
        if hasattr(socket, "AF_UNIX"):
            with suppress(OSError), socket.socket(fileno=os.dup(self._connection.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)


def _start(context: BaseContext, folder: Path) -> tuple[BaseProcess, Connection]:
    """Start a worker process; return it, and the connection to it."""
    for pause in (*_PAUSES, None):
        ours, theirs = context.Pipe()
        process: BaseProcess = context.Process(  # type: ignore[attr-defined]  # of each context
            target=serve_batches, args=(theirs, dict(os.environ), folder)
        )
        try:
            with STARTING, block_interrupts():  # the process must not receive them
                process.start()
        except (OSError, EOFError):  # the server is ending, and another will start
            ours.close()  # which ends the process, if it runs
            if pause is None:
                raise
            time.sleep(pause)
        else:
            return process, ours
        finally:
            theirs.close()
    raise AssertionError("the last pause is None")
