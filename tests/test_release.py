"""What a release consists of: versions, changelog, packages, the Action, hooks and examples."""

import re
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import harness
from harness.cli import cli
from scripts.check_packages import problems
from scripts.run_action import load_action, shell_steps
from tests.tables import each_row

ROOT = Path(__file__).parents[1]


def _yaml(name: str) -> Any:  # noqa: ANN401 - any YAML
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == harness.__version__ == _yaml("CITATION.cff")["version"]


def test_changelog_has_releases_newest_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *others = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert first == "[Unreleased]" or first.startswith(f"[{harness.__version__}] - 20")
    assert [
        it for it in others if not re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", it)
    ] == []


def _run_options() -> set[str]:
    command = cli.get_command(click.Context(cli), "run")
    assert command is not None
    return {option for each in command.params for option in each.opts}


def test_action_uses_options_that_exist() -> None:
    judge = next(script for script, _ in shell_steps({}) if "harness run" in script)
    assert set(re.findall(r"(?<![\w-])--?[a-z]+", judge)) - {"-z"} <= _run_options()


def test_steps_of_the_action_get_each_input() -> None:
    inputs = {name: f"value of {name}" for name in load_action()["inputs"]}
    given = {value for _, env in shell_steps(inputs) for value in env.values()}
    assert given == set(inputs.values()) - {"value of python-version"}


@each_row("hook", _yaml(".pre-commit-hooks.yaml"))
def test_hooks_run_commands_that_exist(hook: dict[str, Any]) -> None:
    program, command = hook["entry"].split()
    assert program == "harness"
    assert cli.get_command(click.Context(cli), command) is not None
    assert hook["language"] == "python"


def test_examples_share_one_client() -> None:
    first, second = (
        (ROOT / "examples" / name / "client.py").read_text(encoding="utf-8")
        for name in ("own-client", "agent-over-conversations")
    )
    assert first == second


def test_forms_of_issues_have_fields() -> None:
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*-*.yml")):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 0


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """Build packages by hand of a tree with one file in each folder."""
    root, folder = tmp_path / "root", tmp_path / "dist"
    folder.mkdir()
    data = ("cassettes", "scenarios", "catalogue", "clients")
    folders = (*data, "harness", "tests", "benchmarks", "docs", "examples", "scripts")
    for name in folders:
        (root / name).mkdir(parents=True)
        (root / name / "file").write_text(name)
    files = (
        *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"),
        *("LICENSE", "conftest.py", "Makefile", "pyproject.toml"),
    )
    for name in files:
        (root / name).write_text(name)
    with zipfile.ZipFile(folder / "a.whl", "w") as wheel:
        wheel.write(root / "harness" / "file", "harness/file")
        for name in data:
            wheel.write(root / name / "file", f"harness/shipped_data/{name}/file")
    with tarfile.open(folder / "a.tar.gz", "w:gz") as sdist:
        sdist.add(root, "a-1")
    return tmp_path


def test_complete_packages_have_no_problem(dist: Path) -> None:
    assert list(problems(dist / "dist", dist / "root")) == []


def test_missing_and_surplus_files_are_found(dist: Path) -> None:
    (dist / "root" / "scenarios" / "new").write_text("")
    with zipfile.ZipFile(dist / "dist" / "a.whl", "a") as wheel:
        wheel.writestr("tests/test.py", "")
    assert list(problems(dist / "dist", dist / "root")) == [
        "a.whl: harness/shipped_data/scenarios/new is missing",
        "a.whl: tests/test.py does not belong there",
        "a.tar.gz: scenarios/new is missing",
    ]
