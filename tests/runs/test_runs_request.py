"""What is judged where much, little or nothing is said."""

import re
import shutil
from pathlib import Path

import pytest

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.results.outcome import Outcome
from harness.runs.filters import filter_subjects
from harness.runs.judge_job import crash_result, judge_job, own_turns
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject, plan, subject_id
from harness.runs.request import SelectedClients, recorded_conversations, requested_cells
from harness.runs.selection import select_subjects
from harness.verdicts.rankings import rankings
from harness.wire.cassette_file import save_cassette
from tests.judging.conversations.conversation_recordings import CALL, ROUND_TRIP, recorded
from tests.runs.runs_samples import a_run

BOTH = SelectedClients(("reference",), ("plain-loop",))
DASHSCOPE = shipped.bundled_folder("scenarios") / "dashscope"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _project(folder: Path, table: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.harness]\n{table}")


def test_bundled_scenarios_and_recordings_are_the_default() -> None:
    found = requested_cells(SelectedClients(("reference",), ()))
    assert (found.paths, found.words) == ((), "")
    assert found.subjects == select_subjects((), recordings=True)
    assert {subject.kind for subject in found.subjects} == {"scenario", "cassette", "log"}
    judged = [s for s in found.subjects if s.of_turns or s.kind == "log"]
    assert [job.subject for job in found.jobs] == judged


def test_project_settings_are_the_default(folder: Path) -> None:
    _project(folder, f'paths = ["{DASHSCOPE.as_posix()}"]\nselect = "id:*/s*"\n')
    found = requested_cells(BOTH)
    assert found.words == "id:*/s*"
    assert {subject_id(s)[:11] for s in found.subjects} == {"dashscope/s"}
    assert requested_cells(BOTH, words="id:none").subjects == ()
    assert requested_cells(BOTH, [DASHSCOPE]).subjects == select_subjects([DASHSCOPE]), (
        "what is named is whole"
    )


def test_recorded_conversation_has_cells_of_both_kinds(
    folder: Path,
) -> None:
    save_cassette(ROUND_TRIP, folder / "talk.yaml")
    save_cassette(recorded(CALL, CALL), folder / "no-talk.yaml")
    found = requested_cells(BOTH, [folder])
    cells = [(subject_id(job.subject), job.normalizer) for job in found.jobs]
    assert cells == [
        ("cassette:no-talk", "reference"),
        ("cassette:talk", "reference"),
        ("cassette:talk", "plain-loop"),
    ]
    assert found.refused == {"its requests do not follow one another": 1}
    alone = requested_cells(SelectedClients(("reference",), ()), [folder])
    assert (len(alone.jobs), alone.refused) == (2, {})


def test_third_party_clients_are_not_judged_by_streams_that_no_server_sends(
    folder: Path,
) -> None:
    text = (DASHSCOPE / "set-memory.yaml").read_text(encoding="utf-8")
    own = re.sub(r"(?m)^evidence: .*$", "evidence:\n  own: the memory", text)
    (folder / "own.yaml").write_text(own)
    shutil.copytree(DASHSCOPE.parent / "tools", folder / "tools")
    (folder / "theirs.py").write_text("def normalize(interaction, reads): return iter(())\n")
    both = SelectedClients(("reference", "theirs:normalize"), ())
    found = requested_cells(both, [folder / "own.yaml"])
    assert [job.normalizer for job in found.jobs] == ["reference"]
    assert [job.normalizer for job in found.left_out] == ["theirs:normalize"]
    asked = requested_cells(both, [folder / "own.yaml"], evidence="own")
    assert (len(asked.jobs), asked.left_out) == (2, ())
    assert [own_turns(job) for job in asked.jobs] == ["judged", "lowered"]
    assert own_turns(found.left_out[0]) == "left out"
    adapter = Job(found.left_out[0].subject, "openai-sdk")  # bundled, but of another library
    assert own_turns(adapter) == "left out"
    unsupported = requested_cells(both, [folder / "own.yaml"], dialect="ollama")
    assert (len(unsupported.jobs), unsupported.left_out) == (2, ())
    _project(folder, 'evidence = "own"\n')
    assert requested_cells(both, [folder / "own.yaml"]).left_out == ()


TWICE = recorded(CALL, CALL)


def test_recording_is_judged_with_agents_and_normalizers(
    tmp_path: Path,
) -> None:
    save_cassette(ROUND_TRIP, tmp_path / "a" / "b.yaml")
    subjects = select_subjects([tmp_path])
    found = recorded_conversations(subjects)
    assert found.refused == {}
    jobs = plan((*subjects, *found.subjects), ("reference",), ("plain-loop",))
    turns, talk = (judge_job(job)[0] for job in jobs)
    assert (turns.cell, turns.kind) == ("cassette:a/b/reference", "turns")
    assert (talk.cell, talk.kind) == ("cassette:a/b/plain-loop", "conversation")
    assert (turns.outcome, talk.outcome) == (Outcome.PASS, Outcome.PASS)
    (line,) = rankings(a_run([turns, talk])).conversations
    assert (line.name, line.rate.k, line.rate.n) == ("m x p x plain-loop", 1, 1)
    assert (line.rate.compared, line.rate.as_recorded) == (1, 1)


def test_refused_recordings_are_counted_by_reason(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save_cassette(TWICE, tmp_path / f"{name}.yaml")
    save_cassette(recorded(CALL), tmp_path / "single.yaml")
    found = recorded_conversations(select_subjects([tmp_path]))
    assert found.subjects == ()
    assert found.refused == {"its requests do not follow one another": 2}


def test_changed_recording_is_an_error(tmp_path: Path) -> None:
    save_cassette(ROUND_TRIP, tmp_path / "b.yaml")
    (subject,) = recorded_conversations(select_subjects([tmp_path])).subjects
    save_cassette(TWICE, tmp_path / "b.yaml")
    with pytest.raises(UnreadableError, match="its requests do not follow"):
        load_subject(subject)


def test_unfinished_recording_counts_for_no_model(tmp_path: Path) -> None:
    first, last = ROUND_TRIP.interactions
    open_end = recorded(
        (first.request.body, first.body), (last.request.body, first.body.replace(b"c1", b"d1"))
    )
    save_cassette(open_end, tmp_path / "b.yaml")
    (subject,) = recorded_conversations(select_subjects([tmp_path])).subjects
    result, _ = judge_job(Job(subject, "plain-loop"))
    assert result.outcome is Outcome.PASS
    assert rankings(a_run([result])).conversations == ()


def test_crash_of_a_recorded_conversation_is_a_result(tmp_path: Path) -> None:
    save_cassette(ROUND_TRIP, tmp_path / "b.yaml")
    (subject,) = recorded_conversations(select_subjects([tmp_path])).subjects
    result = crash_result(Job(subject, "plain-loop"), "killed")
    assert (result.outcome, result.kind) == (Outcome.CRASH, "conversation")


@pytest.fixture(name="subjects", scope="module")
def _subjects() -> tuple[Subject, ...]:
    return select_subjects([shipped.bundled_folder("scenarios") / "dashscope"])


def test_filter_subjects_without_filters_keeps_all(subjects: tuple[Subject, ...]) -> None:
    assert tuple(filter_subjects(subjects, " ")) == subjects


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("id:dashscope/set-*", ["dashscope/set-memory"]),
        (
            "area:dashscope id:*/split-chunks*",
            ["dashscope/split-chunks-null", "dashscope/split-chunks"],
        ),
        ("area:other", []),
        ("dialect:openai-chat provider:dash* id:*/parallel", ["dashscope/parallel"]),
        ("dialect:anthropic", []),
        ("quirk:DELTA-INDEX-MISSING", ["dashscope/two-under-additional-kwargs"]),
    ],
)
def test_filter_subjects_requires_each_filter(
    subjects: tuple[Subject, ...], words: str, ids: list[str]
) -> None:
    assert [subject_id(each) for each in filter_subjects(subjects, words)] == ids


@pytest.mark.parametrize("words", ["dialekt:x", "dialect", "dialect:", ":x"])
def test_invalid_filter_is_an_error(subjects: tuple[Subject, ...], words: str) -> None:
    with pytest.raises(UsageError, match="expected words `key:glob`"):
        filter_subjects(subjects, words)
