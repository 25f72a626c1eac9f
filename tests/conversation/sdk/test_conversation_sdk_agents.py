"""Each agent of a library holds ordinary conversations, and tells how each one ended.

An adapter that fails here accuses its library of its own faults.
"""

import json
from importlib import import_module
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.agent import Agent
from harness.conversation.sdk.task_run import messages_of_request
from harness.conversation.task import Limits
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.script import MockAnswer
from harness.judging.conversations.session import Session, SessionRecord, run_agent
from harness.results.outcome import Outcome
from tests.judging.conversations.conversation_samples import (
    OSLO,
    a_cassette,
    a_script,
    calls,
    chunk,
    loaded,
    says,
)
from tests.judging.judging_samples import shipped_conversations

MODULES: Final = ("langgraph", "openai_agents", "pydantic_ai")
# A warning of a library about its dependencies is not an error of its user.
pytestmark = pytest.mark.filterwarnings("default")

CITIES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | CITIES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CITIES, inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(params=MODULES)
def agent(request: pytest.FixtureRequest) -> Agent:
    found: Agent = import_module(f"harness.conversation.sdk.{request.param}").agent
    if found.missing:
        pytest.skip(f"the extra {found.extra} is not installed")
    return found


def held(agent: Agent, *bodies: bytes, **more: Any) -> SessionRecord:  # noqa: ANN401 - fields of a script
    return run_agent(agent, Session(a_cassette(*bodies), a_script(**more)))


def ending(record: SessionRecord) -> str:
    assert record.conversation is not None, record.error
    return record.conversation.ending


def test_a_conversation_with_one_call_conforms(agent: Agent) -> None:
    subject = loaded(a_cassette(calls(OSLO), says("4 degrees.")), a_script(answer="4 degrees."))
    result, _ = judge_conversation(subject, agent)
    assert result.outcome is Outcome.PASS, result.findings


@given(city=CITIES, value=VALUES)
def test_a_tool_gets_the_arguments_of_the_model(city: str, value: object) -> None:
    agents = [import_module(f"harness.conversation.sdk.{name}").agent for name in MODULES]
    installed = [agent for agent in agents if not agent.missing]
    if not installed:
        pytest.skip("no extra of an agent is installed")
    for agent in installed:
        arguments = json.dumps({"city": city})
        answers = (MockAnswer(value),)
        record = held(agent, calls(arguments), says("Done."), answers=answers)
        assert ending(record) == "done"
        assert [json.loads(it.arguments) for it in record.executions] == [{"city": city}]
        assert record.conversation is not None
        assert [len(turn.executed) for turn in record.conversation.turns] == [1, 0]


def test_a_tool_that_fails_is_told_and_the_run_goes_on(agent: Agent) -> None:
    record = held(agent, calls(OSLO), says("No."), answers=(MockAnswer(error="no such city"),))
    assert ending(record) == "done"
    assert b"no such city" in record.sent[-1].request.body


def test_arguments_that_do_not_fit_run_nothing(agent: Agent) -> None:
    record = held(agent, calls('{"city": 4}'), says("No."))
    assert not record.executions
    assert ending(record) == "done"


def test_the_limit_of_rounds_is_no_answer(agent: Agent) -> None:
    bodies = [calls(OSLO, ids=f"call_{number}") for number in range(3)]
    record = held(agent, *bodies, limits=Limits(rounds=2))
    assert ending(record) == "limit"
    assert len(record.sent) == 2


def test_an_empty_answer_is_not_done(agent: Agent) -> None:
    assert ending(held(agent, calls(OSLO), says(""))) != "done"


def test_an_error_of_the_provider_is_told_with_its_turn(agent: Agent) -> None:
    record = held(agent, b'data: {"error": {"message": "overloaded"}}\n\n')
    assert ending(record) == "error"
    assert record.conversation is not None
    assert record.conversation.turns[-1].turn.failure is not None


# What the libraries are accused of; each was checked against their source.
TRUE: Final = [
    # They execute the calls of a stream without a finish reason, and document nothing about it.
    ("langgraph", "loops/ends-after-a-whole-call", "CONV-CALL-FROM-BROKEN-TURN"),
    ("openai_agents", "loops/ends-after-a-whole-call", "CONV-CALL-FROM-BROKEN-TURN"),
    # A tool without the id of its call returns its result instead of a ToolMessage.
    ("langgraph", "loops/no-id-in-the-stream", "CONV-NO-CRASH"),
    # The content of a message may be a list of blocks, so an empty list is not written as text.
    ("langgraph", "loops/system-text-first", "HIST-RESULT-NON-STRING"),
    # By default, an unknown tool and an id of an earlier call end the run.
    ("openai_agents", "gateway/one-unknown-of-three", "CONV-ENDING"),
    ("openai_agents", "gateway/same-id-each-turn", "CONV-ENDING"),
    # It sends arguments back that are no JSON.
    ("openai_agents", "conversations/parallel-one-bad", "HIST-ARGS-INVALID"),
    # It sends the ids of the provider back as they are.
    ("pydantic_ai", "gateway/same-id-each-turn", "HIST-ID-REUSED"),
]


@pytest.mark.parametrize(("module", "scenario", "rule"), TRUE)
def test_true_findings_remain(module: str, scenario: str, rule: str) -> None:
    agent: Agent = import_module(f"harness.conversation.sdk.{module}").agent
    if agent.missing:
        pytest.skip(f"the extra {agent.extra} is not installed")
    subject = next(it for it in shipped_conversations() if it.id == scenario)
    result, _ = judge_conversation(subject, agent, cuts="whole")
    assert rule in {finding.rule for finding in result.findings}


@pytest.mark.parametrize("policy", ["absent-finish", "empty-turn"])
def test_documented_choices_of_a_library_are_not_judged(policy: str) -> None:
    agent: Agent = import_module("harness.conversation.sdk.pydantic_ai").agent
    about = [it for it in shipped_conversations() if it.scenario and policy in it.scenario.policies]
    assert about
    for subject in about:
        assert judge_conversation(subject, agent)[0].outcome is Outcome.UNSUPPORTED


def test_openai_agents_sends_reasoning_back_only_if_the_provider_wants_it() -> None:
    agent: Agent = import_module("harness.conversation.sdk.openai_agents").agent
    if agent.missing:
        pytest.skip(f"the extra {agent.extra} is not installed")
    thought = chunk({"reasoning_content": "Oslo, then."})
    for field in ("", "reasoning_content"):
        capabilities = {"reasoning_field": field}
        record = held(agent, thought + calls(OSLO), says("Done."), capabilities=capabilities)
        assert (b"Oslo, then." in record.sent[-1].request.body) == bool(field)


def test_pydantic_ai_asks_again_without_a_system_message_if_the_provider_refuses_it() -> None:
    agent: Agent = import_module("harness.conversation.sdk.pydantic_ai").agent
    if agent.missing:
        pytest.skip(f"the extra {agent.extra} is not installed")
    for allows in (False, True):
        capabilities = {"allows_midturn_system": allows}
        record = held(agent, calls(OSLO), says(""), says("Done."), capabilities=capabilities)
        messages = messages_of_request("openai-chat", record.sent[-1].request)
        assert (messages[-1]["role"] == "system") == allows
        assert ending(record) == "done"


@pytest.mark.parametrize("module", MODULES)
def test_limits_that_a_library_lacks_are_not_judged(module: str) -> None:
    agent: Agent = import_module(f"harness.conversation.sdk.{module}").agent
    lacking = {"identical-calls", "truncation", "last-round", "tool-names"}
    about = [
        it
        for it in shipped_conversations()
        if it.scenario and lacking & it.scenario.policies.keys()
    ]
    assert about
    for subject in about:
        assert judge_conversation(subject, agent)[0].outcome is Outcome.UNSUPPORTED
