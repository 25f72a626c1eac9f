"""A silent conversion of arguments is wrong; one that is demanded and reported is accepted."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.plain_loop import agent_config, plain
from harness.conversation.task import Task
from harness.conversation.tool_loop import ToolLoop
from harness.judging.conversations.judge import judge_conversation
from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers import reference
from harness.results.conversation import Conversation
from harness.results.outcome import Outcome
from harness.turns.deltas import ArgumentsDelta, Finish, FinishReason, ToolCallEnd, ToolCallStart
from harness.turns.turn import Turn
from tests.conversation.conversation_stage import STAGE
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
)

LIST: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "list_files",
        "parameters": {"type": "object", "properties": {"limit": {"type": "integer"}}},
    },
}


def _outcome(sent: str, executed: str, reported: str) -> Outcome:
    body = call(sent, id="c1", name="list_files") + chunk(None, "tool_calls") + DONE
    deltas = (
        ToolCallStart(0, "c1", "list_files"),
        ArgumentsDelta(0, executed),
        ToolCallEnd(0, reported),
        Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    )
    by = a_normalizer(lambda _reads: iter(deltas))
    cassette = a_cassette(an_interaction(body, tools=(LIST,)))
    result, _ = judge_subject(LoadedSubject(cassette), by, cuts="whole")
    return result.outcome


@pytest.mark.parametrize(
    ("sent", "executed", "reported", "outcome"),
    [
        ('{"limit": "5"}', '{"limit": 5}', '{"limit": "5"}', Outcome.PASS),
        ('{"limit": "5"}', '{"limit": 5}', "", Outcome.SILENT_WRONG),
        ('{"limit": "5"}', '{"limit": 5}', '{"limit": 5}', Outcome.SILENT_WRONG),
        ('{"limit": true}', '{"limit": 1}', '{"limit": true}', Outcome.SILENT_WRONG),
        ('{"limit": 5}', '{"limit": 6}', '{"limit": 5}', Outcome.SILENT_WRONG),
    ],
)
def test_turn_with_a_repair_passes_if_it_is_demanded_and_reported(
    sent: str, executed: str, reported: str, outcome: Outcome
) -> None:
    assert _outcome(sent, executed, reported) is outcome


def _reporting(turn: Turn) -> Turn:
    calls = (replace(it, arguments='{"city": "5"}', sent=it.arguments) for it in turn.tool_calls)
    return replace(turn, tool_calls=tuple(calls))


def _silent(turn: Turn) -> Turn:
    calls = (replace(it, arguments='{"city": "5"}') for it in turn.tool_calls)
    return replace(turn, tool_calls=tuple(calls))


def _inventing(turn: Turn) -> Turn:
    calls = (replace(it, arguments='{"city": "Oslo"}', sent=it.arguments) for it in turn.tool_calls)
    return replace(turn, tool_calls=tuple(calls))


@pytest.mark.parametrize(
    ("repair", "broken"),
    [(_reporting, set()), (_silent, {"CONV-CALL-UNWANTED"}), (_inventing, {"CONV-CALL-UNWANTED"})],
)
def test_conversation_with_a_repair_passes_if_it_is_demanded_and_reported(
    repair: Callable[[Turn], Turn], broken: set[str]
) -> None:
    (subject,) = (each for each in STAGE if each.id == "test/misfit")
    result, _ = judge_conversation(subject, _agent(repair))
    assert {finding.rule for finding in result.findings} == broken


def _agent(repair: Callable[[Turn], Turn]) -> Agent:
    def converse(task: Task) -> Conversation:
        config = replace(agent_config(task, reference.normalize), resolve=repair)
        return ToolLoop(task, config).run_conversation()

    return replace(plain, converse=converse)
