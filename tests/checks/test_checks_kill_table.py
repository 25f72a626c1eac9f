"""The kept kill table: agents row by row as judged now, loaded with what fuzzing measured."""

import json
from pathlib import Path

import pytest

from harness import shipped
from harness.checks.kill_table import kill_rows, stale_rows, write_kill_table
from harness.conversation.mutants import MUTANTS as AGENT_MINIATURES
from harness.errors import UnreadableError
from harness.judging.rules import CONVERSATION_RULES, COST_RULES, RULES
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.timed import TIMED_MUTANTS
from harness.results.kill_table import KillRow, load_kill_table, stored_rows
from tests.judging.judging_samples import (
    assert_rows_are_stored,
    shipped_conversations,
    subjects_for_mutant,
)

ROW = KillRow("CALL-NAMED", "name-lost", "anthropic/call", 3)


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let an empty folder be all that ships."""
    monkeypatch.setattr(shipped, "bundled_folder", lambda _: tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", AGENT_MINIATURES)
def test_stored_rows_of_an_agent_match_judging(name: str) -> None:
    sample = subjects_for_mutant(name, shipped_conversations())
    rows = kill_rows(AGENT_MINIATURES[name], sample, every=True)
    assert_rows_are_stored(name, rows, CONVERSATION_RULES)


def test_every_rule_and_mutant_has_a_row_and_none_survives() -> None:
    table = load_kill_table()
    # Replays do not measure cost. The mutants of its rules are in the tests of cost.
    assert {row.rule for row in table} == RULES.keys() - COST_RULES.keys()
    mutants = MUTANTS.keys() | AGENT_MINIATURES.keys() | TIMED_MUTANTS.keys()
    assert {row.mutant for row in table} == mutants
    assert all(row.scenario and row.scenarios for row in table)
    abouts = [row.about for row in table]
    assert abouts == sorted(abouts, reverse=True)  # turns first


def test_kill_table_round_trips_one_row_a_line(catalogue: Path) -> None:
    other = KillRow("CONV-PROBE", "probe-failure-is-no", "", 0)
    path = write_kill_table([other, ROW])
    assert path.parent == catalogue
    assert len(path.read_text().splitlines()) == 4
    assert stored_rows() == (ROW, other)
    first, second = load_kill_table()
    assert (first.level, first.about, first.fuzz_median) == ("MUST", "turns", None)
    assert first.title == RULES["CALL-NAMED"].duty.title
    assert (second.about, second.scenario) == ("conversation", "")


def test_benchmark_is_shown_with_its_rule(
    catalogue: Path,
) -> None:
    write_kill_table([ROW, KillRow("CALL-ID-EXACT", "name-lost", "x/y", 1)])
    measured = {"name-lost": {"rule": "CALL-NAMED", "seeds": 20, "median": 3.5, "worst": 9}}
    (catalogue / "sensitivity.json").write_text(json.dumps(measured))
    by_rule = {row.rule: row for row in load_kill_table()}
    assert (by_rule["CALL-NAMED"].fuzz_median, by_rule["CALL-NAMED"].fuzz_worst) == (3.5, 9)
    assert by_rule["CALL-ID-EXACT"].fuzz_median is None


def test_agent_benchmark_has_its_name(catalogue: Path) -> None:
    rules = ("TRUNCATED-CALL-NOT-RUN", "CONV-CALL-FROM-BROKEN-TURN")
    write_kill_table(KillRow(rule, "truncated-run", "x/y", 1) for rule in rules)
    measured = {
        "truncated-run": {"rule": rules[0], "seeds": 20, "found": 20, "median": 1, "worst": 2},
        "truncated-run (agent)": {"rule": rules[1], "seeds": 20, "found": 7},
    }
    (catalogue / "sensitivity.json").write_text(json.dumps(measured))
    turns, agent = load_kill_table()
    assert (turns.fuzz_median, turns.fuzz_found) == (1, 20)
    assert (agent.fuzz_median, agent.fuzz_found, agent.fuzz_seeds) == (None, 7, 20)


def test_kill_table_without_files_is_empty(catalogue: Path) -> None:
    assert catalogue.is_dir()
    assert load_kill_table() == ()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("kill-table.json", "[{]", "kill-table.json"),
        ("kill-table.json", '[{"rule": 1}]', "kill-table.json"),
        ("sensitivity.json", "[]", "sensitivity.json"),
        (
            "kill-table.json",
            '[{"rule": "GONE", "miniature": "m", "scenario": "s", "scenarios": 1}]',
            "there is no rule GONE",
        ),
    ],
)
def test_unreadable_kill_table_is_an_error(
    catalogue: Path, name: str, text: str, said: str
) -> None:
    (catalogue / name).write_text(text)
    with pytest.raises(UnreadableError, match=said):
        load_kill_table()


def test_stale_rows_ignore_numbers_of_scenarios(catalogue: Path) -> None:
    assert catalogue.is_dir()
    write_kill_table([ROW, KillRow("CALL-ORDER", "gone", "x/y", 1)])
    now = KillRow("CALL-NAMED", "name-lost", "anthropic/call", 1)
    assert list(stale_rows([now])) == ["CALL-ORDER gone: stored x/y, found no row"]
    survivor = KillRow("CALL-NAMED", "name-lost", "", 0)
    assert "CALL-NAMED name-lost: stored anthropic/call, found survives" in stale_rows([survivor])
