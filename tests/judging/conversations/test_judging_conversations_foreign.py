"""An agent of another project is not held to the sentences and settings of the bundled agents."""

import itertools
import json

import pytest
from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.discovery import load_agent
from harness.conversation.task import Task
from harness.judging.conversations.expected_request import ExpectedRequest
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.script import ConversationScript, ExpectedReport
from harness.judging.judge import OwnTurns
from harness.project import Role
from harness.results.conversation import Conversation, Ending, TurnMeta, TurnRecord
from harness.turns.deltas import ParseError
from harness.turns.messages import assistant, tool_result, user
from tests.judging.conversations.conversation_samples import (
    OSLO,
    Talk,
    a_cassette,
    a_script,
    calls,
    chunk,
    loaded,
    says,
)

PLAIN = load_agent("plain-loop")
BERGEN = '{"city": "Bergen"}'
LEVEL: dict[Role, str] = {"conforming": "MUST", "peer": "MAY"}
ROLES = pytest.mark.parametrize("role", LEVEL)


def levels(agent: Agent, script: ConversationScript, *streams: bytes) -> dict[str, set[str]]:
    """Return rule -> the levels of its findings."""
    subject = loaded(a_cassette(*streams), script)
    own: OwnTurns = "lowered" if agent.role == "peer" else "judged"
    result, _ = judge_conversation(subject, agent, own=own)
    found: dict[str, set[str]] = {}
    for finding in result.findings:
        found.setdefault(finding.rule, set()).add(finding.level)
    return found


def ending_with(ending: Ending, role: Role) -> Agent:
    def converse(task: Task) -> Conversation:
        return replace(PLAIN.converse(task), ending=ending)

    return replace(PLAIN, converse=converse, role=role)


def keeping_ids(change: str, role: Role) -> Agent:
    """Return an agent that sends ids back as they came, or with `change` before each."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        while turn.tool_calls:
            named = (replace(call, id=change + call.id) for call in turn.tool_calls)
            talk.run(replace(turn, tool_calls=tuple(named)))
            turn = talk.ask()
        return talk.end(turn)

    return Agent("sample", converse, role=role)


@ROLES
def test_the_wording_of_a_request(role: Role) -> None:
    wanted = (ExpectedRequest(), ExpectedRequest(says="of 8,001 characters"))
    script = a_script(requests=wanted)
    found = levels(replace(PLAIN, role=role), script, calls(OSLO), says("4 degrees."))
    assert found == {"CONV-REQUEST": {LEVEL[role]}}


@ROLES
def test_an_end_by_a_documented_exception(role: Role) -> None:
    streams = calls(OSLO), says("4 degrees.")
    assert levels(ending_with("error", role), a_script(), *streams) == {
        "CONV-ENDING": {LEVEL[role]}
    }


@ROLES
def test_an_interrupted_stream_that_counts_as_done_is_a_must(role: Role) -> None:
    script = a_script("interrupted", executed=())
    found = levels(ending_with("done", role), script, chunk({"content": "4 deg"}))
    assert found["CONV-ENDING"] == {"MUST"}


@ROLES
@pytest.mark.parametrize(("change", "is_sent"), [("", True), ("x", False)])
def test_ids_that_the_endpoint_sent_and_the_provider_refuses(
    role: Role, change: str, *, is_sent: bool
) -> None:
    script = a_script(capabilities={"tool_id_pattern": "[a-z]{9}"})
    found = levels(keeping_ids(change, role), script, calls(OSLO), says("4 degrees."))
    assert found["HIST-ID-PATTERN"] == {LEVEL[role] if is_sent else "MUST"}


@ROLES
def test_a_call_of_a_broken_turn_is_a_must(role: Role) -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        task.call_tool("get_weather", json.loads(OSLO))
        return talk.end(turn)

    script = a_script(executed=())
    agent = Agent("sample", converse, role=role)
    found = levels(agent, script, calls(OSLO, finish="content_filter"))
    assert found["CONV-CALL-FROM-BROKEN-TURN"] == {"MUST"}


SHOULD: dict[Role, str] = {"conforming": "MUST", "peer": "SHOULD"}


@ROLES
def test_no_text_after_a_body_without_an_answer(role: Role) -> None:
    script = a_script("interrupted", executed=())
    found = levels(ending_with("empty", role), script, b"data: [DONE]\n\n")
    assert found["CONV-ENDING"] == {LEVEL[role]}


@pytest.mark.parametrize("role", ["conforming", "peer"])
def test_calls_of_one_turn_that_start_in_any_order(role: Role) -> None:
    runs = itertools.count()

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        in_order = next(runs) % 2 == 0
        for call in turn.tool_calls if in_order else turn.tool_calls[::-1]:
            task.call_tool(call.name, json.loads(call.arguments))
        talk.messages.append(assistant(None, turn.tool_calls))
        talk.messages += [tool_result(call.id, '{"temperature": 4}') for call in turn.tool_calls]
        ids = tuple(call.id for call in turn.tool_calls)
        talk.turns[-1] = replace(talk.turns[-1], executed=ids)
        return talk.end(talk.ask())

    script = a_script(executed=(OSLO, BERGEN))
    agent = Agent("sample", converse, role=role)
    found = levels(agent, script, calls(OSLO, BERGEN), says("4 degrees."))
    assert ("CONV-REPEATABLE" in found) == (role == "conforming")


@ROLES
@pytest.mark.parametrize("ending", ["error", "done"])
def test_calls_without_results_after_a_documented_exception(role: Role, ending: Ending) -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        talk.run(turn)
        talk.messages.pop()
        return replace(talk.end(turn), ending=ending)

    script = a_script(ending)
    found = levels(Agent("sample", converse, role=role), script, calls(OSLO))
    assert found["HIST-MISSING-RESULT"] == {SHOULD[role] if ending == "error" else "MUST"}


@ROLES
@pytest.mark.parametrize("questions", [1, 2])
def test_an_empty_turn_that_is_kept_and_sent_nowhere(role: Role, questions: int) -> None:
    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        talk.messages.append({"role": "assistant", "content": ""})
        if questions > 1:
            talk.messages.append({"role": "user", "content": "And?"})
            turn = talk.ask()
        return talk.end(turn)

    script = replace(a_script("empty", executed=()), questions=("One?", "And?")[:questions])
    streams = (says(""), says("4 degrees."))[:questions]
    found = levels(Agent("sample", converse, role=role), script, *streams)
    assert found["HIST-EMPTY-TURN"] == {SHOULD[role] if questions == 1 else "MUST"}


@ROLES
@pytest.mark.parametrize(("stream", "is_answer"), [(b"", False), (says("4 degrees."), True)])
def test_an_exception_for_a_body_without_an_answer(
    role: Role, stream: bytes, *, is_answer: bool
) -> None:
    def converse(task: Task) -> Conversation:
        Talk(task).ask()
        raise ValueError("no generation chunks")

    found = levels(Agent("sample", converse, role=role), a_script(), stream)
    assert found["CONV-NO-CRASH"] == {"MUST" if is_answer else SHOULD[role]}


def asking_for_one(told: str, role: Role) -> Agent:
    """Return an agent that runs the first call of a turn, and says `told` of the others."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        talk.run(replace(turn, tool_calls=turn.tool_calls[:1]))
        talk.messages += [user(told)] if told else []
        return talk.end(talk.ask())

    return Agent("sample", converse, role=role)


@ROLES
@pytest.mark.parametrize(
    ("parallel", "told", "may_refuse"),
    [
        (False, "Only one call ran; please repeat the others alone.", True),
        (False, "", False),  # the calls are lost silently
        (True, "Only one call ran; please repeat the others alone.", False),
    ],
)
def test_one_call_of_a_turn_if_the_provider_takes_no_more(
    role: Role, told: str, *, parallel: bool, may_refuse: bool
) -> None:
    script = a_script(executed=(OSLO, BERGEN), capabilities={"supports_parallel_tools": parallel})
    found = levels(asking_for_one(told, role), script, calls(OSLO, BERGEN), says("4 degrees."))
    assert found["CONV-CALL-LOST"] == {LEVEL[role] if may_refuse else "MUST"}


def reporting(meta: TurnMeta, name: str, role: Role) -> Agent:
    """Return an agent whose first record has `meta` and a call of `name` that did not run."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        turn = talk.ask()
        unknown = tuple(replace(call, name=name) for call in turn.tool_calls)
        talk.turns[0] = TurnRecord(replace(turn, tool_calls=unknown), meta)
        return talk.end(talk.ask())

    return Agent("sample", converse, role=role)


@ROLES
@pytest.mark.parametrize(("name", "is_answered"), [("weather", True), ("get_weather", False)])
def test_a_text_call_of_an_unknown_tool_that_gets_a_result(
    role: Role, name: str, *, is_answered: bool
) -> None:
    wanted = (ExpectedReport("weather", "", "json_fallback"),)
    script = a_script(executed=(), parse_errors=wanted, retries=1)
    agent = reporting(TurnMeta("json_fallback"), name, role)
    found = levels(agent, script, calls(OSLO), says("4 degrees."))
    level = LEVEL[role] if is_answered else "MUST"
    assert (found["CONV-PARSE-ERRORS"], found["CONV-RETRIES"]) == ({level}, {level})


@ROLES
@pytest.mark.parametrize(("snippet", "is_same"), [('"city": "Os', True), ("Bergen", False)])
def test_broken_json_of_a_text_that_is_reported_without_a_name(
    role: Role, snippet: str, *, is_same: bool
) -> None:
    error = ParseError("json_fallback", "the text ends", '{"name": "weather", "city": "Os')
    script = a_script(executed=(), parse_errors=(ExpectedReport("weather", snippet),))
    agent = reporting(TurnMeta("json_fallback", (error,)), "get_weather", role)
    found = levels(agent, script, calls(OSLO), says("4 degrees."))
    assert found["CONV-PARSE-ERRORS"] == {LEVEL[role] if is_same else "MUST"}
