"""`harness gate`, `harness compare`, the project's table and what GitHub is told."""

import json
from pathlib import Path

import pytest

from harness.project import project
from harness.results.outcome import Outcome
from harness.results.store import RunWriter
from tests.cli.conftest import Harness
from tests.runs.runs_samples import a_header, a_result

TABLE = """
[tool.harness]
baseline = "known.json"
[[tool.harness.gate]]
metric = "silent_wrong"
max = 0.0
"""
ENTRY = """
[[expectation]]
id = "area/one"
normalizer = "reference"
expect = "fail"
reason = "the server is old"
expires = 2026-12-31
"""


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


def _run(outcome: Outcome, place: str = "reports/run.jsonl") -> None:
    with RunWriter(Path(place)) as writer:
        writer.header(a_header())
        writer.add(a_result("area/one", outcome=outcome))
        writer.add(a_result("area/two"))
        writer.finish()


def test_a_failing_run_fails_and_an_accepted_failure_passes(harness: Harness) -> None:
    _run(Outcome.LEAK)
    assert harness("gate").code == 1
    Path("expectations.toml").write_text(ENTRY)
    left = harness("gate", "--today", "2026-11-22")
    assert (left.code, left.out) == (0, "")
    assert "gate pass: 1 cell accepted" in left.err
    late = harness("gate", "--today", "2027-01-01")
    assert late.code == 1
    assert "expired on 2026-12-31" in late.err


def test_expectation_is_stale_when_its_failure_is_fixed(harness: Harness) -> None:
    _run(Outcome.PASS)
    Path("expectations.toml").write_text(ENTRY)
    left = harness("gate", "--today", "2026-11-22", "--format", "json")
    assert left.code == 1
    assert left.json["verdict"] == "fail"
    assert left.json["stale"][0]["kind"] == "unexpected_pass"


def test_baseline_grows_with_accept_new_and_shrinks_automatically(harness: Harness) -> None:
    Path("pyproject.toml").write_text(TABLE)
    _run(Outcome.LEAK)
    missing = harness("gate")
    assert missing.code == 2
    assert "no such baseline" in missing.err
    assert harness("gate", "--accept-new").code == 0
    assert json.loads(Path("known.json").read_text())["cells"] == {"area/one/reference": "leak"}
    assert harness("gate").code == 0
    _run(Outcome.PASS)
    assert "baseline: fixed, removed: area/one/reference" in harness("gate").err
    assert json.loads(Path("known.json").read_text())["cells"] == {}
    _run(Outcome.LEAK)
    assert harness("gate").code == 1


def test_unreadable_baseline_does_not_pass(harness: Harness) -> None:
    Path("pyproject.toml").write_text(TABLE)
    Path("known.json").write_text("{}")
    _run(Outcome.PASS)
    assert harness("gate").code == 2
    assert harness("gate", "--accept-new").code == 2


def test_accept_new_creates_the_default_baseline(harness: Harness) -> None:
    _run(Outcome.LEAK)
    assert harness("gate").code == 1
    assert harness("gate", "--accept-new").code == 0
    assert Path("harness-baseline.json").exists()
    left = harness("gate")
    assert (left.code, "1 cell accepted" in left.err) == (0, True)
    Path("harness-baseline.json").unlink()
    assert harness("gate").code == 1


def test_gate_prints_rules_with_their_numbers(harness: Harness) -> None:
    rule = 'metric = "turn_success"\nmin = 0.5\nmin_n = 30\n'
    Path("pyproject.toml").write_text(f"[[tool.harness.gate]]\n{rule}")
    _run(Outcome.PASS)
    left = harness("gate", "--format", "json")
    (found,) = left.json["rules"]
    assert (left.code, left.json["verdict"]) == (1, "inconclusive")
    assert (found["k"], found["n"], found["min"], found["min_n"]) == (2, 2, 0.5, 30)
    assert 0 < found["low"] < found["high"] == 1


def test_unknown_project_key_is_rejected(harness: Harness) -> None:
    Path("pyproject.toml").write_text("[tool.harness]\ngaet = []\n")
    _run(Outcome.PASS)
    left = harness("gate")
    assert left.code == 2
    assert "did you mean 'gate'?" in left.err


def test_github_gets_a_summary_and_annotations(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(Outcome.LEAK)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    left = harness("gate")
    assert summary.read_text().startswith("before\n## Gate: fail\n")
    assert left.err.count("::error title=") == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert "cannot write the step summary" in harness("gate").err


def test_two_runs_are_compared(harness: Harness) -> None:
    _run(Outcome.PASS, "old/run.jsonl")
    _run(Outcome.LEAK)
    left = harness("compare", "old")
    assert left.code == 0
    assert "1 broken, 0 fixed" in left.out
    assert "area/one/reference  pass -> leak" in left.out
    found = harness("compare", "old", "reports/run.jsonl", "--format", "json").json
    assert found["counts"]["broken"] == 1
    assert harness("compare", "old", "--fail-on-broken").code == 1
    assert harness("compare", "reports", "old", "--fail-on-broken").code == 0


def test_the_project_names_normalizers_and_paths(harness: Harness) -> None:
    Path("scenarios").mkdir()
    Path("pyproject.toml").write_text(
        '[tool.harness]\npaths = ["scenarios"]\n[tool.harness.normalizers.ours]\n'
        'target = "harness.normalizers.known_bad:naive"\nsummary = "said here"\n'
    )
    assert project().table.paths == ("scenarios",)
    rows = harness("list", "normalizers", "--format", "json").json
    (ours,) = (row for row in rows if row["name"] == "ours")
    assert ours["summary"] == "said here"
    left = harness("run")
    assert left.code == 5
    assert "the paths have no scenario" in left.err


def test_all_files_of_a_report_are_written(harness: Harness) -> None:
    _run(Outcome.LEAK)
    names = {
        "index.html",
        "summary.md",
        "junit.xml",
        "results.csv",
        "turns.csv",
        "rankings.csv",
        "badge.json",
    }
    assert harness("report", "-o", "out").code == 0
    assert {path.name for path in Path("out").glob("[!.]*")} == {*names, "summary.json"}
    assert harness("report", "--format", "agent", "--format", "badge", "-o", "few").code == 0
    assert {path.name for path in Path("few").glob("[!.]*")} == {"agent", "badge.json"}
    assert Path("few/agent/index.md").is_file()
