"""The bundled conversations: conforming agents pass each cell that they support."""

import pytest

from harness.conversation.discovery import default_agent_names
from harness.results.outcome import Outcome
from harness.runs.judge_job import is_job_supported
from harness.runs.plan import plan, subject_id
from tests.judging.judging_samples import IS_DEEP, bundled_subjects, judged_whole

JOBS = plan(bundled_subjects(), (), default_agent_names())


# The gate of this repository judges each cell at cuts; here no finding of any level may show.
# The agents have different samples, which together cover all subjects; the deep profile has all.
_STEP = 1 if IS_DEEP else 4


@pytest.mark.parametrize("name", default_agent_names())
def test_a_conforming_agent_has_no_finding_in_any_bundled_conversation(name: str) -> None:
    jobs = [each for each in JOBS if each.normalizer == name]
    for job in jobs[default_agent_names().index(name) % _STEP :: _STEP]:
        result, case = judged_whole(job.subject, name)
        assert result.findings == (), job
        assert (result.outcome is not Outcome.UNSUPPORTED) == is_job_supported(job)
        assert (case is not None) == (result.outcome is not Outcome.UNSUPPORTED)


def test_every_conversation_is_supported_by_an_agent() -> None:
    had = {subject_id(job.subject) for job in JOBS if is_job_supported(job)}
    assert had == {subject_id(job.subject) for job in JOBS}
    assert len(had) >= 7
