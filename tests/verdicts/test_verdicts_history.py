"""The history: what is kept of a run, what is removed, and which runs a report compares with."""

import gzip
from pathlib import Path

import msgspec
import pytest

from harness.errors import UnreadableError
from harness.results.run import Run, Selection
from harness.results.store import read_run
from harness.verdicts.history import (
    MOST_COMPARED,
    KeptRun,
    RunAbout,
    find_kept,
    history_of,
    keep_run,
    kept_runs,
    kept_selection,
)
from tests.runs.runs_samples import a_case, a_result, a_run

RUN = msgspec.structs.replace(a_run([a_result()]), cases={"area/one/reference": a_case("x")})


def an_about(minute: int = 0, run: Run = RUN, **other: str) -> RunAbout:
    return msgspec.structs.replace(
        RunAbout(
            at=f"2026-11-26T19:{minute:02}:00Z",
            seconds=1.5,
            results=len(run.results),
            selection=kept_selection(run.header.selection),
            names=run.header.names,
        ),
        **other,
    )


def test_kept_run_has_its_results_and_no_cases(tmp_path: Path) -> None:
    keep_run(RUN, an_about(commit="0123456789", branch="main"), tmp_path, 5)
    (kept,) = kept_runs(tmp_path)
    assert kept.about == an_about(commit="0123456789", branch="main")
    assert kept.about.label == "2026-11-26 19:00:00 0123456"
    found = read_run(kept.path)
    assert (found.results, found.header, found.footer) == (RUN.results, RUN.header, RUN.footer)
    assert found.cases == {}


def test_oldest_runs_over_the_limit_are_removed_and_files_of_others_stay(tmp_path: Path) -> None:
    keep_run(RUN, an_about(0), tmp_path, 2)
    (tmp_path / "20261126T190000" / "note.txt").write_text("mine")
    for minute in (1, 2, 3):
        keep_run(RUN, an_about(minute), tmp_path, 2)
    assert [each.about.at[14:16] for each in kept_runs(tmp_path)] == ["02", "03"]
    assert (tmp_path / "20261126T190000" / "note.txt").exists()
    assert not (tmp_path / "20261126T190100").exists()


def test_two_runs_of_one_second_are_both_kept_in_order(tmp_path: Path) -> None:
    for digest in "abc":
        keep_run(RUN, an_about(digest=digest), tmp_path, 9)
    assert [each.about.digest for each in kept_runs(tmp_path)] == ["a", "b", "c"]


def test_damaged_history_is_left_out(tmp_path: Path) -> None:
    for minute in range(3):
        keep_run(RUN, an_about(minute), tmp_path, 9)
    first, second, _ = kept_runs(tmp_path)
    first.path.with_name("about.json").write_text("{")
    second.path.unlink()
    assert [each.about.at[14:16] for each in kept_runs(tmp_path)] == ["02"]
    assert kept_runs(tmp_path / "none") == ()


@pytest.mark.parametrize("data", [b"plain", gzip.compress(b"x" * 99, mtime=0)[:-9], b""])
def test_damaged_gzip_file_is_unreadable(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(UnreadableError):
        read_run(path)


def _kept(*abouts: RunAbout) -> tuple[KeptRun, ...]:
    return tuple(KeptRun(Path(each.at), each) for each in abouts)


def test_run_is_compared_with_those_before_it_with_its_selection_and_a_client() -> None:
    other = kept_selection(Selection(("elsewhere",)))
    kept = _kept(
        an_about(0),
        msgspec.structs.replace(an_about(1), selection=other),
        msgspec.structs.replace(an_about(2), names=("naive",)),
        an_about(3, digest="this"),
        an_about(4),
    )
    found = history_of(RUN, "this", kept)
    assert found.about == kept[3].about
    assert found.earlier == kept[:1]
    assert history_of(RUN, "unknown", kept) == type(found)(None, (kept[0], kept[3], kept[4]))


def test_equal_runs_are_different_entries() -> None:
    kept = _kept(an_about(0, digest="same"), an_about(1), an_about(2, digest="same"))
    assert history_of(RUN, "same", kept).earlier == kept[:2]


def test_newest_runs_are_compared_until_they_are_many() -> None:
    kept = _kept(*(an_about(minute) for minute in range(40)))
    assert history_of(RUN, "x", kept).compared == kept[-MOST_COMPARED:]
    large = [msgspec.structs.replace(each.about, results=150_000) for each in kept]
    assert history_of(RUN, "x", _kept(*large)).compared == _kept(*large)[-1:]


def test_branch_or_commit_names_its_newest_run() -> None:
    kept = _kept(
        an_about(0, branch="main", commit="abc1"),
        an_about(1, branch="main", commit="abc2"),
        an_about(2, branch="topic", commit="def3"),
    )
    assert [find_kept(name, kept) for name in ("main", "abc1", "def", "x", "")] == [
        *(kept[1], kept[0], kept[2]),
        *(None, None),
    ]
