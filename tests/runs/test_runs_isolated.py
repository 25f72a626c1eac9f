"""Single cells are judged one after the other; a client that does not end is not called again."""

import os
from contextlib import closing

import pytest

from harness.errors import UsageError
from harness.runs import execute as execution
from harness.runs import isolated
from harness.runs.isolated import IsolatedJudge
from harness.runs.plan import Job, Subject


def _end(_job: Job, cuts: str) -> None:
    os._exit(len(cuts))


def test_a_client_whose_cells_do_not_end_is_not_called_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execution, "_ENDLESS", 0.0)
    monkeypatch.setattr(isolated, "judge_job", _end)
    monkeypatch.setattr(isolated, "third_party_client", lambda job: job.normalizer)
    monkeypatch.setattr(isolated, "crash_result", lambda _job, reason: reason)
    job = Job(Subject("scenario", "text/plain.yaml", ("",)), "mine")
    with closing(IsolatedJudge()) as judge:
        for _ in range(5):
            assert "its process ended" in str(judge.judge(job)[0])
        with pytest.raises(UsageError, match="did not run"):
            judge.judge(job)
