"""`harness doctor`: one line for each check, and a code that says whether all are well."""

from collections.abc import Iterator

import pytest

from harness.cli import doctor as doctor_module
from harness.runs.upkeep import Check
from tests.cli.conftest import Harness

WELL = Check("all is well", ok=True, count=3, detail=())
ILL = Check("something is not", ok=False, count=20, detail=tuple(f"wrong {n}" for n in range(12)))


def _checks(monkeypatch: pytest.MonkeyPatch, *found: Check) -> None:
    def checks() -> Iterator[Check]:
        return iter(found)

    monkeypatch.setattr(doctor_module, "checks", checks)


def test_all_well(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    _checks(monkeypatch, WELL)
    left = harness("doctor")
    assert (left.code, left.out, left.err) == (0, "ok    all is well (3)\n", "")


def test_what_is_wrong_is_shown_ten_lines_of_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _checks(monkeypatch, WELL, ILL)
    left = harness("doctor")
    assert left.code == 1
    assert "FAIL  something is not (20)\n      wrong 0\n" in left.out
    assert "      wrong 9\n      and 2 more\n" in left.out
    assert "wrong 10" not in left.out


def test_machines_get_all_of_it(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    _checks(monkeypatch, WELL, ILL)
    left = harness("doctor", "--format", "json")
    assert left.code == 1
    assert [list(row) for row in left.json] == [["check", "ok", "count", "detail"]] * 2
    assert left.json[0] == {"check": "all is well", "ok": True, "count": 3, "detail": []}
    assert len(left.json[1]["detail"]) == 12
