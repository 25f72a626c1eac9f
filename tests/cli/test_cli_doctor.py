"""`harness doctor`: one line for each check, and a code that says whether all are well."""

from collections.abc import Iterator

import pytest

from harness.checks import bundled_data
from harness.checks.bundled_data import BundledData, Check
from harness.cli import doctor as doctor_module
from harness.results.expectation import Field
from harness.results.kill_table import KillRow, MeasuredKill
from harness.verdicts.judged_shares import judged_shares
from tests.cli.conftest import Harness

WELL = Check("all is well", ok=True, count=3, detail=())
ILL = Check("something is not", ok=False, count=20, detail=tuple(f"wrong {n}" for n in range(12)))


TABLE = (
    MeasuredKill("CALL-NAMED", "MUST", "Named.", "turns", "name-lost", "a/b", 2, 3.5, 9),
    MeasuredKill("CALL-ORDER", "MUST", "Ordered.", "turns", "calls-reversed", "", 0),
    MeasuredKill("CONV-PROBE", "MUST", "Probed.", "conversation", "probe-failure-is-no", "g/h", 4),
)


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_module, "load_kill_table", lambda: TABLE)
    turns: tuple[dict[Field, str], ...] = ({}, {}, {}, {"calls": "EVENT-GLUED"})
    monkeypatch.setattr(bundled_data, "judged_turns", lambda: judged_shares(turns))


def _checks(monkeypatch: pytest.MonkeyPatch, *found: Check) -> None:
    def checks() -> Iterator[Check]:
        return iter(found)

    monkeypatch.setattr(doctor_module, "checks", checks)


def test_doctor_exits_with_0_when_all_checks_pass(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _checks(monkeypatch, WELL)
    left = harness("doctor")
    assert (left.code, left.err) == (0, "")
    first, calls, text, _reasoning, _finish, turns, conversation = left.out.splitlines()
    assert first == "ok    all is well (3)"
    assert calls == "judged turns, calls: 3/4 (75.0 %): 1 EVENT-GLUED"
    assert text == "judged turns, text: 4/4 (100.0 %): all judged"
    assert turns == (
        "kill table, turns: 2 rules, 2 mutants, fewest scenarios 0 (calls-reversed), "
        "found by fuzzing 1"
    )
    assert "conversation: 1 rules, 1 mutants, fewest scenarios 4 (probe" in conversation


def test_doctor_shows_ten_lines_of_a_failed_check(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _checks(monkeypatch, WELL, ILL)
    left = harness("doctor")
    assert left.code == 1
    assert "FAIL  something is not (20)\n      wrong 0\n" in left.out
    assert "      wrong 9\n      and 2 more\n" in left.out
    assert "wrong 10" not in left.out


def test_doctor_json_has_all_details(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    _checks(monkeypatch, WELL, ILL)
    left = harness("doctor", "--format", "json")
    assert left.code == 1
    assert [list(row) for row in left.json] == [["check", "ok", "count", "detail"]] * 2
    assert left.json[0] == {"check": "all is well", "ok": True, "count": 3, "detail": []}
    assert len(left.json[1]["detail"]) == 12


def test_doctor_prints_the_complete_kill_table(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _checks(monkeypatch, WELL)
    rows = [line.split() for line in harness("doctor", "--kill-table").out.splitlines()[6:]]
    assert rows[0] == ["CALL-NAMED", "MUST", "name-lost", "2", "a/b", "3.5", "9"]
    assert " ".join(rows[1][3:]) == "0 none: it survives not measured"
    _checks(monkeypatch, WELL)
    left = harness("doctor", "--kill-table", "--format", "json")
    assert [row["miniature"] for row in left.json["kill_table"]] == [
        "name-lost",
        "calls-reversed",
        "probe-failure-is-no",
    ]
    assert left.json["checks"][0]["ok"]


def test_doctor_writes_the_kill_table_before_the_checks(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _checks(monkeypatch, WELL)
    rows = (KillRow("CALL-NAMED", "name-lost", "a/b", 2),)
    monkeypatch.setattr(BundledData, "kill_rows", lambda _self, every: rows if every else ())
    written: list[object] = []

    def write(found: object) -> str:
        written.append(found)
        return "kept.json"

    monkeypatch.setattr(doctor_module, "write_kill_table", write)
    left = harness("doctor", "--write-kill-table")
    assert (left.code, left.err) == (0, "wrote kept.json\n")
    assert written == [rows]
