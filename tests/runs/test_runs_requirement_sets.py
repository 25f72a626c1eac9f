"""A requirement set keeps a gate as it was at a release, although the suite grows."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.judging.rules import RULES
from harness.runs import requirement_sets
from harness.runs.judge_job import judge_job
from harness.runs.plan import Job, subject_id
from harness.runs.request import SelectedClients, requested_cells
from harness.runs.requirement_sets import load_set, set_names
from harness.runs.selection import select_subjects
from scripts.freeze_set import freeze

NAIVE = SelectedClients(("naive",), ())
SPLIT = shipped.bundled_folder("scenarios") / "dashscope" / "split-chunks.yaml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder where the one set `tiny` has a scenario, a recording and a rule."""
    content = {
        "scenarios": ["dashscope/split-chunks"],
        "recordings": [],
        "rules": ["CALL-NAMED"],
    }
    (tmp_path / "tiny.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(requirement_sets, "sets_folder", lambda: tmp_path)
    load_set.cache_clear()
    yield tmp_path
    load_set.cache_clear()


def _ids(requirement_set: str | None = None) -> set[str]:
    found = requested_cells(NAIVE, requirement_set=requirement_set)
    return {subject_id(each) for each in found.subjects}


def test_set_limits_the_bundled_subjects() -> None:
    assert _ids(requirement_set="tiny") == {"dashscope/split-chunks"}


def test_set_of_the_project_is_the_default(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.harness]\nset = "tiny"\n')
    assert _ids() == {"dashscope/split-chunks"}
    assert {job.requirement_set for job in requested_cells(NAIVE).jobs} == {"tiny"}
    assert len(_ids(requirement_set="")) > 1


def test_files_of_the_user_are_never_left_out(folder: Path) -> None:
    own = folder / "scenarios" / "own.yaml"
    own.parent.mkdir()
    shutil.copy(SPLIT, own)
    found = requested_cells(NAIVE, [own, SPLIT.parent], requirement_set="tiny")
    assert {subject_id(each) for each in found.subjects} == {"own", "dashscope/split-chunks"}


def test_rules_outside_the_set_are_not_checked() -> None:
    (subject,) = select_subjects([SPLIT])
    every, few = (judge_job(Job(subject, "naive", name), "quick")[0] for name in ("", "tiny"))
    assert {finding.rule for finding in few.findings} == {"CALL-NAMED"}
    assert {finding.rule for finding in every.findings} > {"CALL-NAMED"}


def test_unknown_set_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"unknown requirement set 'tine'(.|\n)*did you mean 'tiny'"
    ):
        requested_cells(NAIVE, requirement_set="tine")


@pytest.mark.parametrize("text", ['{"scenarios": []}', "{"])
def test_damaged_set_is_unreadable(folder: Path, text: str) -> None:
    (folder / "tiny.json").write_text(text)
    with pytest.raises(UnreadableError, match=r"tiny\.json"):
        load_set("tiny")


def test_frozen_set_has_everything_and_is_not_written_again(folder: Path) -> None:
    freeze(folder / "new.json")
    assert set_names() == ("new", "tiny")
    subjects = select_subjects((), recordings=True)
    assert load_set("new").subjects == {subject_id(each) for each in subjects}
    assert load_set("new").rules == RULES.keys()
    with pytest.raises(SystemExit, match="the set exists"):
        freeze(folder / "new.json")
