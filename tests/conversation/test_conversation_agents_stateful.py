"""Whatever replies come in whatever order: agents end, raise nothing and run nothing broken.

The machine collects the replies of a conversation; then every agent has it, each on its own.
"""

import json
from typing import Any, TypeAlias, get_args

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from harness.conversation.agent import Agent
from harness.conversation.gateway import gateway
from harness.conversation.history.check import history_problems
from harness.conversation.plain_loop import action, dashscope, direct, grouped, plain, tag
from harness.conversation.task import Limits, Reply, Task
from harness.dialects.table import message_form
from harness.judging.conversations.evidence import parsed_capabilities
from harness.providers import PROVIDERS, Capabilities
from harness.results.conversation import Conversation, Ending
from harness.wire.interaction import Request
from tests.conversation.conversation_provider import SPELLINGS, Provider, as_dialect
from tests.conversation.conversation_replies import (
    Given,
    answering,
    calling,
    cut_short,
    failing,
    probe_answers,
    spelling,
)

Answer: TypeAlias = bytes | tuple[int, bytes] | OSError

AGENTS = (gateway, dashscope, tag, action)
# They differ in how turns are stored, so one of them has each conversation.
LOOPS = (plain, direct, grouped)
OTHERS = Capabilities(supports_parallel_tools=False, tool_id_pattern="[a-z]{12}")
DECLARED = dict.fromkeys(row.capabilities for row in PROVIDERS.values())
CAPABILITIES = st.sampled_from([*DECLARED, Capabilities(), OTHERS])
LIMITS = st.builds(
    Limits,
    rounds=st.integers(1, 6),
    identical_calls=st.integers(1, 2),
    retries=st.integers(0, 2),
    messages=st.none() | st.none() | st.integers(1, 12),
)


# OpenAI's most often: only there are all agents at work.
DIALECTS = st.sampled_from(["openai-chat"] * len(SPELLINGS) + sorted(SPELLINGS))


def _spelled(reply: Answer, dialect: str) -> Answer:
    if dialect not in SPELLINGS or not isinstance(reply, bytes):
        return reply
    return as_dialect(reply, dialect)


class Watched(Provider):
    """A provider that knows what of its newest reply may run."""

    def __init__(self, given: list[Given], dialect: str) -> None:
        super().__init__(*(_spelled(it.reply, dialect) for it in given))
        self._given = list(given)
        self._may_run: list[tuple[str, str]] = []
        self.ran_of_reply = [0]

    def send(self, request: Request) -> Reply:
        given = self._given.pop(0) if len(self._given) > 1 else self._given[0]
        self._may_run = list(given.may_run)
        self.ran_of_reply.append(0)
        return super().send(request)

    def call_tool(self, name: str, arguments: dict[str, Any]) -> object:
        call = (name, json.dumps(arguments, sort_keys=True))
        assert call in self._may_run, "a call ran that no whole turn holds"
        self._may_run.remove(call)
        self.ran_of_reply[-1] += 1
        return super().call_tool(name, arguments)


class AnyConversation(RuleBasedStateMachine):
    """Collects what a provider says; at the end every agent talks to it."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Given] = []
        self.fields: dict[str, Any] = {}
        self.questions: tuple[str, ...] = ("?",)

    @initialize(
        capabilities=CAPABILITIES,
        limits=LIMITS,
        questions=st.integers(1, 3),
        pick=st.integers(0, 30),
        dialect=DIALECTS,
        probe=probe_answers(),
    )
    def begin(  # noqa: PLR0913, PLR0917 - what a conversation begins with
        self,
        capabilities: Capabilities,
        limits: Limits,
        questions: int,
        pick: int,
        dialect: str,
        probe: Given,
    ) -> None:
        self.fields = {"capabilities": capabilities, "limits": limits, "dialect": dialect}
        self.questions = tuple(f"question {number}?" for number in range(questions))
        self.pick = pick
        if capabilities.supports_tool_use is None:
            self.given.append(probe)

    @rule(given=calling())
    def calls(self, given: Given) -> None:
        self.given.append(given)

    @rule(given=spelling())
    def spells(self, given: Given) -> None:
        self.given.append(given)

    @rule(given=answering())
    def answers(self, given: Given) -> None:
        self.given.append(given)

    @rule(given=cut_short() | failing())
    def breaks(self, given: Given) -> None:
        self.given.append(given)

    @rule(given=probe_answers())
    def answers_probe(self, given: Given) -> None:
        self.given.append(given)

    @rule(times=st.integers(1, 4))
    def repeats(self, times: int) -> None:
        self.given += self.given[-1:] * times

    def teardown(self) -> None:
        # From each reply on, since a reply that ends the conversation hides those behind it.
        for start in range(len(self.given)):
            for agent in (*AGENTS, LOOPS[self.pick % len(LOOPS)]):
                if self.fields["dialect"] in agent.dialects:
                    self._had_by(agent, self.given[start:])

    def _had_by(self, agent: Agent, given: list[Given]) -> None:
        prompts = sorted(agent.prompts)
        fields = {**self.fields, "prompt": prompts[self.pick % len(prompts)]}
        provider = Watched(given, self.fields["dialect"])
        task = provider.task(*self.questions, **fields)
        conversation = agent.converse(task)
        _check_requests(provider, task, conversation)
        _check_what_came_back(task, conversation)
        _check_calls(agent, provider, task, conversation)


def _check_requests(provider: Provider, task: Task, conversation: Conversation) -> None:
    probes = sum(turn.meta.probe is not None for turn in conversation.turns)
    assert probes <= 1
    assert len(provider.bodies) == len(conversation.turns) + probes
    assert len(provider.bodies) <= task.limits.rounds * len(task.questions) + probes
    for body in provider.bodies:
        messages = message_form(task.dialect).messages_of(body)
        assert history_problems(messages, _as_sent(task)) == ()
        assert messages[-1]["role"] in ("user", "tool")  # type: ignore[index]  # they are objects


def _as_sent(task: Task) -> Capabilities:
    """Ollama has no ids and no null, so those choices do not show in what it gets."""
    if task.dialect != "ollama":
        return parsed_capabilities(message_form(task.dialect), task.capabilities)
    return msgspec.structs.replace(
        task.capabilities, tool_id_pattern="", content_beside_calls="null"
    )


def _check_what_came_back(task: Task, conversation: Conversation) -> None:
    assert conversation.ending in get_args(Ending)
    assert conversation.answer.strip() or conversation.ending != "done"
    assert history_problems(conversation.messages, task.capabilities) == ()
    assert all(turn.meta.retries <= task.limits.retries for turn in conversation.turns)
    assert conversation.turns[-1].meta.retries == 0, "a retry is counted that was never sent"
    found = msgspec.json.encode(conversation)
    assert msgspec.json.decode(found, type=Conversation) == conversation


def _check_calls(agent: Agent, provider: Watched, task: Task, conversation: Conversation) -> None:
    assert sum(len(turn.executed) for turn in conversation.turns) == len(provider.executed)
    made = [json.dumps(call, sort_keys=True) for call in provider.executed]
    most = task.limits.identical_calls * len(task.questions)
    assert all(made.count(call) <= most for call in made)
    if agent is gateway and not task.capabilities.supports_parallel_tools:
        assert max(provider.ran_of_reply) <= 1


TestAnyConversation = AnyConversation.TestCase
TestAnyConversation.settings = settings(stateful_step_count=8)
