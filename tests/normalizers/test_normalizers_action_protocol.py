"""`action-protocol` and the known-bad `tool-calls-empty` on bundled streams."""

import pytest

from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.discovery import installed_normalizer_names
from harness.normalizers.known_bad import tool_calls_empty
from harness.normalizers.seed_systems import action_protocol as normalizer
from harness.results.outcome import Outcome
from harness.text_calls import TEXT_DIALECTS
from tests.judging.judging_samples import shipped_subjects

SUBJECTS = [
    subject
    for subject in shipped_subjects()
    if subject.scenario and subject.scenario.id.startswith("action-protocol/")
]


def _id(subject: LoadedSubject) -> str:
    return subject.scenario.id if subject.scenario else ""


def test_both_are_installed() -> None:
    assert {"action-protocol", "tool-calls-empty"} <= set(installed_normalizer_names())


def test_it_declares_its_text_dialect_and_its_policies() -> None:
    assert normalizer.role == "conforming"
    assert normalizer.text_dialects == {"action-protocol"} <= set(TEXT_DIALECTS)
    assert normalizer.policies["undeclared"] == "reject"


@pytest.mark.parametrize("subject", SUBJECTS, ids=_id)
def test_it_reads_every_scenario_of_its_protocol(subject: LoadedSubject) -> None:
    result, _ = judge_subject(subject, normalizer, cuts="quick")
    assert result.findings == ()
    assert result.outcome in (Outcome.PASS, Outcome.PARSE_ERROR)


def test_many_of_them_run_nothing() -> None:
    expected = [turn for it in SUBJECTS if it.scenario for turn in it.scenario.expect]
    assert len(SUBJECTS) >= 18
    assert sum(not turn.calls for turn in expected) >= 6


def test_tool_calls_empty_loses_every_call_and_shows_the_json() -> None:
    rules = {
        finding.rule
        for subject in SUBJECTS
        for finding in judge_subject(subject, tool_calls_empty, cuts="quick")[0].findings
    }
    assert {"CALLS-KEPT", "TEXT-NO-MARKUP"} <= rules <= tool_calls_empty.breaks
