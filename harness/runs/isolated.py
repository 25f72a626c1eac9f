"""Judge cells one after the other, those of third-party code in a worker process.

Each client has a process, which stays for its next cell, so that it is imported once.
"""

from functools import partial
from typing import Final

from harness.judging.replaying import Cuts
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.runs.declared import third_party_client
from harness.runs.judge_job import crash_result, judge_job
from harness.runs.plan import Job
from harness.runs.redaction import clean_output
from harness.workers.batch import Exited
from harness.workers.pool import LoneWorker
from harness.workers.process import ENDED, FAILED

_TRIES: Final = 2


class ApartJudge:
    """Judges cells; call `close` at the end, which ends its processes."""

    def __init__(self) -> None:
        self._workers: dict[str, LoneWorker] = {}

    def judge(self, job: Job, cuts: Cuts = "standard") -> tuple[Result, AnyCase | None, str]:
        """Return the result of a cell, its detail page, and what the client wrote.

        A client that ends its process or hangs gets a second try, because another process may
        have killed it or kept the machine busy. So does one in whose process the harness fails.

        Raises:
            HarnessError: the scenario, its cassette or the client cannot be loaded.
        """
        client = third_party_client(job)
        if not client:
            return (*judge_job(job, cuts), "")
        worker = self._workers.setdefault(client, LoneWorker())
        hung: tuple[Result, AnyCase | None, str] | None = None
        for _ in range(_TRIES):
            ended, written = worker.call(partial(judge_job, cuts=cuts), job)
            output = clean_output(written)
            if isinstance(ended, Exited):
                if ended.reason not in (ENDED, FAILED):
                    return crash_result(job, ended.reason), None, output
                reason = f"twice in this cell {ended.reason}"
            elif ended[0].outcome is not Outcome.HANG:
                return (*ended, output)
            else:
                hung = (*ended, output)
        return hung or (crash_result(job, reason), None, output)

    def close(self) -> None:
        """End the worker processes."""
        for worker in self._workers.values():
            worker.close()
