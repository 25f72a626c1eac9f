"""`harness fuzz`: what it prints, keeps and leaves with."""

import errno
import json
from pathlib import Path

import pytest

from harness import shipped
from harness.cli import fuzz as fuzz_module
from tests.cli.conftest import Harness

MISTRAL = str(shipped.bundled_folder("scenarios") / "mistral")
FINISH = str(shipped.bundled_folder("scenarios") / "finish")
# The client `naive` reads these unchanged streams, so that only mutations find its faults.
PLAIN = str(shipped.bundled_folder("scenarios") / "calls" / "as-documented.yaml")
FEW = ("--examples", "30", "--seed", "1", "-j", "1")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_fuzz_exits_with_0_without_findings(harness: Harness) -> None:
    left = harness("fuzz", MISTRAL, "-n", "reference", "--clean", *FEW)
    assert (left.code, left.out) == (0, "")
    assert "reference: 0 findings, 0 causes in 30 inputs" in left.err
    assert "seed 1" in left.err


def test_fuzz_prints_findings_with_a_replay_command(harness: Harness) -> None:
    left = harness("fuzz", PLAIN, "-n", "naive", *FEW)
    assert left.code == 1
    command = next(line for line in left.out.splitlines() if "harness replay" in line).split()
    again = harness(*command[1:])
    assert again.code == 1
    assert "MUST" in again.out


def test_saved_findings_fail_in_harness_run(harness: Harness, tmp_path: Path) -> None:
    left = harness(
        "fuzz", FINISH, "-n", "naive", "--save", "kept", "--no-database", "--format", "json", *FEW
    )
    found = json.loads(left.out)
    assert {"rule", "blame", "path", "expected", "actual", "command"} <= found[0].keys()
    assert not (tmp_path / fuzz_module.DATABASE).exists()
    run = harness("run", "kept", "-n", "naive", "--no-report", "--format", "jsonl")
    assert run.code == 1
    assert len(run.out.splitlines()) == sum(each["level"] == "MUST" for each in found)


def test_findings_are_printed_with_their_stream_and_realism(harness: Harness) -> None:
    left = harness("fuzz", PLAIN, "-n", "naive", "--no-database", *FEW)
    assert "    realism  a server did this" in left.out
    assert "    stream   data: {" in left.out
    assert "    cause    " in left.out


def test_failures_of_unchanged_streams_are_one_line(harness: Harness) -> None:
    left = harness("fuzz", FINISH, "-n", "naive", "--no-database", *FEW)
    assert left.code == 1
    assert "naive: 4 findings on unchanged scenarios and recordings; `harness run` shows them" in (
        left.out.splitlines()
    )


def test_save_level_adds_findings_of_should_rules(harness: Harness) -> None:
    options = ("-n", "raw-finish-lost", "--no-database", "--format", "json", *FEW)
    left = harness("fuzz", FINISH, "--save", "kept", "--save-level", "SHOULD", *options)
    found = json.loads(left.out)
    assert {each["level"] for each in found} >= {"SHOULD"}
    run = harness("run", "kept", "-n", "raw-finish-lost", "--no-report", "--format", "jsonl")
    assert len(run.out.splitlines()) == len(found)


def test_finding_command_repeats_the_search_when_nothing_is_saved(harness: Harness) -> None:
    options = ("-n", "naive", "--no-database", "--format", "jsonl", *FEW)
    left = harness("fuzz", FINISH, *options)
    first = json.loads(left.out.splitlines()[0])
    again = harness(*first["command"].split()[1:], "--format", "jsonl")
    assert first["id"] in {json.loads(line)["id"] for line in again.out.splitlines()}


def test_fuzz_reports_an_earlier_finding_that_still_fails(harness: Harness) -> None:
    harness("fuzz", FINISH, "-n", "naive", *FEW)
    left = harness("fuzz", MISTRAL, "-n", "naive", "--format", "jsonl", *FEW)
    assert left.code == 1
    assert any(json.loads(line).get("again") for line in left.out.splitlines())


def test_fuzz_generates_conversations_for_agents(harness: Harness) -> None:
    few = ("--examples", "8", "--seed", "1", "-j", "1")
    left = harness("fuzz", "-a", "last-result-lost", *few)
    assert left.code == 1
    assert "HIST-MISSING-RESULT" in left.out


def test_processes_share_a_search(harness: Harness, on: str) -> None:
    few = ("--examples", "3", "--seed", "1", "-j", "2", "--on", on)
    left = harness("fuzz", MISTRAL, "-n", "reference", *few)
    assert left.code == 0
    assert "6 inputs" in left.err


def test_a_search_on_a_cluster_finds_the_same(harness: Harness, cluster: str) -> None:
    options = ("--examples", "15", "--seed", "1", "-j", "2", "--no-database", "--format", "json")
    found = [
        harness("fuzz", FINISH, "-n", "naive", *options, "--on", where)
        for where in ("local", cluster)
    ]
    assert found[0].code == 1
    assert found[0] == found[1]


def test_a_client_that_ends_its_process_fails_a_search(
    harness: Harness, tmp_path: Path, on: str
) -> None:
    (tmp_path / "ends_in_search.py").write_text(
        "import os\ndef normalize(interaction, reads):\n    os._exit(0)\n"
    )
    left = harness("fuzz", FINISH, "-n", "ends_in_search:normalize", *FEW, "--on", on)
    assert left.code == 1
    assert "the client ended the process that searched, 1 time" in left.err


def test_fuzz_without_a_client_is_a_usage_error(harness: Harness) -> None:
    left = harness("fuzz")
    assert left.code == 2
    assert "Name a normalizer with -n or an agent" in left.err


def test_fuzz_names_the_extra_when_hypothesis_is_missing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_module, "find_spec", lambda _name: None)
    left = harness("fuzz", "-n", "reference")
    assert left.code == 2
    assert "[fuzz]" in left.err


def test_fuzz_rejects_an_unknown_name_before_the_search(harness: Harness) -> None:
    left = harness("fuzz", FINISH, "-n", "naiv", "--no-database", *FEW)
    assert left.code == 2
    assert "unknown normalizer 'naiv'" in left.err


def test_a_read_only_folder_is_named_before_the_search(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("")
    left = harness("fuzz", MISTRAL, "-n", "reference", "--save", "file/kept", *FEW)
    assert (left.code, "file/kept: cannot write" in left.err) == (2, True)
    assert "Choose another folder with --save." in left.err

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("harness.cli.run_files.TemporaryFile", refuse)
    left = harness("fuzz", MISTRAL, "-n", "reference", *FEW)
    assert left.code == 2
    assert ".harness-fuzz: cannot write the file: Read-only file system" in left.err
    assert "pass --no-database" in left.err
    assert harness("fuzz", MISTRAL, "-n", "reference", "--no-database", *FEW).code == 0


def test_a_broken_seed_costs_itself_only(harness: Harness) -> None:
    Path("bad.yaml").write_text("interactions: 5\n")
    left = harness("fuzz", FINISH, "bad.yaml", "-n", "reference", *FEW)
    assert left.code == 2
    assert "error: bad.yaml: interactions: expected a list" in left.err
    assert "findings, 0 causes in 30 inputs" in left.err
    assert harness("fuzz", "bad.yaml", "-n", "reference", *FEW).code == 2
