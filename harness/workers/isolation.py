"""The one retry policy for third-party code: a job in doubt gets a second try, in a new process.

Another process may have killed the first one or kept the machine busy, and another job may have
changed what it shares with the client. So it is in doubt that a client ended its process or hung.
"""

from collections.abc import Callable
from typing import Any, Final, Self, TypeVar

from harness.workers.batch import Exited
from harness.workers.pool import LoneWorker, OpenPool, Pool
from harness.workers.process import ENDED, FAILED

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

# After so many jobs in which a client hung twice, its other hangs are not in doubt.
_CONFIRMED: Final = 3
_IN_DOUBT: Final = (ENDED, FAILED)


class Isolation:
    """A worker process for the jobs of one client after another. Use as a context manager.

    Args:
        has_hung: whether a result says that the client hung.
        job: what a job is called in the reason of a crash.
        open_pool: opens the process.
    """

    def __init__(
        self, has_hung: Callable[[Any], bool], job: str = "cell", open_pool: OpenPool = Pool
    ) -> None:
        self._has_hung = has_hung
        self._job = job
        self._worker = LoneWorker(open_pool)
        self._confirmed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def run(self, work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
        """Return what `work` returns for `job`, or how its process ended; and what it wrote.

        Raises:
            HarnessError: from `work`.
        """
        return self.run_again(work, job, *self.call(work, job))

    def call(self, work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
        """Return what `run` returns, without a second try."""
        return self._worker.call(work, job)

    def run_again(
        self, work: Callable[[JobT], ResultT], job: JobT, before: ResultT | Exited, written: str
    ) -> tuple[ResultT | Exited, str]:
        """Return the result of a second try if `before`, that of the first, is in doubt.

        Raises:
            HarnessError: from `work`.
        """
        if not self._is_in_doubt(before):
            return before, written
        self._worker.close()
        ended, output = self._worker.call(work, job)
        if not isinstance(ended, Exited):
            self._confirmed += self._has_hung(ended)
            return ended, output
        if not isinstance(before, Exited):
            return before, written  # it hung at first
        if ended.reason in _IN_DOUBT:
            ended = Exited(f"twice in this {self._job} {ended.reason}")
        return ended, output

    def _is_in_doubt(self, ended: object) -> bool:
        if isinstance(ended, Exited):
            return ended.reason in _IN_DOUBT
        return self._has_hung(ended) and self._confirmed < _CONFIRMED

    def close(self) -> None:
        """End the process."""
        self._worker.close()
