"""The bundled conversations: conforming agents pass each cell that they support."""

import pytest

from harness.conversation.discovery import default_agent_names
from harness.judging.results import Outcome
from harness.runs.plan import Job, plan
from harness.runs.selection import select_subjects
from harness.runs.worker import judge_job

JOBS = plan(select_subjects(()), (), default_agent_names())


@pytest.mark.parametrize("job", JOBS, ids=lambda job: f"{job.subject.path}-{job.normalizer}"[-80:])
def test_a_conforming_agent_passes_each_bundled_conversation(job: Job) -> None:
    result, case = judge_job(job, "quick")
    assert result.findings == ()
    if result.outcome is not Outcome.UNSUPPORTED:
        assert result.conversation is not None
        assert case is not None


def test_every_conversation_is_supported_by_an_agent() -> None:
    results = [judge_job(job, "quick")[0] for job in JOBS]
    had = {each.scenario for each in results if each.outcome is not Outcome.UNSUPPORTED}
    assert had == {each.scenario for each in results}
    assert len(had) >= 7
