"""Counts of cells, and which cells a page lists when a run is too large for it."""

import msgspec
import pytest

from harness.reporting.boards import boards
from harness.reporting.cell_index import CellIndex, cell_index
from harness.reporting.failures import Failure, failure_of
from harness.reporting.pages import replays
from harness.reporting.pages.failures import failure_filters, failures_page, turns_filters
from harness.reporting.report import open_report, replays_link
from harness.reporting.words import CONFORMING, FAILING, JUDGED
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import Run
from harness.verdicts.causes import group_causes


def test_cells_are_counted_by_values_any_of_several_and_beginnings(sample: Run) -> None:
    index = CellIndex(sample.results)
    assert index.count({}) == len(sample.results)
    naive = [each for each in sample.results if each.normalizer == "naive"]
    assert index.count({"normalizer": "naive", "outcome": FAILING}) == len(naive)
    assert index.count({"quirk": "DELTA-*", "normalizer": "naive"}) == 2
    assert index.count({"unjudged": "text:*"}) == 1
    assert index.count({"model": "none"}) == 0


def test_links_of_a_ranking_have_what_conforms_what_fails_and_what_was_judged(
    sample: Run,
) -> None:
    outcomes = (Outcome.PASS, Outcome.PARSE_ERROR, Outcome.UNJUDGED, Outcome.UNSUPPORTED)
    naive = [each for each in sample.results if each.normalizer == "naive"]
    changed = {
        each.cell: msgspec.structs.replace(each, outcome=outcome, findings=(), cause="")
        for each, outcome in zip(naive, outcomes, strict=False)
    }
    results = tuple(changed.get(each.cell, each) for each in sample.results)
    with open_report(msgspec.structs.replace(sample, results=results)) as report:
        index = cell_index(report)
        rows = report.of(boards)["normalizers"].rows
    assert [(each.ranked.k, each.ranked.n) for each in rows if each.ranked.name == "naive"] == [
        (2, 3)
    ]
    for each in rows:
        counts = [
            index.count({**each.filters, "outcome": some}) for some in (CONFORMING, FAILING, JUDGED)
        ]
        assert counts == [each.ranked.k, each.ranked.n - each.ranked.k, each.ranked.n]


def _causes(run: Run) -> list[tuple[Failure, int]]:
    with open_report(run) as report:
        index = cell_index(report)
        found = group_causes(run.results)
        causes = [failure_of(each, report.results, run.header) for each in found]
        return [(each, index.count(failure_filters(each))) for each in causes]


def test_link_of_a_cause_has_its_cells_also_for_should_rules(sample: Run) -> None:
    should = Finding("TEXT-PROMPT", "SHOULD", Outcome.MISMATCH, "turns[0].text", "a", "b")
    passing = next(each for each in sample.results if each.outcome is Outcome.PASS)
    changed = {passing.cell: msgspec.structs.replace(passing, findings=(should,))}
    results = tuple(changed.get(each.cell, each) for each in sample.results)
    found = _causes(msgspec.structs.replace(sample, results=results))
    assert [each.group.cells for each, _ in found] == [count for _, count in found]
    assert {each.is_must for each, _ in found} == {True, False}


def test_link_of_a_reason_for_failed_turns_has_their_cells(sample: Run) -> None:
    with open_report(sample) as report:
        turns = failures_page(report).turns
        index = cell_index(report)
        counts = [index.count(turns_filters(each, report.run.header.lead)) for each in turns]
    assert [each.count for each in turns] == counts


def test_long_values_are_cut_in_links_as_in_the_table(sample: Run) -> None:
    long = msgspec.structs.replace(sample.results[0], model="m" * 500, scenario="s" * 500)
    index = CellIndex((long,))
    assert index.count({"model": long.model, "scenario": long.scenario}) == 1
    assert len(replays_link(model=long.model)) < 300
    assert long.scenario in replays_link(scenario=long.scenario)


def _shown(run: Run) -> replays.ReplaysView:
    with open_report(run) as report:
        return replays.replays_page(report)


def test_small_run_lists_all_cells(sample: Run) -> None:
    assert _shown(sample).left_out == 0


@pytest.mark.parametrize(("name", "most"), [("MAX_ROWS", 80), ("MAX_PACKED", 1_800)])
def test_large_run_lists_the_cells_that_failed(
    sample: Run, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(replays, name, most)
    monkeypatch.setattr(replays, "MAX_LISTED", 10)
    failed = [each for each in sample.results if _has_failed(each)]
    view = _shown(sample)
    assert view.total == len(sample.results)
    assert view.left_out == len(sample.results) - len(failed)


def test_worst_cells_stay_if_not_all_failures_fit(
    sample: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_PACKED", 100)
    monkeypatch.setattr(replays, "MAX_LISTED", 5)
    view = _shown(sample)
    assert 0 < view.total - view.left_out <= 5


def _has_failed(result: Result) -> bool:
    return result.outcome.fails or any(not turn.success for turn in result.turns)
