"""The store: what was added is read back, equal runs are equal bytes, damage is named."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.run_files import find_run
from harness.conversation.agent import Agent
from harness.conversation.task import Task
from harness.errors import UnreadableError, UsageError
from harness.files import write as write_module
from harness.files.write import partial_path
from harness.normalizers.protocol import Normalizer
from harness.results.case import Case
from harness.results.conversation import Conversation
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import SCHEMA, Footer
from harness.results.store import RunWriter, read_run
from harness.runs.declared import facts_of, facts_of_agent
from tests.files.test_files_write import full_at
from tests.runs.runs_samples import a_case, a_finding, a_header, a_result, a_turn

_SCHEMA = b'"schema":%d'
NAMES = ("b", "a/x", "a", "ü", "a x")


def write(path: Path, results: list[Result], cases: dict[str, Case] | None = None) -> Footer:
    with RunWriter(path) as writer:
        writer.header(a_header())
        for result in results:
            writer.add(result, (cases or {}).get(result.cell))
        return writer.finish()


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@given(order=st.permutations(NAMES))
def test_run_file_is_sorted_and_reproducible(
    tmp_path_factory: pytest.TempPathFactory, order: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    cases = {f"{name}/reference": a_case(f"{name}/reference") for name in NAMES[:2]}
    write(folder / "run.jsonl", [a_result(name) for name in order], cases)
    write(folder / "same.jsonl", [a_result(name) for name in NAMES], cases)
    assert (folder / "run.jsonl").read_bytes() == (folder / "same.jsonl").read_bytes()
    run = read_run(folder / "run.jsonl")
    assert run.results == tuple(
        sorted((a_result(name) for name in NAMES), key=lambda result: result.cell)
    )
    assert run.cases == cases
    assert run.header == a_header()
    assert run.footer == Footer(len(NAMES), 3 * len(NAMES))
    assert run.complete
    assert {path.name for path in folder.iterdir()} == {"run.jsonl", "same.jsonl"}


def test_interrupted_run_stores_its_progress(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    with RunWriter(path) as writer:
        writer.header(a_header())
        writer.add(a_result())
        writer.finish(interrupted=True, not_run=7)
    run = read_run(path)
    assert run.footer == Footer(1, 3, interrupted=True, not_run=7)
    assert not run.complete


def test_older_run_stays_until_a_new_one_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write(path, [a_result("old")])
    before = path.read_bytes()
    write(path, [])
    assert path.read_bytes() == before
    with RunWriter(path) as writer:
        writer.header(a_header())
        writer.add(a_result("new"))
        assert path.read_bytes() == before
        writer.finish()
    assert [result.scenario for result in read_run(path).results] == ["new"]


def test_empty_run_is_written_if_there_is_none(tmp_path: Path) -> None:
    write(tmp_path / "run.jsonl", [])
    assert read_run(tmp_path / "run.jsonl").results == ()


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.runs.runs_samples import a_case, a_header, a_result
from harness.results.store import RunWriter
with RunWriter(Path(sys.argv[1])) as writer:
    writer.header(a_header())
    writer.add(a_result("b"), a_case("b/reference"))
    writer.add(a_result("a"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_run_keeps_finished_results(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    died = subprocess.run([sys.executable, "-c", KILLED, path], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    with pytest.raises(UnreadableError, match=r"(?s)no such run.*run.jsonl.partial"):
        read_run(path)
    run = read_run(partial_path(path))
    assert [result.scenario for result in run.results] == ["a", "b"]
    assert list(run.cases) == ["b/reference"]
    assert run.footer is None
    assert not run.complete
    assert run.torn_lines == 0


def test_full_disk_names_the_file_with_the_results_so_far(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path) as writer:
        writer.header(a_header())
        writer.add(a_result("a"))
        size = partial_path(path).stat().st_size
        said = r"(?s)File too large.*partial has the 1 result so far: `harness report`"
        with full_at(size + 100), pytest.raises(UsageError, match=said):
            writer.add(a_result("b"))
        with full_at(size), pytest.raises(UsageError, match=said):
            writer.finish()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run.jsonl.partial"]
    assert [result.scenario for result in read_run(partial_path(path)).results] == ["a"]
    with full_at(10), pytest.raises(UsageError, match="cannot write the run: File too large"):
        RunWriter(tmp_path / "other" / "run.jsonl").header(a_header())
    assert not list((tmp_path / "other").iterdir())


@pytest.fixture(params=["flock", "no flock"])
def _each_lock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "flock":
        pytest.importorskip("fcntl")
    else:
        monkeypatch.setattr(write_module, "fcntl", None)


@pytest.mark.usefixtures("_each_lock")
def test_killed_run_does_not_block_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path) as killed:
        killed.header(a_header())
        killed.add(a_result("old"))
    write(path, [a_result("new"), a_result("also")])
    assert [result.scenario for result in read_run(path).results] == ["also", "new"]
    assert [found.name for found in tmp_path.iterdir()] == ["run.jsonl"]


def test_second_run_in_one_folder_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "run.jsonl"
    with RunWriter(path) as first:
        first.header(a_header())
        first.add(a_result("a"))
        with (
            pytest.raises(UsageError, match=r"run\.jsonl: another run .*\n  Wait"),
            RunWriter(path) as second,
        ):
            second.header(a_header())
        first.add(a_result("b"))
        first.finish()
    assert [result.scenario for result in read_run(path).results] == ["a", "b"]
    write(path, [a_result("c")])
    assert [result.scenario for result in read_run(path).results] == ["c"]


@pytest.mark.parametrize("still", [True, False])
def test_locked_partial_file_without_flock_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, still: bool
) -> None:
    path = tmp_path / "run.jsonl"
    if still:
        partial_path(path).touch()

    def refuse(_path: Path, _to: Path) -> None:
        raise PermissionError(13, "in use")

    monkeypatch.setattr(write_module, "fcntl", None)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UsageError, match="another run" if still else "cannot write"):
        RunWriter(path).header(a_header())


def test_removed_partial_file_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    path, flock = tmp_path / "run.jsonl", fcntl.flock
    calls: list[int] = []

    def late(descriptor: int, flags: int) -> None:
        if not calls:
            partial_path(path).unlink()
        calls.append(flags)
        flock(descriptor, flags)

    monkeypatch.setattr(fcntl, "flock", late)
    write(path, [a_result("a")])
    assert len(calls) == 2
    assert [result.scenario for result in read_run(path).results] == ["a"]


@given(cut=st.integers(1, 400))
def test_truncated_last_line_is_counted(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    write(path, [a_result("a"), a_result("b")])
    lines = lines_of(path)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:cut])
    run = read_run(path)
    assert [result.scenario for result in run.results] == ["a"]
    assert (run.footer, run.torn_lines) == (None, 1)


def test_lone_surrogates_do_not_stop_a_run(tmp_path: Path) -> None:
    turn = msgspec.structs.replace(a_turn(), why="half \ud83d, pair \ud83d\ude00")
    write(tmp_path / "run.jsonl", [a_result(turns=(turn,))])
    (result,) = read_run(tmp_path / "run.jsonl").results
    assert result.turns[0].why == "half \ufffd, pair \U0001f600"


def test_a_run_of_schema_1_gets_causes_from_its_rules(tmp_path: Path) -> None:
    found = a_finding("TEXT-EXACT", Outcome.MISMATCH)
    failing = a_result("folder/a", outcome=Outcome.MISMATCH, findings=(found,))
    older = [msgspec.structs.replace(failing, cause=""), a_result("folder/b")]
    write(tmp_path / "run.jsonl", older)
    assert failing.cause
    assert [each.cause for each in read_run(tmp_path / "run.jsonl").results] == [failing.cause, ""]


DAMAGE: dict[str, tuple[Callable[[list[bytes]], bytes], str]] = {
    "empty": (lambda _: b"", "the first line is not a header"),
    "foreign": (lambda _: b"hello\n", "the first line is not a header"),
    "binary": (lambda _: b"\x00\xff\xfe\n", "the first line is not a header"),
    "other JSON": (lambda _: b'{"type": "result"}\n', "the first line is not a header"),
    "nested": (lambda _: b"[" * 200_000 + b"\n", "the first line is not a header"),
    "torn header": (lambda lines: lines[0][:-1], "the first line is truncated"),
    "no fields": (lambda _: b'{"type":"header","schema":1}\n', "damaged line"),
    "newer": (
        lambda lines: lines[0].replace(_SCHEMA % SCHEMA, _SCHEMA % (SCHEMA + 1)) + lines[1],
        f"schema {SCHEMA + 1}, this one reads {SCHEMA}",
    ),
    "damaged middle": (
        lambda lines: lines[0] + lines[1][:50] + b"\n" + b"".join(lines[2:]),
        r"run\.jsonl:2: damaged line",
    ),
    "bad utf-8": (
        lambda lines: lines[0] + lines[1].replace(b"title", b"\xff") + lines[2],
        r"run\.jsonl:2: damaged line",
    ),
    "unknown row": (lambda lines: lines[0] + b'{"type": "other"}\n', "damaged line"),
    "missing result": (lambda lines: lines[0] + lines[1] + lines[-1], "counts 2 results, found 1"),
    "same twice": (lambda lines: b"".join(lines[:2]) + lines[1], "in the file twice"),
    "two headers": (lambda lines: lines[0] + lines[0], "a second header"),
    "more": (lambda lines: b"".join(lines) + lines[1], "a line after the footer"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_run_file_is_an_error_with_its_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "run.jsonl"
    write(path, [a_result("a"), a_result("b")])
    change, message = DAMAGE[damage]
    path.write_bytes(change(lines_of(path)))
    with pytest.raises(UnreadableError, match=message):
        read_run(path)


def test_missing_run_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"(?s)no such run.*harness run"):
        read_run(tmp_path / "run.jsonl")
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_run(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_and_a_link_that_leads_nowhere_are_no_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.jsonl")
    with pytest.raises(UnreadableError, match="expected a regular file"):
        read_run(find_run(tmp_path))
    (tmp_path / "run.jsonl").unlink()
    (tmp_path / "run.jsonl").symlink_to("nowhere")
    with pytest.raises(UnreadableError, match="leads nowhere"):
        read_run(find_run(tmp_path))


def test_unwritable_run_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write the run"):
        RunWriter(tmp_path / "file" / "run.jsonl").header(a_header())


def test_header_must_come_first(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="header"):
        RunWriter(tmp_path / "run.jsonl").add(a_result())


def test_declaration_is_sorted() -> None:
    normalizer = Normalizer("x", lambda _, __: iter(()), frozenset({"b", "a"}), policies={"z": "1"})
    facts = facts_of(normalizer)
    assert facts.dialects == ("a", "b")
    assert facts.policies == {"z": "1"}


def test_a_declaration_contains_what_a_client_does_not_expose() -> None:
    def converse(_: Task) -> Conversation:
        raise AssertionError

    normalizer = Normalizer("x", lambda _, __: iter(()), frozenset(), hides=frozenset({"ids"}))
    agent = Agent("y", converse, hides=frozenset({"parse_errors", "finish"}))
    assert facts_of(normalizer).hides == ("ids",)
    assert facts_of_agent(agent).hides == ("finish", "parse_errors")


@pytest.mark.parametrize(
    ("names", "lead"),
    [(("naive", "reference"), "reference"), (("b", "a"), "b")],
)
def test_lead_is_reference_or_the_first_normalizer(names: tuple[str, ...], lead: str) -> None:
    assert a_header(*names).lead == lead
