"""The ratchet: it shrinks freely, grows only when told to, and is never guessed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError, UsageError
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.verdicts.baseline import (
    SCHEMA,
    Baseline,
    read_baseline,
    update_baseline,
    write_baseline,
)
from harness.verdicts.expectations import ExistingNames
from tests.runs.runs_samples import a_result, a_run

CELLS = tuple(f"area/{letter}/ours" for letter in "abcd")
EXISTING = ExistingNames(frozenset(f"area/{letter}" for letter in "abcd"), frozenset({"ours"}))
FAILING: tuple[Outcome, ...] = tuple(
    each for each in Outcome if not each.conforms and each is not Outcome.UNSUPPORTED
)

failing: st.SearchStrategy[Outcome] = st.sampled_from(FAILING)
baselines = st.builds(Baseline, st.just(SCHEMA), st.dictionaries(st.sampled_from(CELLS), failing))
found = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(tuple(Outcome))).map(
    lambda rows: a_run([a_result(f"area/{k}", "ours", outcome=v) for k, v in rows.items()], "ours")
)


@given(baselines, found)
def test_baseline_never_grows_by_itself(baseline: Baseline, run: Run) -> None:
    after, moved = update_baseline(baseline, run, frozenset(), EXISTING, accept_new=False)
    assert after.cells.keys() <= baseline.cells.keys()
    for cell, outcome in after.cells.items():
        assert outcome.badness >= baseline.cells[cell].badness
    assert moved.added == ()
    assert moved.moved is (after != baseline)


@given(baselines, found)
def test_baseline_accepts_no_worse_outcome(baseline: Baseline, run: Run) -> None:
    _, moved = update_baseline(baseline, run, frozenset(), EXISTING, accept_new=False)
    now = {result.cell: result.outcome for result in run.results}
    for cell in moved.known:
        assert now[cell].badness >= baseline.cells[cell].badness
        assert not now[cell].conforms


@given(baselines, found)
def test_accepted_failures_are_in_the_next_baseline(baseline: Baseline, run: Run) -> None:
    after, moved = update_baseline(baseline, run, frozenset(), EXISTING, accept_new=True)
    again, settled = update_baseline(after, run, frozenset(), EXISTING, accept_new=False)
    assert (again, settled.moved) == (after, False)
    assert settled.known == moved.known


def test_missing_cell_is_removed_from_baseline() -> None:
    baseline = Baseline(SCHEMA, {"old/x/ours": Outcome.LEAK, "area/a/ours": Outcome.LEAK})
    after, moved = update_baseline(
        baseline, a_run([], "ours"), frozenset(), EXISTING, accept_new=False
    )
    assert (moved.gone, tuple(after.cells)) == (("old/x/ours",), ("area/a/ours",))


def test_cell_with_an_entry_is_not_in_the_baseline() -> None:
    run = a_run([a_result("area/a", "ours", outcome=Outcome.LEAK)], "ours")
    excused = frozenset({"area/a/ours"})
    after, moved = update_baseline(Baseline(SCHEMA, {}), run, excused, EXISTING, accept_new=True)
    assert (after.cells, moved.added) == ({}, ())


@given(baselines)
def test_baseline_round_trips(tmp_path_factory: pytest.TempPathFactory, baseline: Baseline) -> None:
    path = tmp_path_factory.mktemp("baseline") / "baseline.json"
    write_baseline(baseline, path)
    assert read_baseline(path) == baseline
    lines = path.read_text().splitlines()
    assert [line for line in lines if "/ours" in line] == sorted(
        line for line in lines if "/ours" in line
    )


@pytest.mark.parametrize(
    "text", ["", "{}", '{"schema": 1}', '{"schema": 99, "cells": {}}', '{"schema": 1, "cells": 3}']
)
def test_unreadable_baseline_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(UnreadableError):
        read_baseline(path, may_be_missing=True)


def test_missing_baseline_is_an_error_unless_accepted(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    with pytest.raises(UnreadableError, match="--accept-new"):
        read_baseline(path)
    assert read_baseline(path, may_be_missing=True) == Baseline(SCHEMA, {})


def test_unwritable_baseline_names_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write_baseline(Baseline(SCHEMA, {}), tmp_path / "file" / "baseline.json")
