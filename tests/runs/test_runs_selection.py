"""Paths -> subjects: what is found, under which id, and what is refused."""

import os
from pathlib import Path

import pytest

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.runs.plan import subject_id
from harness.runs.selection import select_subjects

SCENARIO = "title: t\ncassette: {}\nexpect:\n- finish: stop\n"
CASSETTE = "interactions: []\nversion: 1\n"


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: str, text: str = CASSETTE) -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    return Path(path)


def ids(*paths: str | Path) -> list[str]:
    return [subject_id(subject) for subject in select_subjects(map(Path, paths))]


def test_without_paths_all_that_ships_is_selected() -> None:
    subjects = select_subjects(())
    assert {subject.kind for subject in subjects} == {"scenario"}
    paths = shipped.bundled_folder("scenarios").rglob("*.yaml")
    assert len(subjects) == sum(1 for path in paths if path.parent.name != "tools")


def test_an_id_is_the_path_inside_the_folder_that_names_it() -> None:
    put("scenarios/area/one.yaml", SCENARIO.format("p/a"))
    put("cassettes/p/b.yaml")
    assert ids(".") == ["cassette:p/b", "area/one"]
    assert ids("scenarios/area") == ["area/one"]
    assert ids("cassettes/p/b.yaml") == ["cassette:p/b"]


def test_cassettes_of_another_project_are_named_by_the_folder_that_was_given() -> None:
    put("vcr/chat/one.yaml")
    put("vcr/tools/one.yml")
    assert ids("vcr") == ["cassette:chat/one", "cassette:tools/one"]
    assert ids("vcr/chat/one.yaml") == ["cassette:one"]


def test_a_cassette_that_a_selected_scenario_labels_is_judged_once() -> None:
    put("scenarios/one.yaml", SCENARIO.format("p/a"))
    put("cassettes/p/a.yaml")
    assert ids("scenarios", "cassettes") == ["one"]
    assert ids("cassettes") == ["cassette:p/a"]


@pytest.mark.parametrize("quote", ["p/a", "'p/a'", '"p/a"', "p/a # why"])
def test_it_is_known_however_it_is_spelled_and_wherever_one_stands(quote: str, tree: Path) -> None:
    put("scenarios/one.yaml", SCENARIO.format(quote))
    put("cassettes/p/a.yaml")
    assert ids("scenarios", tree / "cassettes") == ["one"]
    assert ids(tree / "scenarios", "./scenarios/../cassettes") == ["one"]


def test_a_file_that_is_named_twice_is_judged_once(tree: Path) -> None:
    put("cassettes/a.yaml")
    assert ids("cassettes", "cassettes/a.yaml", tree / "cassettes") == ["cassette:a"]


def test_order_does_not_depend_on_that_of_the_paths() -> None:
    for name in "cab":
        put(f"cassettes/{name}.yaml")
    assert ids("cassettes/c.yaml", "cassettes/a.yaml") == ids(
        "cassettes/a.yaml", "cassettes/c.yaml"
    )


@pytest.mark.parametrize(
    "files",
    [
        ("one/cassettes/a.yaml", "two/cassettes/a.yaml"),
        ("cassettes/a.yaml", "cassettes/a.yml"),
        ("one/scenarios/a.yaml", "two/scenarios/a.yaml"),
    ],
)
def test_two_files_with_one_id_are_refused_before_anything_runs(files: tuple[str, str]) -> None:
    for file in files:
        put(file, SCENARIO.format("x") if "scenarios" in file else CASSETTE)
    with pytest.raises(UsageError, match="two files have the id"):
        ids(".")


def test_other_yaml_in_a_folder_is_left_out_and_so_are_hidden_folders() -> None:
    put("cassettes/a.yaml")
    put("cassettes/settings.yaml", "name: x\n")
    put("scenarios/tools/writing.yaml", "name: writing\nparameters: {}\n")
    put(".venv/lib/cassettes/b.yaml")
    put("cassettes/.cache/c.yaml")
    put("cassettes/notes.txt")
    Path("cassettes/folder.yaml").mkdir()
    assert ids(".") == ["cassette:a"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_left_alone() -> None:
    put("cassettes/a.yaml")
    os.mkfifo("cassettes/pipe.yaml")
    Path("cassettes/zero.yaml").symlink_to("/dev/zero")
    assert ids(".") == ["cassette:a"]


def test_a_hidden_folder_that_is_named_is_looked_into() -> None:
    put(".recordings/a.yaml")
    assert ids(".recordings") == ["cassette:a"]


def test_an_empty_folder_selects_nothing() -> None:
    assert ids(".") == []


def test_a_path_that_does_not_exist_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        ids("missing")


def test_a_named_file_must_be_one_or_the_other() -> None:
    put("x.yaml", "name: x\n")
    with pytest.raises(UnreadableError, match="expected a scenario"):
        ids("x.yaml")


def test_a_file_is_what_its_top_level_keys_say() -> None:
    put("late.yaml", "harness: {}\n" + "# comment\n" * 1000 + CASSETTE)
    body = "interactions:\n- response:\n    body:\n      string: |\n        expect:\n"
    put("talks-of-expect.yaml", body)
    put("talks.yaml", "title: |\n  interactions:\n" + SCENARIO.format("a"))
    assert {subject.path: subject.kind for subject in select_subjects([Path()])} == {
        "late.yaml": "cassette",
        "talks-of-expect.yaml": "cassette",
        "talks.yaml": "scenario",
    }
