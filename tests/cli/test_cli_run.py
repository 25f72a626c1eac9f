"""`harness run`: what it prints, writes and leaves with."""

import gzip
import io
import json
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import shipped
from harness.cli.run_progress import progress
from harness.cli.run_selection import asks_about_models
from harness.files.write import partial_path
from harness.judging.scenario_file import find_scenarios
from harness.normalizers.discovery import default_normalizer_names
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.results.scenario_evidence import ScenarioEvidence
from harness.results.store import read_run
from harness.runs import execute as execute_module
from harness.runs.request import SelectedClients, requested_cells
from harness.verdicts.gate import Gate
from harness.verdicts.query_rows import BlameSplit
from harness.verdicts.rankings import Rankings
from harness.wire import cassette_file
from harness.wire.cassette import Cassette, Origin
from harness.wire.cassette_file import save_cassette
from harness.wire.interaction import Request
from harness.wire.reads import synthetic_interaction
from tests.cli.cli_samples import Left, command
from tests.cli.cli_samples import harness as harness_process
from tests.cli.conftest import Harness
from tests.runs.runs_samples import a_result

DASHSCOPE = str(shipped.bundled_folder("scenarios") / "dashscope")
# It grows with each scenario that is added there.
COUNT = len(find_scenarios([Path(DASHSCOPE)]))
TOOLS = str(shipped.bundled_folder("scenarios") / "tools")
REFERENCE = ("-n", "reference")
NAIVE = ("-n", "naive")
QUICK = ("--cuts", "quick")
OUTCOMES = {
    "silent_wrong",
    "lost_call",
    "crash",
    "hang",
    "leak",
    "mismatch",
    "parse_error",
    "pass",
    "unsupported",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _imported() -> str:
    """Put a cassette into ./own that counts as somebody's recording; return its folder."""
    found = cassette_file.load_cassette(
        shipped.bundled_folder("cassettes") / "dashscope/qwen-plus/split-chunks.yaml",
        shipped.bundled_folder("cassettes"),
    )
    own = msgspec.structs.replace(found, id="split", origin=Origin("imported", by="a test"))
    Path("own").mkdir()
    cassette_file.save_cassette(own, Path("own/split.yaml"))
    return "own"


# Exit codes


def test_run_exits_with_0_when_all_conform(harness: Harness) -> None:
    left = harness("run", DASHSCOPE, *QUICK)
    assert left.code == 0
    assert f"gate pass: {len(default_normalizer_names()) * COUNT} cells conform" in left.err
    assert "report: reports/index.html" in left.err


def test_run_exits_with_1_and_prints_a_replay_command_when_a_normalizer_fails(
    harness: Harness,
) -> None:
    left = harness("run", DASHSCOPE, *NAIVE, *QUICK, "--no-report")
    assert left.code == 1
    # One scenario needs a capability that `naive` does not declare.
    assert f" of {COUNT - 1} cells do not conform" in left.err
    assert "harness replay dashscope/" in left.err


def test_run_exits_with_2_when_a_file_is_unusable(harness: Harness) -> None:
    Path("broken.yaml").write_text("interactions: 5\n")
    left = harness("run", "broken.yaml")
    assert (left.code, left.out) == (2, "")
    assert left.err.startswith("error: ")
    assert "broken.yaml" in left.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_broken_file_costs_itself_only(harness: Harness, jobs: str) -> None:
    good = Path(shipped.bundled_folder("cassettes"), "dashscope/qwen-plus/split-chunks.yaml")
    text = good.read_text(encoding="utf-8")
    Path("own").mkdir()
    Path("own/good.yaml").write_text(text)
    Path("own/bad.yaml").write_text("interactions: 5\n")
    Path("own/cut.yaml").write_text("interactions: [\n")
    Path("own/mark.yaml").write_text("\ufeff" + text, encoding="utf-8")
    Path("own/word.yaml").write_text(text.replace("dialect: openai-chat", "dialect: opnai-chat"))
    Path("own/log.jsonl").write_text('{"role": "user"\n')
    left = harness("run", "own", "own/log.jsonl", *REFERENCE, "-a", "plain-loop", "-j", jobs)
    assert left.code == 2
    errors = [line for line in left.err.splitlines() if line.startswith("error: ")]
    named = [line.split()[1].partition(".")[0] for line in errors]
    assert named == ["own/bad", "own/cut", "own/log", "own/mark", "own/word"]
    assert "byte order mark" in errors[3]
    assert "unknown dialect 'opnai-chat'" in errors[4]
    assert "did you mean 'openai-chat'?" in left.err
    run = read_run(Path("reports/run.jsonl"))
    assert "cassette:good/reference" in {result.cell for result in run.results}
    assert not run.complete
    assert run.footer is not None
    assert run.footer.unreadable
    assert len(run.footer.unreadable) == 5
    judged = harness("gate", "reports")
    assert judged.code == 1
    assert "gate fail: a file cannot be used: own/bad.yaml" in judged.err
    assert ". did you mean 'openai-chat'?" in judged.err


def test_run_exits_with_2_when_the_output_is_unwritable(harness: Harness) -> None:
    Path("file").write_text("")
    left = harness("run", DASHSCOPE, *QUICK, "-o", "file/reports")
    assert left.code == 2
    assert "cannot write the file" in left.err


def test_run_exits_with_5_or_2_and_names_filters_and_unusable_files(harness: Harness) -> None:
    assert "nothing matches 'id:zzz'" in harness("run", DASHSCOPE, "--select", "id:zzz").err
    left = harness("run", DASHSCOPE, "--select", "dialect:openai")
    assert "Choose one of these dialects: " in left.err
    assert "Choose" not in harness("run", DASHSCOPE, "--select", "dialect:gemini*").err
    Path("own").mkdir()
    Path("own/x.yaml").write_text("title: [half a scenario\n")
    left = harness("run", "own")
    assert left.code == 2
    assert "own/x.yaml: expected a scenario" in left.err


@pytest.mark.parametrize("path", [".", TOOLS])
def test_run_exits_with_5_when_nothing_is_selected(harness: Harness, path: str) -> None:
    left = harness("run", path)
    assert (left.code, left.out) == (5, "")
    assert "nothing selected" in left.err
    assert not Path("reports").exists()


def test_run_states_its_requirement_set(harness: Harness) -> None:
    left = harness("run", "--set", "2026.12", "--select", "id:dashscope/split-chunks", *REFERENCE)
    assert left.code == 0
    header = read_run(Path("reports/run.jsonl")).header
    assert header.selection.requirement_set == "2026.12"
    assert header.command[-2:] == ("--set", "2026.12")
    assert "requirement set: 2026.12" in Path("reports/index.html").read_text()


def test_run_refuses_an_unknown_requirement_set(harness: Harness) -> None:
    left = harness("run", "--set", "2026.13")
    assert left.code == 2
    assert "did you mean '2026.12'?" in left.err


def test_run_names_the_streams_that_no_server_sends(harness: Harness, folder: Path) -> None:
    text = Path(DASHSCOPE, "split-chunks.yaml").read_text(encoding="utf-8")
    own = re.sub(r"(?m)^evidence: .*$", "evidence: {own: the split}", text)
    (folder / "own.yaml").write_text(own)
    shutil.copytree(TOOLS, folder / "tools")
    (folder / "theirs.py").write_text("def normalize(interaction, reads): return iter(())\n")
    ours = ("run", "own.yaml", "-n", "theirs:normalize", "-o", "out")
    none = harness(*ours)
    assert none.code == 5
    assert "left out: 1 cell of third-party clients" in none.err
    assert "--evidence own" in none.err
    both = harness(*ours, str(Path(DASHSCOPE, "split-chunks.yaml")))
    assert "theirs:normalize: 1 of 1 cell does not conform (1 lost_call), 1 left out" in both.out
    assert read_run(Path("out/run.jsonl")).header.selection.left_out == ("own/theirs:normalize",)
    asked = harness(*ours, "--evidence", "own")
    assert asked.code == 0, asked.err
    (result,) = read_run(Path("out/run.jsonl")).results
    assert {each.level for each in result.reported} == {"SHOULD"}
    assert result.evidence == ScenarioEvidence("own", "the split")


def test_run_exits_with_5_when_nothing_is_judged(harness: Harness) -> None:
    Path("own.py").write_text(
        "from harness.normalizers.protocol import Normalizer\n"
        "from harness.normalizers.respond import respond as normalize\n"
        "mine = Normalizer('mine', normalize, dialects=frozenset())\n"
    )
    left = harness("run", DASHSCOPE, "-n", "own:mine", *QUICK)
    assert left.code == 5
    assert "gate nothing: no cell was judged" in left.err


def test_a_run_of_agents_without_a_conversation_says_how_to_judge_the_turns(
    harness: Harness,
) -> None:
    left = harness("run", _imported(), "-a", "gateway", *QUICK)
    assert left.code == 5
    assert "nothing selected: no conversation that agents can replay in 1 recording" in left.err
    assert "add a normalizer, such as -n reference" in left.err


# What machines read


RANKED = {"name", "k", "n", "low", "high", "parse_error"}


def test_run_json_has_the_documented_keys(harness: Harness) -> None:
    options = (*REFERENCE, *NAIVE, *QUICK, "--no-report", "--format", "json")
    left = harness("run", _imported(), DASHSCOPE, *options)
    found = left.json
    keys = {"scenarios", "replays", "outcomes", "rankings", "gate", "judged", "causes", "cells"}
    assert set(found) == keys
    counts = Counter((cell["normalizer"], cell["outcome"]) for cell in found["cells"])
    of_each = found["outcomes"].items()
    assert counts == {(name, how): n for name, each in of_each for how, n in each.items()}
    failed = {cell["cell"]: cell for cell in found["cells"] if cell["cause"]}
    worst = found["causes"][0]
    assert failed[worst["cell"]]["outcome"] == worst["outcome"]
    assert all(cell["title"] for cell in found["cells"])
    assert found["scenarios"] == COUNT + 1
    assert found["replays"] > 20
    assert set(found["outcomes"]) == {"naive", "reference"}
    for counts in found["outcomes"].values():
        assert counts.keys() <= OUTCOMES
        assert sum(counts.values()) == COUNT + 1
    assert set(found["rankings"]) == set(Rankings.__struct_fields__)
    for name in ("models", "prompts", "pairs", "normalizers"):
        rows = found["rankings"][name]
        assert rows
        for row in rows:
            assert row.keys() >= RANKED
            assert set(row["parse_error"]) == set(BlameSplit.__struct_fields__)
            assert 0 <= row["low"] <= row["k"] / row["n"] <= row["high"] <= 1
    assert found["causes"]
    for cause in found["causes"]:
        assert set(cause) == {"normalizer", "cause", "outcome", "cells", "cell", "evidence"}
        assert cause["outcome"] in found["outcomes"][cause["normalizer"]]
    assert set(found["gate"]) == set(Gate.__struct_fields__)
    assert (found["gate"]["verdict"], left.code) == ("fail", 1)


def test_models_are_ranked_by_recorded_turns_only(harness: Harness) -> None:
    options = (*REFERENCE, *QUICK, "--no-report", "--format", "json")
    found = harness("run", DASHSCOPE, *options).json
    assert (found["rankings"]["models"], found["rankings"]["prompts"]) == ([], [])
    own = harness("run", _imported(), *options).json
    assert [(row["name"], row["n"]) for row in own["rankings"]["models"]] == [("qwen-plus", 1)]


def test_jsonl_is_a_result_a_line(harness: Harness) -> None:
    left = harness("run", DASHSCOPE, *REFERENCE, *QUICK, "--no-report", "--format", "jsonl")
    rows = [json.loads(line) for line in left.out.splitlines()]
    assert {row["type"] for row in rows} == {"result"}
    assert [row["cell"] for row in rows] == sorted(row["cell"] for row in rows)
    assert len(rows) == COUNT


@pytest.mark.parametrize("style", ["pretty", "markdown"])
def test_run_prints_the_ranking(harness: Harness, style: str) -> None:
    options = ("--rankings", *QUICK, "-j", "1", "--no-report", "--format", style)
    left = harness("run", DASHSCOPE, *options)
    assert "dashscope-restore" in left.out
    assert f"{COUNT}/{COUNT}" in left.out
    assert "do not measure models" in left.out


def test_run_prints_the_worst_failures_and_no_rankings_of_models(harness: Harness) -> None:
    left = harness("run", DASHSCOPE, *NAIVE, *REFERENCE, *QUICK, "--no-report")
    lines = left.out.splitlines()
    assert lines[0].startswith(f"ok    reference: {COUNT} cells conform") or lines[1].startswith(
        f"ok    reference: {COUNT} cells conform"
    )
    assert any(line.startswith("FAIL  naive: ") for line in lines[:2])
    assert "1. dashscope/" in left.out
    assert "  rule      A client must" in left.out
    assert "  see       harness replay dashscope/" in left.out
    assert "Models by turn success" not in left.out
    asked = harness("run", _imported(), *NAIVE, *QUICK, "--no-report")
    assert "Models by turn success" in asked.out


def test_rankings_are_of_use_if_recordings_or_models_are_selected() -> None:
    naive = SelectedClients(("naive",), ())
    recordings = Path(shipped.bundled_folder("cassettes"), "llama-cpp")
    assert not asks_about_models(requested_cells(naive))
    assert not asks_about_models(requested_cells(naive, [Path("bundled")]))
    assert asks_about_models(requested_cells(naive, [recordings]))
    assert asks_about_models(requested_cells(naive, words="id:cassette:*"))


def test_last_failed_runs_only_what_failed(harness: Harness) -> None:
    first = harness("run", DASHSCOPE, *NAIVE, *REFERENCE, *QUICK, "--no-report")
    failed = {it.cell for it in read_run(Path("reports/run.jsonl")).results if it.outcome.fails}
    assert failed
    again = harness("run", "--lf", "--no-report")
    run = read_run(Path("reports/run.jsonl"))
    assert {it.cell for it in run.results} == failed
    assert (first.code, again.code, run.header.selection.cuts) == (1, 1, "quick")
    assert f"--lf: {len(failed)} cells failed in the last run" in again.err
    assert harness(*run.header.command[1:], "--no-report").code == 1
    Path("elsewhere").mkdir()
    none = harness("run", DASHSCOPE, *REFERENCE, *QUICK, "--lf", "-o", "elsewhere", "--no-report")
    assert (none.code, "does not exist, so all cells run" in none.err) == (0, True)
    all_well = harness("run", "--lf", "-o", "elsewhere", "--no-report")
    assert "no selected cell failed" in all_well.err


def test_a_bare_run_says_that_scenarios_of_the_project_did_not_run(harness: Harness) -> None:
    _imported()
    Path("own").rename("cassettes")
    some = ("--select", "id:dashscope/split-chunks", *REFERENCE, *QUICK, "--no-report")
    left = harness("run", *some)
    assert "note: 1 scenario of this project in cassettes did not run" in left.err
    assert 'add `paths = ["bundled", "cassettes"]` to [tool.harness]' in left.err
    Path("pyproject.toml").write_text('[tool.harness]\npaths = ["bundled", "cassettes"]\n')
    both = harness("run", "--select", "id:*split*", *REFERENCE, *QUICK, "--no-report")
    assert "did not run" not in both.err
    cells = {it.cell for it in read_run(Path("reports/run.jsonl")).results}
    assert {"cassette:split/reference", "dashscope/split-chunks/reference"} <= cells


def test_progress_is_a_line_at_times_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter((0, 5, 11, 11, 12, 40)).__next__
    monkeypatch.setattr("harness.cli.run_progress.time.monotonic", clock)
    with progress(1, lambda _: False) as shown:
        for done in (1, 2, 3, 4):
            shown.show(done, 4)
    assert capsys.readouterr().err == "replaying: 2 of 4 cells (50%)\n"


class _AnyTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_the_time_of_a_turn_and_the_first_failure_of_each_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = Outcome.SILENT_WRONG
    wrong = Finding("CALL-NAMED", "MUST", failed, "turns[0]", "get_weather", "\x1b[31m")
    late = msgspec.structs.replace(wrong, rule="FINISH-MEANING")
    results = [
        a_result("a", "mine", outcome=failed, findings=(wrong,)),
        a_result("b", "mine", outcome=failed, findings=(wrong,)),
        a_result("c", "mine", outcome=failed, findings=(late,)),
        a_result("d", "mine"),
    ]
    screen = _AnyTerminal()
    monkeypatch.setattr("sys.stderr", screen)
    # The bar opens at 7 s. The next results, of three turns each, come at 8, 9 and 10 s.
    clock = iter((7.0, 8.0, 9.0, 10.0)).__next__
    monkeypatch.setattr("harness.cli.run_progress.time.monotonic", clock)
    with progress(2, lambda result: result.scenario == "c") as shown:
        shown.show(0, 4)
        for done, result in enumerate(results, 1):
            shown.note(result)
            shown.show(done, 4)
    printed = screen.getvalue()
    assert "replaying 4 cells\n" in printed
    assert printed.count("CALL-NAMED") == 1
    assert "a/mine: CALL-NAMED: expected get_weather, found \\x1B[31m\n" in printed
    assert "FINISH-MEANING" not in printed, "the project accepts this failure"
    assert "left, 667 ms a turn, 2 failing" in printed
    assert "4/4" in printed


# What is written


def _written() -> tuple[bytes, bytes]:
    return Path("reports/run.jsonl").read_bytes(), Path("reports/index.html").read_bytes()


def test_bundled_scenarios_and_recordings_run_in_an_empty_folder(folder: Path) -> None:
    # All of them, through all normalizers, run in .ci/run.
    some = ("--select", "id:cassette:llama-cpp/smollm2*")
    left = harness_process(
        *("run", *REFERENCE, *some, "--cuts", "whole", "-j", "1", "--format", "json"),
        folder=folder,
    )
    assert left.code == 0
    assert left.json["scenarios"] >= 100
    assert left.json["rankings"]["models"], "the recordings are there"
    assert sorted(path.name for path in (folder / "reports").glob("[!.]*")) == [
        "index.html",
        "run.jsonl",
        "runs",
    ]


def test_equal_inputs_give_equal_bytes_serial_and_parallel(harness: Harness) -> None:
    Path("pyproject.toml").write_text("[tool.harness]\nhistory = 0\n")  # which has a clock
    made: list[tuple[bytes, bytes]] = []
    # Another process has another seed of hashes.
    for run, jobs in ((harness, "1"), (harness_process, "1"), (harness, "2")):
        names = (*NAIVE, *REFERENCE, "-n", "usage-crash")
        left = run("run", DASHSCOPE, *names, *QUICK, "-j", jobs)
        assert left.code == 1
        made.append(_written())
    assert made[0] == made[1]
    assert made[0] == made[2]


def test_a_cluster_gives_the_same_bytes(harness: Harness, cluster: str) -> None:
    Path("pyproject.toml").write_text("[tool.harness]\nhistory = 0\n")  # which has a clock
    Path("ends_on_one.py").write_text(
        "import os\n"
        "from harness.normalizers.respond import respond\n"
        "def normalize(interaction, reads):\n"
        "    if b'Oslo' in interaction.request.body:\n"
        "        os._exit(7)\n"
        "    return respond(interaction, reads)\n"
    )
    names = (*NAIVE, *REFERENCE, "-n", "ends_on_one:normalize")
    paths = [f"{DASHSCOPE}/{each}.yaml" for each in ("copied-beside", "split-chunks", "set-memory")]
    made: list[tuple[Left, tuple[bytes, bytes]]] = []
    for options in (("-j", "2"), ("--on", cluster)):
        left = harness("run", *paths, *names, *QUICK, "--format", "json", *options)
        made.append((left, _written()))
    assert made[0][0].code == 1
    assert made[0][0].json["outcomes"]["ends_on_one:normalize"].keys() >= {"crash", "pass"}
    assert made[0] == made[1]


def test_a_scheduler_that_does_not_answer_is_named(harness: Harness) -> None:
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    left = harness("run", DASHSCOPE, *REFERENCE, "--on", "dask://127.0.0.1:9")
    assert left.code == 2
    assert "error: dask://127.0.0.1:9: expected a Dask scheduler, but none answers: " in left.err
    assert "Check host and port" in left.err


def test_no_report_writes_the_run_only(harness: Harness) -> None:
    left = harness("run", DASHSCOPE, *QUICK, "-j", "1", "--no-report", "-o", "out/here")
    assert {path.name for path in Path("out/here").glob("[!.]*")} == {"run.jsonl", "runs"}
    assert "report:" not in left.err


def test_the_header_says_what_makes_the_run_again(harness: Harness) -> None:
    harness("run", DASHSCOPE, *NAIVE, *QUICK)
    header = read_run(Path("reports/run.jsonl")).header
    assert header.command == ("harness", "run", DASHSCOPE, *NAIVE, *QUICK)
    first = Path("reports/run.jsonl").read_bytes()
    harness(*header.command[1:])
    assert Path("reports/run.jsonl").read_bytes() == first


def test_a_name_that_is_given_twice_runs_once(harness: Harness) -> None:
    assert harness("run", DASHSCOPE, *REFERENCE, *REFERENCE, *QUICK, "--no-report").code == 0
    assert len(read_run(Path("reports/run.jsonl")).results) == COUNT


def test_one_normalizer_under_two_names_is_two(harness: Harness) -> None:
    other = "harness.normalizers.reference:normalizer"
    assert harness("run", DASHSCOPE, *REFERENCE, "-n", other, *QUICK, "--no-report").code == 0
    names = {result.normalizer for result in read_run(Path("reports/run.jsonl")).results}
    assert names == {"reference", other}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_normalizer_of_the_working_folder(harness: Harness, jobs: str) -> None:
    module = f"of_the_folder_{jobs}"  # each case has another name, because modules stay imported
    Path(f"{module}.py").write_text(
        "from harness.normalizers.respond import respond as normalize\n"
    )
    options = ("-n", f"{module}:normalize", *QUICK, "-j", jobs)
    assert harness("run", DASHSCOPE, *options).code == 0


@pytest.mark.parametrize(
    ("module", "body", "outcome"),
    [
        ("exits", "raise SystemExit(0)", "crash"),
        ("yields_none", "yield None", "crash"),
        ("ends_the_process", "import os; os._exit(0); yield", "crash"),
        ("interrupts", "raise KeyboardInterrupt", "crash"),
    ],
)
def test_run_has_a_row_for_each_misbehaving_normalizer(
    harness: Harness, module: str, body: str, outcome: str
) -> None:
    Path(f"{module}.py").write_text(f"def normalize(interaction, reads):\n    {body}\n")
    path = f"{DASHSCOPE}/split-chunks.yaml"
    own = f"{module}:normalize"
    # It is called in worker processes only, also if there is one.
    left = harness("run", path, "-n", own, *REFERENCE, *QUICK, "-j", "1", "--format", "json")
    assert left.code == 1
    assert left.json["outcomes"][own] == {outcome: 1}
    assert left.json["outcomes"]["reference"] == {"pass": 1}


# Interruption


SLOW = """
import time
from harness.normalizers.respond import respond as reference

def normalize(interaction, reads):
    time.sleep(0.02)
    return reference(interaction, reads)
"""


def _results_on_disk() -> int:
    partial = partial_path(Path("reports/run.jsonl"))
    return partial.read_bytes().count(b'"type":"result"') if partial.exists() else 0


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def _interrupted(*options: str) -> tuple[Left, Run]:
    Path("slow.py").write_text(SLOW)
    with subprocess.Popen(
        command("run", DASHSCOPE, "-n", "slow:normalize", *QUICK, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _wait_for(lambda: _results_on_disk() >= 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return Left(process.returncode, out, err), read_run(Path("reports/run.jsonl"))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted_run_keeps_finished_cells_and_prints_their_number(jobs: str) -> None:
    _check_interrupted("-j", jobs)


def test_a_run_on_a_cluster_ends_at_an_interrupt(cluster: str) -> None:
    _check_interrupted("--on", cluster)


def _check_interrupted(*options: str) -> None:
    left, run = _interrupted(*options, "--format", "json")
    assert left.code == 130
    assert run.footer is not None
    assert run.footer.interrupted
    done, total = run.footer.results, run.footer.results + run.footer.not_run
    assert 3 <= done < total
    assert f"interrupted: {done} of {total} cells are in the run" in left.err
    assert f"not run: {total - done} cells of slow:normalize; run them with" in left.err
    assert left.json["gate"]["verdict"] == "fail"
    assert "interrupted" in left.json["gate"]["reasons"][0]
    assert "interrupted" in Path("reports/index.html").read_text()
    assert not partial_path(Path("reports/run.jsonl")).exists()


def test_an_interruption_before_the_first_result_shows_no_older_run(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness("run", DASHSCOPE, *NAIVE, *QUICK)
    before = _written()

    def interrupted(*_jobs: Any) -> None:  # noqa: ANN401 - the jobs, a worker and who listens
        raise KeyboardInterrupt

    monkeypatch.setattr(execute_module, "_run_here", interrupted)
    left = harness("run", DASHSCOPE, *REFERENCE, *QUICK)
    assert (left.code, left.out) == (130, "")
    assert f"0 of {COUNT} cells ran" in left.err
    assert _written() == before


def test_an_unreadable_cassette_stops_the_run_and_keeps_the_older_one(harness: Harness) -> None:
    harness("run", DASHSCOPE, *NAIVE, *QUICK)
    before = _written()
    Path("own").mkdir()
    Path("own/x.yaml").write_text("interactions: 5\n")
    assert harness("run", "own", *REFERENCE, *QUICK).code == 2
    assert _written() == before


# What a normalizer or a misspelt file must not do


def test_what_a_normalizer_prints_stays_out_of_the_results(harness: Harness) -> None:
    Path("loud_one.py").write_text(  # each case has another name, because modules stay imported
        "from harness.normalizers.respond import respond as read\n"
        "def loud(interaction, reads):\n"
        "    print('hello')\n"
        "    yield from read(interaction, reads)\n"
    )
    left = harness("run", DASHSCOPE, "-n", "loud_one:loud", *QUICK, "-j", "1", "--format", "json")
    assert left.json["gate"]["verdict"] == "pass"


def test_a_normalizer_that_ends_its_process_costs_its_cells_only(
    harness: Harness, folder: Path
) -> None:
    (folder / "gone_once.py").write_text(
        "import os\ndef gone(interaction, reads):\n    os._exit(7)\n    yield\n"
    )
    path = f"{DASHSCOPE}/split-chunks.yaml"
    left = harness("run", path, "-n", "gone_once:gone", *QUICK)
    assert left.code == 1
    result = read_run(folder / "reports/run.jsonl").results[0]
    assert result.outcome == "crash"
    assert [(turn.success, turn.blame) for turn in result.turns] == [(False, "normalizer")]


@pytest.mark.parametrize(
    ("module", "body"),
    [
        ("exits_at_import", "import os; os._exit(0)"),
        ("interrupts_at_import", "raise KeyboardInterrupt"),
    ],
)
def test_a_module_that_ends_its_process_at_import_is_an_error(
    harness: Harness, folder: Path, module: str, body: str
) -> None:
    (folder / f"{module}.py").write_text(f"print('hello')\n{body}\n")
    path, own = f"{DASHSCOPE}/split-chunks.yaml", f"{module}:normalize"
    left = harness("run", path, "-n", own, *QUICK)
    assert (left.code, left.out) == (2, "")
    assert f"error: {own}: it cannot be imported: " in left.err
    cell = f"dashscope/split-chunks/{own}"
    assert harness("replay", cell, "--in", path).code == 2


def test_run_names_files_that_are_neither_scenario_nor_cassette(harness: Harness) -> None:
    folder = Path(_imported())
    (folder / "misspelt.yaml").write_text("title: x\ncasette: y\nexpected: []\n")
    left = harness("run", str(folder), *REFERENCE, *QUICK)
    assert left.code == 2
    assert "own/misspelt.yaml: expected a scenario" in left.err


FORMATS = Path(__file__).parents[1] / "recording" / "formats"
RECORDINGS = ("nock.json", "polly-browser.json", "langchain.yaml", "go-vcr-v3.yaml", "stream.sse")


def test_recordings_of_other_tools_are_judged_without_a_second_command(
    harness: Harness, tmp_path: Path
) -> None:
    folder, output = tmp_path / "mixed", tmp_path / "out"
    for name in (*RECORDINGS, "assistants.sse"):
        path = folder / "cassettes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((FORMATS / name).read_bytes())
    (folder / "notes.txt").write_text("hello")
    (folder / "packed.json.gz").write_bytes(gzip.compress((FORMATS / "nock.json").read_bytes()))
    for _ in range(2):  # the second run replaces what the first one imported
        left = harness("run", str(folder), "-n", "reference", "-o", str(output), "--no-report")
        assert left.code == 0, left.err
        assert "imported: 6 streams of 7 files" in left.err
        assert "1  no dialect reads the OpenAI Assistants API" in left.err
    run = read_run(output / "run.jsonl")
    assert "cassette:avian/deepseek-v3/cassettes/nock.json/reference" in {
        each.cell for each in run.results
    }
    assert {each.outcome for each in run.results} == {Outcome.PASS}


def test_a_damaged_recording_costs_no_other_one(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "good.json").write_bytes((FORMATS / "nock.json").read_bytes())
    (folder / "bad.gz").write_bytes(gzip.compress(b"x")[:-3])
    left = harness("run", str(folder), "-n", "reference", "-o", str(tmp_path / "out"))
    assert left.code == 2
    assert "error: bad.gz: expected gzip" in left.err
    assert len(read_run(tmp_path / "out/run.jsonl").results) == 1


def test_a_folder_of_the_user_is_not_replaced(harness: Harness, tmp_path: Path) -> None:
    kept = tmp_path / "out/imported/kept.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    left = harness("run", str(FORMATS), "-n", "reference", "-o", str(tmp_path / "out"))
    assert left.code == 2
    assert "would replace a folder that the harness did not make" in left.err
    assert [each.name for each in kept.parent.iterdir()] == ["kept.txt"]


def test_an_api_that_no_dialect_reads_is_named(harness: Harness, tmp_path: Path) -> None:
    request = Request("POST", "https://api.replicate.com/v1/predictions", (), b"{}")
    interaction = synthetic_interaction(b'{"id": "p", "urls": {}, "status": "x"}', request)
    path = tmp_path / "a.yaml"
    cassette = Cassette("a", (interaction,), Origin("imported"))
    save_cassette(cassette, path)
    left = harness("run", str(path), "-n", "reference", "-o", str(tmp_path / "out"))
    assert "not judged: 1 cassette: no dialect reads the API of Replicate" in left.err
