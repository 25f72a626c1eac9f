"""What a project holds its runs against, read from its files."""

from datetime import date
from pathlib import Path

import pytest

from harness.conversation.discovery import installed_agent_names
from harness.conversation.mutants import MUTANTS as AGENT_MUTANTS
from harness.errors import UnreadableError
from harness.normalizers.discovery import installed_normalizer_names
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.timed import TIMED_MUTANTS
from harness.project import Project, Table, project
from harness.runs.existing_names import existing_names
from harness.runs.plan import Job, Subject
from harness.runs.request import without_skipped
from harness.verdicts.expectations import AcceptedFailure
from harness.verdicts.policy import GatePolicy, expectations_of, policy_of, project_paths

DAY = date(2026, 11, 22)
RECORDING = "cassette:llama-cpp/gemma-3-270m/action-protocol-en-dentist-t02"
ENTRY = '[[expectation]]\nid = "*"\nnormalizer = "x"\nexpect = "skip"\nreason = "slow"\n'


def test_policy_without_files_is_empty(tmp_path: Path) -> None:
    assert policy_of(Project(tmp_path), DAY) == GatePolicy(today=DAY)


def test_expectations_file_is_found_by_default(tmp_path: Path) -> None:
    (tmp_path / "expectations.toml").write_text(ENTRY)
    policy = policy_of(Project(tmp_path), DAY, known=existing_names)
    assert [entry.reason for entry in policy.expectations] == ["slow"]
    assert "reference" in policy.known.names
    assert "dashscope/split-chunks" in policy.known.scenarios
    assert RECORDING in policy.known.scenarios, "an entry for it is not stale beside another run"


def test_existing_names_are_the_bundled_the_installed_and_the_mutants() -> None:
    found = existing_names().names
    assert found == {
        *installed_normalizer_names(),
        *installed_agent_names(),
        *MUTANTS,
        *AGENT_MUTANTS,
        *TIMED_MUTANTS,
    }


def test_named_policy_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        expectations_of(Project(tmp_path, Table(expectations="none.toml")))
    with pytest.raises(UnreadableError):
        policy_of(Project(tmp_path, Table(baseline="none.json")), DAY)


def test_skipped_cells_have_no_jobs() -> None:
    jobs = tuple(Job(Subject("scenario", "scenarios/a.yaml", ("scenarios",)), n) for n in "xy")
    policy = GatePolicy(expectations=(AcceptedFailure("a", "x", "skip", "slow"),), today=DAY)
    assert without_skipped(jobs, policy) == (jobs[1:], ("a/x",))
    assert without_skipped(jobs, GatePolicy()) == (jobs, ())


def test_project_paths_are_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.harness]\npaths = ["scenarios"]\n')
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert project().root == tmp_path
    assert project_paths() == (Path("../scenarios"),)
