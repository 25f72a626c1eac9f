"""What is judged where much, little or nothing is said."""

from pathlib import Path

import pytest

from harness import shipped
from harness.runs.choose import Chosen
from harness.runs.select import select, subject_id
from harness.runs.wanted import wanted
from harness.wire.cassette_file import save
from tests.judging.conversations.conversation_recordings import CALL, ROUND_TRIP, recorded

BOTH = Chosen(("reference",), ("plain-loop",))
DASHSCOPE = shipped.folder("scenarios") / "dashscope"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _project(folder: Path, table: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.harness]\n{table}")


def test_without_a_word_scenarios_and_recordings_that_ship() -> None:
    found = wanted(Chosen(("reference",), ()))
    assert (found.paths, found.words) == ((), "")
    assert found.subjects == select((), recordings=True)
    assert {subject.kind for subject in found.subjects} == {"scenario", "cassette"}
    assert [job.subject for job in found.jobs] == [s for s in found.subjects if s.of_turns]


def test_what_the_project_says_counts_where_nothing_else_is_said(folder: Path) -> None:
    _project(folder, f'paths = ["{DASHSCOPE.as_posix()}"]\nselect = "id:*/s*"\n')
    found = wanted(BOTH)
    assert found.words == "id:*/s*"
    assert {subject_id(s)[:11] for s in found.subjects} == {"dashscope/s"}
    assert wanted(BOTH, words="id:none").subjects == ()
    assert wanted(BOTH, [DASHSCOPE]).subjects == select([DASHSCOPE]), "what is named is whole"


def test_a_conversation_is_judged_twice_and_what_agents_cannot_have_is_counted(
    folder: Path,
) -> None:
    save(ROUND_TRIP, folder / "talk.yaml")
    save(recorded(CALL, CALL), folder / "no-talk.yaml")
    found = wanted(BOTH, [folder])
    cells = [(subject_id(job.subject), job.normalizer) for job in found.jobs]
    assert cells == [
        ("cassette:no-talk", "reference"),
        ("cassette:talk", "reference"),
        ("cassette:talk", "plain-loop"),
    ]
    assert found.refused == {"its requests do not follow one another": 1}
    alone = wanted(Chosen(("reference",), ()), [folder])
    assert (len(alone.jobs), alone.refused) == (2, {})
