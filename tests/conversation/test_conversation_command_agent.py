"""Agents in any language: a command is judged by its requests, and its answer is what it prints."""

import shlex
import sys
from pathlib import Path

import pytest

from harness.conversation.command_agent import command_agent
from harness.conversation.discovery import is_agent, load_agent
from harness.errors import AgentLoadError
from harness.judging.conversations.judge import judge_conversation
from harness.results.outcome import Outcome
from harness.runs.load import load_subject
from harness.runs.plan import subject_id
from tests.judging.judging_samples import bundled_subjects

LOOP = Path(__file__).parents[2] / "examples" / "agent-by-base-url" / "loop.py"


def judged(command: str, subject: str) -> dict[str, str]:
    """Return the rules that the command breaks in one conversation, each with what was found."""
    loaded = load_subject(next(it for it in bundled_subjects() if subject_id(it) == subject))
    result, _ = judge_conversation(loaded, command_agent(command), cuts="whole")
    assert result.outcome is not Outcome.UNSUPPORTED
    return {finding.rule: finding.actual for finding in result.findings}


def python(*arguments: object) -> str:
    return shlex.join([sys.executable, *map(str, arguments)])


@pytest.mark.parametrize("subject", ["loops/single-call", "loops/two-questions"])
def test_a_loop_in_its_own_process_conforms(subject: str) -> None:
    assert judged(python(LOOP), subject) == {}


def test_a_loop_that_forgets_results_is_found_by_its_requests(tmp_path: Path) -> None:
    kept = '"content": result'
    text = LOOP.read_text(encoding="utf-8")
    assert kept in text
    forgetful = tmp_path / "loop.py"
    forgetful.write_text(text.replace(kept, '"content": ""'), encoding="utf-8")
    assert "CONV-RESULT-VALUE-LOST" in judged(python(forgetful), "loops/two-questions")


def test_a_command_that_fails_before_a_request_crashed() -> None:
    found = judged(python("-c", "raise SystemExit('no key')"), "loops/single-call")
    assert "no key" in found["CONV-NO-CRASH"]


def test_a_command_that_only_prints_an_answer_sends_no_request() -> None:
    assert "CONV-UNPLAYED" in judged(python("-c", "print('4 degrees')"), "loops/single-call")


def test_the_name_of_a_command_finds_an_agent() -> None:
    name = f"command:{python(LOOP)}"
    assert is_agent(name)
    assert load_agent(name).name == name


@pytest.mark.parametrize("command", ["", "'unclosed"])
def test_a_text_that_is_no_command_line_is_refused(command: str) -> None:
    with pytest.raises(AgentLoadError):
        command_agent(command)
