"""Conversations from the command line and from pytest: agents chosen, cells replayed."""

import sys
from pathlib import Path

import pytest

from harness.results.store import read_run
from harness.wire.cassette_file import save_cassette
from tests.cli.conftest import Harness
from tests.judging.conversations.conversation_recordings import CALL, ROUND_TRIP, recorded

pytest_plugins = ["pytester"]

AREA = "scenarios/conversations"
ONE = f"{AREA}/memory-then-writing.yaml"
MODULE = """\
from harness.results.conversation import Conversation

def converse(task):
    {body}
"""


def test_conforming_agents_run_by_default(harness: Harness, tmp_path: Path) -> None:
    left = harness("run", AREA, "-o", str(tmp_path), "--format", "json")
    assert left.code == 0
    found = left.json
    assert {each["name"] for each in found["rankings"]["agents"]} >= {"gateway", "plain-loop"}
    assert found["rankings"]["normalizers"] == []
    assert found["rankings"]["conversations"] == []  # all are emulated
    run = read_run(tmp_path / "run.jsonl")
    assert {each.name for each in run.header.agents} >= {"gateway", "plain-loop"}
    assert run.conversations
    assert "Conforming and logged conversations" in (tmp_path / "index.html").read_text()


def test_run_header_has_the_command_that_repeats_the_run(harness: Harness, tmp_path: Path) -> None:
    harness("run", ONE, "-a", "gateway", "-a", "gateway", "-o", str(tmp_path))
    command = read_run(tmp_path / "run.jsonl").header.command
    assert command == ("harness", "run", ONE, "-a", "gateway", "--cuts", "standard")


def test_run_header_has_no_agents_without_conversations(harness: Harness, tmp_path: Path) -> None:
    harness("run", "scenarios/dashscope", "-o", str(tmp_path), "--cuts", "quick", "-j", "1")
    run = read_run(tmp_path / "run.jsonl")
    assert run.header.agents == ()
    assert "-a" not in run.header.command


@pytest.mark.parametrize(
    ("path", "option"), [(ONE, ("-n", "reference")), ("scenarios/dashscope", ("-a", "gateway"))]
)
def test_run_exits_with_5_when_no_cell_is_supported(
    harness: Harness, tmp_path: Path, path: str, option: tuple[str, str]
) -> None:
    left = harness("run", path, *option, "-o", str(tmp_path))
    assert left.code == 5
    assert "no selected scenario is supported" in left.err


def test_run_rejects_an_unknown_agent(harness: Harness, tmp_path: Path) -> None:
    left = harness("run", ONE, "-a", "gatway", "-o", str(tmp_path))
    assert left.code == 2
    assert "unknown agent 'gatway'\n  did you mean 'gateway'?" in left.err


def test_failed_conversation_prints_its_replay_command(harness: Harness, tmp_path: Path) -> None:
    left = harness("run", ONE, "-a", "results-orphaned", "-o", str(tmp_path))
    assert left.code == 1
    cell = "conversations/memory-then-writing/results-orphaned"
    assert f"harness replay {cell} --in {ONE}" in left.err
    again = harness("replay", cell, "--in", ONE)
    assert again.code == 1
    assert "HIST-ORPHAN-RESULT at requests[1].messages[2].tool_call_id" in again.out
    assert "Request 2 (tools: set_memory writing)" in again.out


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("raise SystemExit(3)", "crash"),
        ("return None", "crash"),
        ("import os; os._exit(1)", "crash"),
        ("return Conversation((), (), 'done')", "lost_call"),
    ],
)
def test_run_has_a_row_for_each_agent_when_it_crashes(
    harness: Harness,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    outcome: str,
) -> None:
    place = Path(ONE).resolve()
    (tmp_path / "my_agent.py").write_text(MODULE.format(body=body))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_agent", raising=False)
    left = harness("run", str(place), "-a", "my_agent:converse", "-o", str(tmp_path / "out"))
    (result,) = read_run(tmp_path / "out" / "run.jsonl").results
    assert (result.outcome.value, left.code) == (outcome, 1)


def test_list_has_agents_and_conversation_rules(harness: Harness) -> None:
    agents = harness("list", "agents", "--format", "json").json
    keys = {
        "name",
        "role",
        "summary",
        "dialects",
        "prompts",
        "policies",
        "breaks",
        "hides",
        "bundled",
    }
    assert all(set(each) == keys for each in agents)
    rules = harness("list", "rules", "--format", "json").json
    about = {each["id"]: each["about"] for each in rules}
    assert about["HIST-ORPHAN-RESULT"] == "conversation"
    assert about["NO-CRASH"] == "turns"


def test_pytest_judges_conversations_through_agents(pytester: pytest.Pytester) -> None:
    scenario = Path(__file__).parents[2] / ONE
    ini = pytester.makeini(f"[pytest]\nharness_scenarios = {scenario.parent}\n")
    left_out = ("cacheprovider", "hypothesispytest", "xdist")
    plain = (part for name in left_out for part in ("-p", f"no:{name}"))
    options = (*plain, "--noconftest", "-c", str(ini), str(scenario))
    agents = ("--harness-agent", "gateway", "--harness-agent", "results-orphaned")
    found = pytester.runpytest_inprocess(*options, *agents)
    found.assert_outcomes(failed=1, passed=1)
    found.stdout.fnmatch_lines(
        [
            "*MUST HIST-ORPHAN-RESULT*",
            "*harness replay conversations/memory-then-writing/results-orphaned*",
        ]
    )
    none = pytester.runpytest_inprocess(*options, "--harness-normalizer", "reference")
    assert none.ret == pytest.ExitCode.NO_TESTS_COLLECTED


LOG = """\
{"role": "user", "content": "Weather?"}
{"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{"}}], \
"meta": {"strategy": "tool_use", "retries": 1}}
{"role": "assistant", "content": "Clear.", "meta": {"strategy": "tool_use"}}
"""


def test_log_is_imported_ranked_and_shown(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_text(LOG)
    labels = ("--provider", "q", "--model", "m", "--prompt", "p")
    imported = str(tmp_path / "imported")
    taken = harness("import", str(tmp_path / "talk.jsonl"), *labels, "-o", imported)
    assert "1 conversation without response bytes" in taken.out
    left = harness("run", imported, "-o", str(tmp_path / "out"), "--format", "json")
    assert left.code == 5  # a log is no judged cell
    (line,) = left.json["rankings"]["conversations"]
    assert line["name"] == "m x p x unknown"
    rate = {key: line["rate"][key] for key in ("k", "n", "turns", "recovered", "retries")}
    assert rate == {"k": 1, "n": 1, "turns": 2, "recovered": 1, "retries": 1}
    page = (tmp_path / "out" / "index.html").read_text()
    assert "logged, not judged" in page
    assert "m x p x unknown" in harness("run", imported, "-o", str(tmp_path / "out")).out
    shown = harness("replay", "log:q/m/talk/unknown", "--in", imported)
    assert (shown.code, "assistant: Clear." in shown.out) == (0, True)


def test_agents_judge_a_recorded_conversation(harness: Harness, tmp_path: Path) -> None:
    save_cassette(ROUND_TRIP, tmp_path / "in" / "talk.yaml")
    save_cassette(recorded(CALL, CALL), tmp_path / "in" / "other.yaml")
    left = harness("run", str(tmp_path / "in"), "-a", "plain-loop", "-o", str(tmp_path))
    assert left.code == 0
    assert "agents cannot replay 1 cassette of several requests" in left.err
    assert "its requests do not follow one another" in left.err
    (result,) = read_run(tmp_path / "run.jsonl").results
    assert result.cell == "cassette:talk/plain-loop"
    assert "Same as the recorded request" in (tmp_path / "index.html").read_text()


def test_replay_runs_a_recording_through_the_named_agent(harness: Harness, tmp_path: Path) -> None:
    save_cassette(ROUND_TRIP, tmp_path / "talk.yaml")
    found = harness("replay", "cassette:talk/results-orphaned", "--in", str(tmp_path))
    assert found.code == 1
    assert "differs from the recorded request: messages: recorded" in found.out
    assert harness("replay", "cassette:talk/reference", "--in", str(tmp_path)).code == 0
