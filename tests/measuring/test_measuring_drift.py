"""Drift: which series became worse, from which day, and what grew."""

from pathlib import Path

import msgspec
import pytest

from harness.errors import UsageError
from harness.measuring.drift import Drift, DriftOptions, find_drift
from harness.measuring.measured_turn import MeasuredTurn
from tests.measuring.measuring_samples import A_ROW, a_folder, failed, rows_of_days

STEADY = (8, 10, 9, 12, 7, 10, 9, 11, 10, 8)
FELL = (*STEADY, 30, 34)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measuring.drift.DRAWS", 499)


def drift(folder: Path, rows: list[MeasuredTurn], **options: object) -> Drift:
    return find_drift(a_folder(folder, rows), msgspec.convert(options, DriftOptions))


def test_a_fall_has_its_day_its_rates_and_the_signature_that_grew(tmp_path: Path) -> None:
    rows = [
        msgspec.structs.replace(row, signature="parse error · ARGS-OBJECT")
        if not row.success and row.time >= "2026-10-11" and row.position % 1_000 > 5
        else row
        for row in rows_of_days(FELL)
    ]
    success, rejected = drift(tmp_path, rows).series
    assert (success.metric, rejected.metric) == ("turn_success", "parse_error_rate")
    assert success.status == rejected.status == "worse"
    assert success.days["2026-10-12"] == (166, 200)
    assert rejected.days["2026-10-12"] == (34, 200)
    change = success.change
    assert change is not None
    assert (change.day, change.before.k, change.before.n) == ("2026-10-11", 1_906, 2_000)
    assert change.after.high < change.before.low
    assert change.signature is not None
    assert change.signature.signature == "parse error · ARGS-OBJECT"
    assert (change.signature.before, change.signature.after) == (0, (24 + 28) / 400)
    assert change.signature.position == 11_006
    assert change.new == ()


def test_steady_rates_and_better_ones_are_no_alarm(tmp_path: Path) -> None:
    found = drift(tmp_path, rows_of_days(FELL[::-1]))
    assert [each.status for each in found.series] == ["steady", "steady"]
    assert found.series[0].change is None


def test_a_fall_of_one_model_is_found_in_its_series(tmp_path: Path) -> None:
    rows = [*rows_of_days(FELL, model="a"), *rows_of_days((*STEADY, 9, 9), model="b")]
    found = drift(tmp_path, rows, axes=("model",), metrics=("turn_success",))
    assert [(each.names, each.status) for each in found.series] == [
        (("a",), "worse"),
        (("b",), "steady"),
    ]
    assert found.series[0].adjusted >= 2 * found.series[0].p


def test_a_model_that_is_new_on_the_day_is_named(tmp_path: Path) -> None:
    rows = [
        msgspec.structs.replace(row, model="m-2") if row.time >= "2026-10-11" else row
        for row in rows_of_days(FELL)
    ]
    found = drift(tmp_path, rows, metrics=("turn_success",))
    assert found.series[0].change is not None
    assert found.series[0].change.new == ("model m-2",)


def test_turns_before_since_and_small_changes_do_not_count(tmp_path: Path) -> None:
    rows = rows_of_days(FELL)
    assert drift(tmp_path, rows, since="2026-10-11").series[0].status == "untested"
    assert drift(tmp_path, rows, least=0.2).series[0].status == "steady"


def test_a_turn_that_the_log_has_twice_counts_once_and_one_of_each_day_counts(
    tmp_path: Path,
) -> None:
    daily = [
        msgspec.structs.replace(A_ROW, time=f"2026-10-{day:02}T12:00:00Z", position=day)
        for day in range(1, 9)
    ]
    again = [msgspec.structs.replace(row, file="again.jsonl") for row in daily]
    found = drift(tmp_path, [*daily, *again, failed(msgspec.structs.replace(A_ROW, time=""))])
    assert set(found.series[0].days.values()) == {(1, 1)}
    assert len(found.series[0].days) == 8
    assert found.undated == 1


def test_a_folder_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected rows"):
        find_drift(tmp_path, DriftOptions())
