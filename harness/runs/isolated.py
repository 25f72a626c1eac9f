"""Judge cells one after the other, and run third-party code in worker processes.

Each third-party client has one process for all its cells, so that it is imported once.
"""

from functools import partial
from time import monotonic

from harness.errors import UsageError
from harness.judging.replaying import Cuts
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.runs.declared import third_party_client
from harness.runs.execute import STOPPED, EndlessCells, has_hung
from harness.runs.judge_job import crash_result, judge_job
from harness.runs.plan import Job
from harness.runs.redaction import clean_output
from harness.workers.batch import Exited
from harness.workers.isolation import Isolation


class IsolatedJudge:
    """Judges single cells. Call `close` at the end to end the worker processes."""

    def __init__(self) -> None:
        self._clients: dict[str, Isolation] = {}
        self._endless = EndlessCells()

    def judge(self, job: Job, cuts: Cuts = "standard") -> tuple[Result, AnyCase | None, str]:
        """Judge one cell; return the result, the case or None, and what the client wrote.

        Raises:
            HarnessError: the scenario, its cassette or the client cannot be loaded, or earlier
                cells of the client did not end, so that this one does not run.
        """
        client = third_party_client(job)
        if not client:
            return (*judge_job(job, cuts), "")
        if self._endless.has_stopped(client):
            raise UsageError(STOPPED, where=job.normalizer, hint="Let the client end.")
        isolation = self._clients.setdefault(client, Isolation(has_hung))
        began = monotonic()
        ended, written = isolation.run(partial(judge_job, cuts=cuts), job)
        self._endless.count(client, ended, monotonic() - began)
        if isinstance(ended, Exited):
            ended = crash_result(job, ended.reason), None
        return (*ended, clean_output(written))

    def close(self) -> None:
        """End the worker processes."""
        for isolation in self._clients.values():
            isolation.close()
