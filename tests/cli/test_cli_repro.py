"""`harness repro`: the scripts of a run, or of all runs of peers."""

from functools import cache
from pathlib import Path

import msgspec
import pytest

from harness.cli.replay import find_cell
from harness.judging.judge import judge_subject
from harness.normalizers.discovery import load_normalizer
from harness.peers.record import PeerRecord, write_record
from harness.results.result import Result
from harness.results.run import SCHEMA, Header, NormalizerFacts, Selection
from harness.results.store import RunWriter
from harness.runs.load import load_subject
from tests.cli.conftest import Harness

# Of `naive`: the first cell passes, the others fail.
CELLS = ("calls/first-has-all", "arguments/chinese-prose")


@cache
def results_of_naive() -> list[Result]:
    subjects = [find_cell(f"{cell}/naive", ())[0] for cell in CELLS]
    naive = load_normalizer("naive")
    return [judge_subject(load_subject(it), naive)[0] for it in subjects]


def results_of(name: str) -> list[Result]:
    """Return the results of a client that reads each cell as `naive` does."""
    return [
        msgspec.structs.replace(it, normalizer=name, cell=it.cell.replace("/naive", f"/{name}"))
        for it in results_of_naive()
    ]


def write_run(path: Path, name: str) -> list[Result]:
    results = results_of(name)
    header = Header(SCHEMA, "0.1.0", (NormalizerFacts(name),), Selection(), (), 1)
    with RunWriter(path) as writer:
        writer.header(header)
        for each in results:
            writer.add(each, None)
        writer.finish()
    return [each for each in results if each.outcome.fails]


@pytest.mark.parametrize(("name", "suffix"), [("openai-sdk", ".py"), ("openai-node", ".mjs")])
def test_each_cause_in_a_run_has_a_script(
    harness: Harness, tmp_path: Path, name: str, suffix: str
) -> None:
    causes = {result.cause for result in write_run(tmp_path / "run.jsonl", name)}
    assert causes
    output = tmp_path / "scripts"
    left = harness("repro", "--all", str(output), "--run", str(tmp_path / "run.jsonl"))
    assert (left.code, len(left.out.splitlines())) == (0, len(causes))
    assert len(list(output.glob(f"{name}-*{suffix}"))) == len(causes)


def test_a_client_without_a_template_is_named(harness: Harness, tmp_path: Path) -> None:
    failing = write_run(tmp_path / "run.jsonl", "mine")
    output = tmp_path / "scripts"
    left = harness("repro", "--all", str(output), "--run", str(tmp_path / "run.jsonl"))
    assert (left.code, list(tmp_path.glob("scripts/*"))) == (0, [])
    assert f"no script: mine: no template, {len(failing)} failing cells" in left.err


def test_the_results_of_peers_are_a_source(harness: Harness, tmp_path: Path) -> None:
    for name, language in (("openai-sdk", "python"), ("openai-node", "javascript")):
        folder = tmp_path / "peers" / name
        folder.mkdir(parents=True)
        write_run(folder / "run.jsonl", name)
        record = PeerRecord(name, language, "openai", "1", "0.1.0", "2026-11-23")  # type: ignore[arg-type]
        write_record(record, folder)
    output = tmp_path / "scripts"
    options = ("--run", str(tmp_path / "peers"), "--check", "--folder", str(tmp_path / "none"))
    left = harness("repro", "--all", str(output), *options)
    assert {path.suffix for path in output.glob("*.*")} - {""} == {".py", ".mjs"}
    # Neither library is installed there, so that no script shows a failure.
    assert left.code == 1
    assert "NOT RUN" in left.out
    assert "the environment of openai-node is not installed" in left.err


@pytest.mark.parametrize(
    ("of_control", "code", "printed"),
    [("exit 0", 0, ""), ("echo 'WRONG  calls'; exit 1", 1, "CONTROL  calls/first-has-all/")],
)
def test_a_script_of_a_passing_cell_must_pass(
    harness: Harness, tmp_path: Path, of_control: str, code: int, printed: str
) -> None:
    """Else the driver is wrong, so that scripts which fail prove nothing."""
    write_run(tmp_path / "run.jsonl", "openai-sdk")
    environment = tmp_path / "environments" / "openai-sdk"
    (environment / "bin").mkdir(parents=True)
    (environment / "installed.lock").write_bytes(b"")
    python = environment / "bin" / "python"
    shows = "case $2 in */scripts/*) echo 'WRONG  calls'; exit 1;; esac"
    python.write_text(f"#!/bin/sh\n{shows}\n{of_control}\n", encoding="utf-8")
    python.chmod(0o755)
    options = ("--run", str(tmp_path / "run.jsonl"), "--folder", str(tmp_path / "environments"))
    left = harness("repro", "--all", str(tmp_path / "scripts"), *options, "--check")
    assert left.code == code
    assert "fails" in left.out
    assert printed in left.out
    assert ("CONTROL" in left.out) == bool(printed)
    assert "1 control" in left.err


def test_a_cell_and_all_exclude_each_other(harness: Harness, tmp_path: Path) -> None:
    assert harness("repro").code == 2
    assert harness("repro", "a/b", "--all", str(tmp_path)).code == 2


def test_the_cell_of_an_agent_has_no_script_and_the_error_names_the_replay(
    harness: Harness,
) -> None:
    cell = "loops/single-call/plain-loop"
    left = harness("repro", cell)
    assert left.code == 2
    assert f"{cell}: a conversation of an agent has no script" in left.err
    assert f"harness replay {cell}" in left.err


def test_the_script_of_an_own_client_is_a_server_with_the_bytes(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from harness.normalizers.discovery import load_normalizer\n"
        "def normalize(interaction, reads):\n"
        "    yield from load_normalizer('naive').normalize(interaction, reads)\n"
    )
    left = harness("repro", "dashscope/split-chunks/mine:normalize")
    assert left.code == 0
    assert 'print("http://127.0.0.1:8045/compatible-mode/v1", flush=True)' in left.out
    assert "curl -sN -d '{}' http://127.0.0.1:8045/compatible-mode/v1/chat/completions" in left.out
    assert "CALL-NAMED at turns[0].calls[0].name" in left.out
    assert "import harness" not in left.out
    code = compile(left.out, "script.py", "exec").co_consts
    assert any(b"call_9f2c" in each for each in code if isinstance(each, bytes))
