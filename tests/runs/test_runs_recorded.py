"""Cassettes that no scenario labels: their conversations are found for agents, or why not."""

from pathlib import Path

import pytest

from harness.errors import UnreadableError
from harness.judging.results import Outcome
from harness.runs.plan import Job, plan
from harness.runs.rankings import rankings
from harness.runs.recorded import recorded_conversations
from harness.runs.select import select
from harness.runs.worker import crashed, judge_job, load_subject
from harness.wire.cassette_file import save
from tests.judging.conversations.conversation_recordings import CALL, ROUND_TRIP, recorded
from tests.runs.runs_samples import a_run

TWICE = recorded(CALL, CALL)


def test_a_conversation_is_judged_through_agents_and_its_turns_through_normalizers(
    tmp_path: Path,
) -> None:
    save(ROUND_TRIP, tmp_path / "a" / "b.yaml")
    subjects = select([tmp_path])
    found = recorded_conversations(subjects)
    assert found.refused == {}
    jobs = plan((*subjects, *found.subjects), ("reference",), ("plain-loop",)).jobs
    turns, talk = (judge_job(job)[0] for job in jobs)
    assert (turns.cell, turns.kind) == ("cassette:a/b/reference", "turns")
    assert (talk.cell, talk.kind) == ("cassette:a/b/plain-loop", "conversation")
    assert (turns.outcome, talk.outcome) == (Outcome.PASS, Outcome.PASS)
    (line,) = rankings(a_run([turns, talk])).conversations
    assert (line.name, line.rate.k, line.rate.n) == ("m x p x plain-loop", 1, 1)
    assert (line.rate.compared, line.rate.as_recorded) == (1, 1)


def test_what_agents_cannot_have_is_counted_with_the_reason(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(TWICE, tmp_path / f"{name}.yaml")
    save(recorded(CALL), tmp_path / "single.yaml")
    found = recorded_conversations(select([tmp_path]))
    assert found.subjects == ()
    assert found.refused == {"its requests do not follow one another": 2}


def test_a_recording_that_is_none_any_more_is_an_error(tmp_path: Path) -> None:
    save(ROUND_TRIP, tmp_path / "b.yaml")
    (subject,) = recorded_conversations(select([tmp_path])).subjects
    load_subject.cache_clear()
    save(TWICE, tmp_path / "b.yaml")
    with pytest.raises(UnreadableError, match="its requests do not follow"):
        load_subject(subject)


def test_a_recording_that_stops_at_calls_counts_for_no_model(tmp_path: Path) -> None:
    first, last = ROUND_TRIP.interactions
    open_end = recorded(
        (first.request.body, first.body), (last.request.body, first.body.replace(b"c1", b"d1"))
    )
    save(open_end, tmp_path / "b.yaml")
    (subject,) = recorded_conversations(select([tmp_path])).subjects
    result, _ = judge_job(Job(subject, "plain-loop"))
    assert result.outcome is Outcome.PASS
    assert rankings(a_run([result])).conversations == ()


def test_a_process_that_died_took_the_conversation_with_it(tmp_path: Path) -> None:
    save(ROUND_TRIP, tmp_path / "b.yaml")
    (subject,) = recorded_conversations(select([tmp_path])).subjects
    result = crashed(Job(subject, "plain-loop"), "killed")
    assert (result.outcome, result.kind) == (Outcome.CRASH, "conversation")
