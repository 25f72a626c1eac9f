"""The bundled conversations: conforming agents pass each cell that they support."""

import pytest

from harness.conversation.discovery import default_agent_names
from harness.judging.results import Outcome
from harness.runs.plan import Job, plan, subject_id
from harness.runs.selection import select_subjects
from harness.runs.worker import is_job_supported, judge_job

JOBS = plan(select_subjects(()), (), default_agent_names())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: f"{job.subject.path}-{job.normalizer}"[-80:])
def test_a_conforming_agent_passes_each_bundled_conversation(job: Job) -> None:
    result, case = judge_job(job, "quick")
    assert result.findings == ()
    assert (result.outcome is not Outcome.UNSUPPORTED) == is_job_supported(job)
    if result.outcome is not Outcome.UNSUPPORTED:
        assert result.conversation is not None
        assert case is not None


def test_every_conversation_is_supported_by_an_agent() -> None:
    had = {subject_id(job.subject) for job in JOBS if is_job_supported(job)}
    assert had == {subject_id(job.subject) for job in JOBS}
    assert len(had) >= 7
