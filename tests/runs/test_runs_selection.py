"""Paths -> subjects: what is found, under which id, and what is refused."""

import os
from pathlib import Path

import pytest

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.judging.scenario_file import load_scenario
from harness.results.scenario_evidence import is_own
from harness.runs.filters import filter_subjects
from harness.runs.load import load_subject
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


def test_bundled_subjects_are_the_default() -> None:
    subjects = select_subjects(())
    assert {subject.kind for subject in subjects} == {"scenario"}
    paths = shipped.bundled_folder("scenarios").rglob("*.yaml")
    assert len(subjects) == sum(1 for path in paths if path.parent.name != "tools")


def test_id_is_the_path_inside_its_folder() -> None:
    put("scenarios/area/one.yaml", SCENARIO.format("p/a"))
    put("cassettes/p/b.yaml")
    assert ids(".") == ["cassette:p/b", "area/one"]
    assert ids("scenarios/area") == ["area/one"]
    assert ids("cassettes/p/b.yaml") == ["cassette:p/b"]


def test_id_of_other_cassettes_is_relative_to_the_given_folder() -> None:
    put("vcr/chat/one.yaml")
    put("vcr/tools/one.yml")
    assert ids("vcr") == ["cassette:chat/one", "cassette:tools/one"]
    assert ids("vcr/chat/one.yaml") == ["cassette:one"]


def test_cassette_of_a_selected_scenario_is_judged_once() -> None:
    put("scenarios/one.yaml", SCENARIO.format("p/a"))
    put("cassettes/p/a.yaml")
    assert ids("scenarios", "cassettes") == ["one"]
    assert ids("cassettes") == ["cassette:p/a"]


@pytest.mark.parametrize("quote", ["p/a", "'p/a'", '"p/a"', "p/a # why"])
def test_cassette_of_a_scenario_is_found_by_any_path(quote: str, tree: Path) -> None:
    put("scenarios/one.yaml", SCENARIO.format(quote))
    put("cassettes/p/a.yaml")
    assert ids("scenarios", tree / "cassettes") == ["one"]
    assert ids(tree / "scenarios", "./scenarios/../cassettes") == ["one"]


def test_file_named_twice_is_judged_once(tree: Path) -> None:
    put("cassettes/a.yaml")
    assert ids("cassettes", "cassettes/a.yaml", tree / "cassettes") == ["cassette:a"]


def test_order_is_independent_of_the_paths() -> None:
    for name in "cab":
        put(f"cassettes/{name}.yaml")
    assert ids("cassettes/c.yaml", "cassettes/a.yaml") == ids(
        "cassettes/a.yaml", "cassettes/c.yaml"
    )


@pytest.mark.parametrize(
    "files",
    [
        ("cassettes/a.yaml", "cassettes/a.yml"),
        ("one/scenarios/a.yaml", "two/scenarios/a.yaml"),
    ],
)
def test_two_files_with_one_id_are_an_error(files: tuple[str, str]) -> None:
    for file in files:
        put(file, SCENARIO.format("x") if "scenarios" in file else CASSETTE)
    with pytest.raises(UsageError, match="two files have the id"):
        ids(".")


def test_recordings_with_one_name_get_distinct_ids() -> None:
    for folder in ("groq/m/one/cassettes", "openai/m/two/cassettes"):
        put(f"imported/{folder}/a.yaml")
    found = ["cassette:groq/m/one/cassettes/a", "cassette:openai/m/two/cassettes/a"]
    assert ids("imported") == found
    assert ids("imported/groq/m/one/cassettes", "imported/openai/m/two/cassettes") == found
    assert ids("imported/groq/m/one/cassettes/a.yaml") == ["cassette:a"]


def test_other_yaml_is_unreadable_and_hidden_folders_are_skipped() -> None:
    put("cassettes/a.yaml")
    put("cassettes/settings.yaml", "name: x\n")
    put("cassettes/ZERO.YML", "")
    put("scenarios/tools/writing.yaml", "name: writing\nparameters: {}\n")
    put(".venv/lib/cassettes/b.yaml")
    put("cassettes/.cache/c.yaml")
    put("cassettes/notes.txt")
    Path("cassettes/folder.yaml").mkdir()
    assert ids(".") == ["cassettes/ZERO.YML", "cassette:a", "cassettes/settings.yaml"]


def test_linked_folders_are_searched_once_and_keep_their_name() -> None:
    put("elsewhere/a.yaml")
    Path("cassettes").mkdir()
    Path("cassettes/linked").symlink_to("../elsewhere")
    Path("cassettes/again").symlink_to("../elsewhere")
    Path("elsewhere/loop").symlink_to(".")
    assert ids("cassettes") == ["cassette:again/a"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_special_files_and_dangling_links_are_unreadable() -> None:
    put("cassettes/a.yaml")
    os.mkfifo("cassettes/pipe.yaml")
    Path("cassettes/zero.yaml").symlink_to("/dev/zero")
    Path("cassettes/lost.yaml").symlink_to("nowhere")
    Path("cassettes/own.yaml").symlink_to("own.yaml")
    good, *others = select_subjects([Path()])
    assert subject_id(good) == "cassette:a"
    assert [each.path for each in others] == [
        f"cassettes/{name}.yaml" for name in ("lost", "own", "pipe", "zero")
    ]
    for each in others:
        with pytest.raises(UnreadableError, match=r"leads nowhere|regular file|symbolic links"):
            load_subject(each)


def test_named_hidden_folder_is_searched() -> None:
    put(".recordings/a.yaml")
    assert ids(".recordings") == ["cassette:a"]


def test_empty_folder_selects_nothing() -> None:
    assert ids(".") == []


def test_missing_path_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        ids("missing")


def test_named_file_must_be_a_scenario_or_a_cassette() -> None:
    put("x.yaml", "name: x\n")
    (subject,) = select_subjects([Path("x.yaml")])
    assert (subject.kind, subject_id(subject)) == ("unreadable", "x.yaml")
    with pytest.raises(UnreadableError, match="expected a scenario"):
        load_subject(subject)
    assert select_subjects([Path()])[0].kind == "unreadable"


def test_a_file_with_a_byte_order_mark_is_found_and_the_mark_named() -> None:
    put("x.yaml", "\ufeff" + CASSETTE)
    (subject,) = select_subjects([Path()])
    assert subject.kind == "cassette"
    with pytest.raises(UnreadableError, match="found a byte order mark"):
        load_subject(subject)


def test_an_unknown_dialect_is_named_with_the_nearest_one() -> None:
    bundled = shipped.bundled_folder("cassettes") / "dashscope/deepseek-v3/narration-and-call.yaml"
    text = bundled.read_text(encoding="utf-8")
    assert "  dialect: openai-chat\n" in text
    put("x.yaml", text.replace("  dialect: openai-chat\n", "  dialect: opnai-chat\n"))
    (subject,) = select_subjects([Path()])
    with pytest.raises(UnreadableError, match="unknown dialect 'opnai-chat'") as caught:
        load_subject(subject)
    assert caught.value.hint == "did you mean 'openai-chat'?"


def test_a_file_that_cannot_be_loaded_matches_every_filter() -> None:
    put("bad.yaml", "interactions: 3\n")
    put("good.yaml")
    found = filter_subjects(select_subjects([Path()]), "provider:openai")
    assert [subject.path for subject in found] == ["bad.yaml"]


def test_top_level_keys_decide_the_kind_of_a_file() -> None:
    put("late.yaml", "harness: {}\n" + "# comment\n" * 1000 + CASSETTE)
    body = "interactions:\n- response:\n    body:\n      string: |\n        expect:\n"
    put("talks-of-expect.yaml", body)
    put("talks.yaml", "title: |\n  interactions:\n" + SCENARIO.format("a"))
    assert {subject.path: subject.kind for subject in select_subjects([Path()])} == {
        "late.yaml": "cassette",
        "talks-of-expect.yaml": "cassette",
        "talks.yaml": "scenario",
    }


def test_the_head_of_a_file_says_whether_its_scenario_is_own() -> None:
    subjects = select_subjects(())
    loaded = (load_scenario(Path(each.path), Path(each.roots[0])) for each in subjects)
    own = [is_own(each.evidence) for each in loaded]
    assert [each.is_own for each in subjects] == own
    assert 0 < sum(own) < len(own)
