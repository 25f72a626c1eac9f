"""`harness drift`: exit codes, and lines that say what fell, when and why."""

from pathlib import Path

import pytest

from tests.cli.conftest import Harness
from tests.measuring.measuring_samples import a_folder, rows_of_days

STEADY = (3, 5, 4, 6, 3, 5)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measuring.drift.DRAWS", 499)


def test_a_fall_exits_with_1_and_names_the_day_and_the_signature(
    harness: Harness, tmp_path: Path
) -> None:
    folder = a_folder(tmp_path, rows_of_days((*STEADY, 40, 41), turns=80))
    left = harness("drift", str(folder), "--metric", "turn_success")
    assert (left.code, left.err) == (1, "")
    lines = left.out.splitlines()
    assert lines[0].startswith(
        "worse       turn_success  all turns  640 turns on 8 days, adjusted p"
    )
    assert lines[1].startswith("    since 2026-10-07: 94.6% [")
    assert lines[2].startswith("    grew most: parse error · ARGS-NULL, from 5.42% to 50.62%")
    assert lines[-1] == "1 series: 1 worse, 0 steady, 0 not tested"
    found = harness("drift", str(folder), "--format", "json").json
    assert found["series"][0]["change"]["day"] == "2026-10-07"


def test_steady_rates_exit_with_0_and_too_few_days_with_5(harness: Harness, tmp_path: Path) -> None:
    rows = rows_of_days(STEADY, turns=80)
    assert harness("drift", str(a_folder(tmp_path, rows)), "--by", "model", "--by", "all").code == 0
    left = harness("drift", str(a_folder(tmp_path, rows[:160])))
    assert left.code == 5
    assert (
        "not tested  turn_success  all turns  160 turns on 2 days: expected at least 5" in left.out
    )


def test_a_folder_without_rows_is_an_error(harness: Harness, tmp_path: Path) -> None:
    left = harness("drift", str(tmp_path))
    assert left.code == 2
    assert "harness measure" in left.err
