"""How a miniature is made: the plain loop, or the gateway, with one step of it overridden."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.conversation import Conversation, Probe
from harness.conversation.gateway import choose_config, gateway
from harness.conversation.plain_loop import agent_config, plain
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.normalizers import reference
from harness.turns.messages import Message

EditConfig: TypeAlias = Callable[[AgentConfig], AgentConfig]
ChooseConfig: TypeAlias = Callable[[Task], tuple[AgentConfig, Probe | None]]


def unchanged(way: AgentConfig) -> AgentConfig:
    """Return the way of the plain loop."""
    return way


def mutant(
    name: str,
    breaks: str,
    summary: str,
    dialogue: type[ToolLoop] = ToolLoop,
    way: EditConfig = unchanged,
) -> Agent:
    """Declare a plain loop that is wrong in one way.

    Args:
        name: what `-a` calls it.
        breaks: the rules that must catch it, with spaces between.
        summary: one line.
        dialogue: the loop with its wrong step.
        way: what is wrong in how it goes about its task.
    """

    def converse(task: Task) -> Conversation:
        return dialogue(task, way(agent_config(task, reference.normalize))).have()

    return _declared(plain, name, breaks, summary, converse)


def gateway_mutant(
    name: str,
    breaks: str,
    summary: str,
    dialogue: type[ToolLoop] = ToolLoop,
    wrong_plan: ChooseConfig = choose_config,
) -> Agent:
    """Declare a gateway that is wrong in one way; `wrong_plan` is what it makes of its task."""

    def converse(task: Task) -> Conversation:
        return dialogue(task, *wrong_plan(task)).have()

    return _declared(gateway, name, breaks, summary, converse)


def with_calls(message: Message, edit: Callable[[Message], Message]) -> Message:
    """Return a message with each of its calls edited; itself where it has none."""
    if "tool_calls" not in message:
        return message
    return message | {"tool_calls": [edit(call) for call in message["tool_calls"]]}


def known_bad(declared: Agent) -> Agent:
    """Return a miniature as what it is: a way in which a seed system was broken."""
    return replace(declared, role="known-bad")


def _declared(
    of: Agent, name: str, breaks: str, summary: str, converse: Callable[[Task], Conversation]
) -> Agent:
    rules = frozenset(breaks.split())
    return replace(of, name=name, converse=converse, role="mutant", breaks=rules, summary=summary)
