"""The history on the command line: runs are kept, and compared without a flag."""

import json
from pathlib import Path

import pytest

from harness import shipped
from tests.cli.conftest import Harness

OURS = ("run", "-n", "reference", "--cuts", "whole", "-j", "1", "--format", "json")
RIGHT, WRONG = "finish: tool_calls", "finish: stop"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(finish: str, history: int = 2) -> None:
    """Write a project with one scenario, which expects `finish`, so that its cell may flip."""
    Path("pyproject.toml").write_text(
        f'[tool.harness]\nhistory = {history}\npaths = ["scenarios"]\n', encoding="utf-8"
    )
    bundled = shipped.bundled_folder("scenarios") / "dashscope" / "split-chunks.yaml"
    text = bundled.read_text(encoding="utf-8").partition("\nemulate:")[0] + "\n"
    text = text.replace("tools: [writing, set_memory]\n", "")
    assert RIGHT in text
    Path("scenarios").mkdir(exist_ok=True)
    Path("scenarios/mine.yaml").write_text(text.replace(RIGHT, finish), encoding="utf-8")


def _abouts() -> list[dict[str, object]]:
    return [json.loads(each.read_text()) for each in sorted(Path("reports/runs").glob("*/*.json"))]


def test_runs_are_kept_and_compared_with_the_run_before(harness: Harness) -> None:
    for finish in (RIGHT, WRONG, RIGHT):
        _write(finish)
        assert harness(*OURS).code in (0, 1)
    assert [len(_abouts()), len([*Path("reports/runs").iterdir()])] == [2, 2]
    (about, _) = _abouts()
    assert about["names"] == ["reference"]
    assert about["seconds"] > 0  # type: ignore[operator]  # a number
    found = harness("compare", "--format", "json")
    assert found.json["counts"]["fixed"] == 1
    assert "from 20" in found.err
    assert "(reports/runs/" in found.err
    kept = min(Path("reports/runs").iterdir())
    assert harness("compare", str(kept), "--format", "json").json == found.json
    text = harness("compare").out
    assert text.startswith("before  20")
    assert "cells of both" in text
    assert " points" in text
    assert harness("report").code == 0
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "<b>1</b> fixed</a>" in page
    assert "<dt>Made</dt>" in page
    assert "Rates of 2 runs." in page


def test_no_run_is_kept_with_a_history_of_zero(harness: Harness) -> None:
    _write(RIGHT, history=0)
    assert harness(*OURS).code == 0
    assert not Path("reports/runs").exists()
    left = harness("compare")
    assert left.code == 2
    assert "no earlier run with the same selection" in left.err
    assert "Pass the run to compare with" in left.err


def test_base_may_be_a_commit_of_the_history(harness: Harness) -> None:
    _write(WRONG)
    harness(*OURS)
    (path,) = Path("reports/runs").glob("*/about.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "commit": "abc123"}))
    _write(RIGHT)
    harness(*OURS)
    assert harness("compare", "abc1", "--format", "json").json["counts"]["fixed"] == 1
    assert harness("report", "--base", "abc1").code == 0
    assert harness("report", "--base", "nothing").code == 2


def test_change_ends_the_run_and_the_summary_and_lf_keeps_the_complete_report(
    harness: Harness,
) -> None:
    for finish in (RIGHT, WRONG):
        _write(finish)
        found = harness(*OURS)
    change = "+1 broken, 0 fixed, 1 new cause since the last run"
    assert f"changes: {change}" in found.err
    assert harness("report", "--format", "markdown").code == 0
    summary = Path("reports/summary.md").read_text(encoding="utf-8")
    assert "**Changes:** +1 broken, 0 fixed, 1 new cause since the last run" in summary
    complete = Path("reports/index.html").read_bytes()
    again = harness("run", "--lf", "-j", "1")
    assert again.code == 1
    assert Path("reports/last-failed.html").is_file()
    assert Path("reports/index.html").read_bytes() == complete
