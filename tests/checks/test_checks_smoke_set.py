"""The requirement set `smoke` kills each mutant of turns that scenarios with evidence kill."""

import pytest

from harness import shipped
from harness.checks.kill_table import cuts_for, judge_client
from harness.judging.judge import LoadedSubject
from harness.normalizers.discovery import find_normalizer, load_normalizer, normalizer_names
from harness.normalizers.mutants import MUTANTS
from harness.results.kill_table import smoke_rows, stored_rows
from harness.runs.load import load_subject
from harness.runs.request import SelectedClients, requested_cells
from harness.runs.requirement_sets import load_set
from harness.runs.selection import select_subjects

HINT = "it is stale: run python -m scripts.smoke_set"
MOST_CELLS = 150


def _loaded(scenario: str) -> LoadedSubject:
    (subject,) = select_subjects([shipped.bundled_folder("scenarios") / f"{scenario}.yaml"])
    return load_subject(subject)


def test_each_mutant_of_turns_and_known_bad_client_has_its_rows() -> None:
    known_bad = [it for it in normalizer_names() if find_normalizer(it).role == "known-bad"]
    clients = {**MUTANTS, **{name: find_normalizer(name) for name in known_bad}}
    expected = {(rule, name) for name, client in clients.items() for rule in client.breaks}
    assert {(row.rule, row.mutant) for row in smoke_rows()} == expected, HINT


@pytest.mark.parametrize("name", sorted({row.mutant for row in smoke_rows()}))
def test_set_kills_the_mutant(name: str) -> None:
    client = MUTANTS.get(name) or load_normalizer(name)
    rows = [row for row in smoke_rows() if row.mutant == name and row.scenario]
    for scenario in {row.scenario for row in rows}:
        subject = _loaded(scenario)
        assert subject.evidence is not None
        assert subject.evidence.kind != "own"
        result = judge_client(client, subject, cuts_for(client))
        killed = {finding.rule for finding in result.findings}
        assert {row.rule for row in rows if row.scenario == scenario} <= killed, HINT


def test_set_has_the_scenarios_of_its_rows() -> None:
    members = load_set("smoke")
    assert {row.scenario for row in smoke_rows()} - {""} <= members.scenarios, HINT
    assert members.rules is None  # all rules of the release


def test_only_invented_streams_kill_a_mutant_without_a_row() -> None:
    left = {(row.rule, row.mutant) for row in smoke_rows() if not row.scenario}
    stored = {(row.rule, row.mutant): row.scenario for row in stored_rows()}
    for key in left & stored.keys():
        evidence = _loaded(stored[key]).evidence
        assert evidence is not None
        assert evidence.kind == "own", HINT


def test_each_client_has_at_most_150_cells() -> None:
    names = [it for it in normalizer_names() if find_normalizer(it).role == "peer"]
    found = requested_cells(SelectedClients(tuple(names), ()), requirement_set="smoke")
    counts = {name: sum(job.normalizer == name for job in found.jobs) for name in names}
    assert max(counts.values()) <= MOST_CELLS
