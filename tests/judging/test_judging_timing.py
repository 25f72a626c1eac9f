"""Each mutant of the timed client violates its rule, and the conforming clients violate none.

The plays run in parallel, because they mostly wait.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

import pytest
from msgspec.structs import replace

from harness import shipped
from harness.errors import UnreadableError
from harness.judging.judge import LoadedSubject, is_supported_by_normalizer, judge_subject
from harness.judging.rules import TIMING_RULES
from harness.judging.timing.play import play, timeline_of
from harness.judging.timing.script import (
    ResponseFile,
    StepFile,
    TimingExpectation,
    TimingScript,
    require_playable,
)
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.normalizers.timed import TIMED_MUTANTS, TIMED_REFERENCES
from harness.results.kill_table import stored_rows
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.runs.load import load_subject
from harness.runs.request import SelectedClients, requested_cells
from harness.runs.selection import select_subjects
from tests.judging.judging_samples import IS_DEEP

_PARALLEL: Final = 16


@cache
def _subjects() -> dict[str, LoadedSubject]:
    folder = shipped.bundled_folder("scenarios") / "timing"
    loaded = (load_subject(each) for each in select_subjects([folder]))
    return {each.id: each for each in loaded}


def _results(jobs: Iterable[tuple[LoadedSubject, Normalizer]]) -> list[Result]:
    with ThreadPoolExecutor(_PARALLEL) as threads:
        return list(threads.map(lambda job: judge_subject(*job)[0], jobs))


def test_conforming_clients_are_not_accused() -> None:
    clients = TIMED_REFERENCES.values()
    results = _results((each, by) for by in clients for each in _subjects().values())
    assert [(each.cell, each.findings) for each in results if each.findings] == []
    assert sum(each.outcome is Outcome.PASS for each in results) > len(results) * 0.8


def test_each_mutant_violates_exactly_the_rule_that_it_declares() -> None:
    stored = {(row.mutant, row.scenario) for row in stored_rows() if row.rule in TIMING_RULES}
    jobs = [
        (subject, by)
        for by in TIMED_MUTANTS.values()
        for name, subject in _subjects().items()
        if IS_DEEP or (by.name, name) in stored
    ]
    found: dict[str, set[str]] = {name: set() for name in TIMED_MUTANTS}
    for result in _results(jobs):
        found[result.normalizer] |= {each.rule for each in result.findings}
    assert found == {name: set(each.breaks) for name, each in TIMED_MUTANTS.items()}
    assert {rule for rules in found.values() for rule in rules} == TIMING_RULES.keys()


def test_client_that_cannot_be_told_a_timeout_is_unsupported() -> None:
    stall, close = _subjects()["timing/stall-in-call"], _subjects()["timing/close-in-call"]
    client = load_normalizer("timed-reference")
    assert client.timed is not None
    untold = replace(client, timed=replace(client.timed, untold={"idle_timeout": "no option"}))
    assert not is_supported_by_normalizer(stall, untold)
    assert judge_subject(stall, untold)[0].outcome is Outcome.UNSUPPORTED
    assert is_supported_by_normalizer(close, untold)


def test_busy_machine_leaves_a_cell_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.judging.timing.judge.MOST_LATE", -1.0)
    client = replace(load_normalizer("total-timeout"), role="peer")
    result, _ = judge_subject(_subjects()["timing/pauses-add-up"], client)
    assert result.outcome is Outcome.UNJUDGED
    assert result.timing
    assert "too busy" in result.timing.unjudged


def test_clients_without_requests_have_no_timing_cells() -> None:
    folder = shipped.bundled_folder("scenarios") / "timing"
    clients = SelectedClients(("reference", "timed-reference"), ())
    found = requested_cells(clients, [folder], "kind:timing")
    assert {job.normalizer for job in found.jobs} == {"timed-reference"}
    assert len(found.jobs) == len(_subjects())


def test_timeline_shows_server_and_client() -> None:
    subject, client = _subjects()["timing/close-in-text"], load_normalizer("timed-reference")
    assert subject.scenario is not None
    assert subject.scenario.timing is not None
    assert client.timed is not None
    played = play(subject.scenario.timing, subject.cassette, client.timed)
    lines = [line.split("s  ", 1)[1] for line in timeline_of(played)]
    assert lines[0] == "server  gets a request"
    assert lines[-1] == "client  ends"
    assert any("StreamFailure" in line for line in lines)


_FAILS = TimingExpectation(fails=True)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (TimingScript((ResponseFile(),), TimingExpectation()), "expected at least one key"),
        (TimingScript((ResponseFile(interaction=7),), _FAILS), "no interaction 7"),
        (TimingScript((ResponseFile(steps=(StepFile(),)),), _FAILS), "expected one of"),
        (
            TimingScript((ResponseFile(steps=(StepFile(send=1, pause=1.0),)),), _FAILS),
            "expected one of",
        ),
        (
            TimingScript((ResponseFile(steps=(StepFile(send=99),)),), _FAILS),
            "has 11 events, found 99",
        ),
    ],
)
def test_script_that_does_not_fit_is_rejected(script: TimingScript, problem: str) -> None:
    cassette = _subjects()["timing/stall-in-call"].cassette
    with pytest.raises(UnreadableError, match=problem):
        require_playable(script, cassette, "x.yaml")


def test_violation_that_appears_again_counts() -> None:
    client = replace(load_normalizer("break-as-end"), role="peer")
    result, _ = judge_subject(_subjects()["timing/close-in-text"], client)
    assert (result.outcome, result.replays) == (Outcome.MISMATCH, 2)
    assert [each.rule for each in result.findings] == ["TIME-FAILURE-TOLD"]
