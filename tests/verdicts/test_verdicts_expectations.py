"""Accepted failures are held strictly: what is no longer true is stale."""

from datetime import date
from pathlib import Path

import msgspec
import pytest

from harness.errors import UnreadableError
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.verdicts.expectations import (
    AcceptedFailure,
    ExistingNames,
    apply_entries,
    entry_for_cell,
    read_expectations,
)
from tests.runs.runs_samples import a_result, a_run

DAY = date(2026, 11, 22)
NOBODY = ExistingNames()


def _entry(**changes: object) -> AcceptedFailure:
    entry = AcceptedFailure("area/*", "ours", "fail", "the server is old")
    return msgspec.structs.replace(entry, **changes)


def _failing(*, then: Outcome = Outcome.LOST_CALL) -> Run:
    rows = [a_result("area/one", "ours", outcome=Outcome.LOST_CALL)]
    return a_run([*rows, a_result("area/two", "ours", outcome=then)], "ours")


def test_expected_failure_is_accepted() -> None:
    held = apply_entries(_failing(), [_entry()], DAY, NOBODY)
    assert [each.cell for each in held.excused] == ["area/one/ours", "area/two/ours"]
    assert {each.reason for each in held.excused} == {"the server is old"}
    assert held.stale == ()


def test_unexpected_pass_is_stale() -> None:
    held = apply_entries(_failing(then=Outcome.PASS), [_entry()], DAY, NOBODY)
    (stale,) = held.stale
    assert (stale.kind, stale.cells) == ("unexpected_pass", ("area/two/ours",))
    assert [each.cell for each in held.excused] == ["area/one/ours"]
    assert "area/two/ours conforms" in stale.message


def test_flaky_cell_may_pass() -> None:
    held = apply_entries(_failing(then=Outcome.PASS), [_entry(expect="flaky")], DAY, NOBODY)
    assert (len(held.excused), held.stale) == (2, ())


@pytest.mark.parametrize(("expires", "stale"), [(DAY, 0), (date(2026, 11, 21), 1)])
def test_entry_applies_until_its_last_day(expires: date, stale: int) -> None:
    held = apply_entries(_failing(), [_entry(expires=expires)], DAY, NOBODY)
    assert [each.kind for each in held.stale] == ["expired"] * stale
    assert bool(held.excused) is not bool(stale)


@pytest.mark.parametrize("changes", [{"id": "aera/*"}, {"normalizer": "uors"}])
def test_entry_that_matches_nothing_is_stale(changes: dict[str, str]) -> None:
    known = ExistingNames(
        frozenset({"area/one", "area/two", "other/one"}), frozenset({"ours", "theirs"})
    )
    (stale,) = apply_entries(_failing(), [_entry(**changes)], DAY, known).stale
    assert stale.kind == "matches_nothing"


@pytest.mark.parametrize("changes", [{"id": "other/*"}, {"normalizer": "theirs"}])
def test_entry_for_unselected_cells_is_not_stale(changes: dict[str, str]) -> None:
    known = ExistingNames(
        frozenset({"area/one", "area/two", "other/one"}), frozenset({"ours", "theirs"})
    )
    assert apply_entries(_failing(), [_entry(**changes)], DAY, known).stale == ()


def test_unsupported_cell_is_ignored() -> None:
    run = a_run([a_result("area/one", "ours", outcome=Outcome.UNSUPPORTED)], "ours")
    (stale,) = apply_entries(run, [_entry()], DAY, NOBODY).stale
    assert stale.kind == "matches_nothing"


def test_skipped_cell_is_accepted() -> None:
    run = a_run([], "ours")
    selection = msgspec.structs.replace(run.header.selection, skipped=("area/one/ours",))
    header = msgspec.structs.replace(run.header, selection=selection)
    entry = _entry(expect="skip")
    held = apply_entries(msgspec.structs.replace(run, header=header), [entry], DAY, NOBODY)
    assert [(each.cell, each.expect) for each in held.excused] == [("area/one/ours", "skip")]
    assert held.stale == ()


def test_first_matching_entry_applies() -> None:
    old = _entry(expires=date(2020, 1, 1))
    first, second = _entry(expect="flaky"), _entry(expect="skip")
    assert entry_for_cell([old, first, second], "area/one", "ours", DAY) is first
    assert entry_for_cell([old], "area/one", "ours", DAY) is None
    assert entry_for_cell([first], "areal", "ours", DAY) is None


FILE = """
[[expectation]]
id = "qwen/*"
normalizer = "ours"
expect = "fail"
reason = "old server"
expires = 2026-12-31
"""


def test_read_expectations(tmp_path: Path) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(FILE)
    (entry,) = read_expectations(path)
    assert entry.expires == date(2026, 12, 31)
    assert entry.issue == ""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("reason", "raeson", "did you mean 'reason'?"),
        ('reason = "old server"\n', "", "the key 'reason' is missing"),
        ("old server", " ", "reason: is empty"),
        ('"fail"', '"fial"', "did you mean 'fail'?"),
        ("2026-12-31", '"soon"', "expires"),
        ("[[expectation]]", "[[expectations]]", "did you mean 'expectation'?"),
        ('"qwen/*"', "3", "expected a string"),
        ("expires", "expires =", "cannot be read"),
    ],
)
def test_invalid_expectations_file_is_an_error(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = tmp_path / "expectations.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(UnreadableError) as error:
        read_expectations(path)
    assert told in str(error.value)


def test_missing_expectations_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read_expectations(tmp_path / "none.toml")
