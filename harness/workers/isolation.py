"""Run third-party jobs in a process, and retry a job once if its failure may have other causes.

If a client ended its process or hung, the harness cannot be sure why. Another process may have
killed the process or kept the machine busy, or an earlier job may have changed shared state.
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
    """A worker process that runs the jobs of one client one after the other.

    Use as a context manager.

    Args:
        has_hung: returns whether a result says that the client hung.
        job: the word for a job in the reason of a crash, such as `cell`.
        open_pool: a function that opens the process.
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
        """Call `work(job)` in the process, and again if the process ended or the client hung.

        Returns:
            The result of `work`, or Exited if the process ended; and what the client wrote.

        Raises:
            HarnessError: `work` raised it.
        """
        return self.run_again(work, job, *self.call(work, job))

    def call(self, work: Callable[[JobT], ResultT], job: JobT) -> tuple[ResultT | Exited, str]:
        """Call `work(job)` once in the process; return what `run` returns."""
        return self._worker.call(work, job)

    def run_again(
        self, work: Callable[[JobT], ResultT], job: JobT, before: ResultT | Exited, written: str
    ) -> tuple[ResultT | Exited, str]:
        """Call `work(job)` again if its first result may have causes outside the client.

        Args:
            work: the function that runs the job.
            job: the job.
            before: the result of the first try.
            written: what the client wrote in the first try.

        Returns:
            The second result, or `before` if that is certain; and what the client wrote.

        Raises:
            HarnessError: `work` raised it.
        """
        if not self._is_in_doubt(before):
            return before, written
        self._worker.close()
        ended, output = self._worker.call(work, job)
        if not isinstance(ended, Exited):
            if isinstance(before, Exited):  # a hang after that is the first one, and in doubt, too
                return self.run_again(work, job, ended, output)
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
        """End the worker process."""
        self._worker.close()
