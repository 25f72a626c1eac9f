"""Decorators that declare a mutant: the plain loop, or the gateway, with one step overridden.

The docstring of the decorated class or function is the summary of the mutant.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from msgspec.structs import replace

from harness.conversation.agent import Agent, Role
from harness.conversation.channel import Channel
from harness.conversation.gateway import choose_config, gateway
from harness.conversation.plain_loop import agent_config, grouped, plain
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.normalizers import reference
from harness.normalizers.mutants.edit import summary_of
from harness.results.conversation import Conversation, Probe
from harness.turns.messages import Message

MUTANTS: Final[dict[str, Agent]] = {}

ChooseConfig: TypeAlias = Callable[[Task], tuple[AgentConfig, Probe | None]]
_T = TypeVar("_T", bound=Callable[..., object])
_Decorator: TypeAlias = Callable[[_T], _T]


def plain_config(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Return the config of the plain loop, which sends no probe."""
    return agent_config(task, reference.normalize), None


def _grouped_config(task: Task) -> tuple[AgentConfig, Probe | None]:
    return agent_config(task, reference.normalize, "grouped"), None


def loop_mutant(
    name: str, breaks: str, *, of: Agent = plain, role: Role = "mutant"
) -> _Decorator[type[ToolLoop]]:
    """Return a decorator that declares an agent whose tool loop has one wrong step.

    Args:
        name: the name that selects the mutant with the option `-a`.
        breaks: ids of the rules that the mutant violates, separated by spaces.
        of: the agent that is changed, `plain`, `grouped` or `gateway`.
        role: `known-bad` if a seed system had this bug.
    """
    configs = {gateway.name: choose_config, grouped.name: _grouped_config}
    choose = configs.get(of.name, plain_config)

    def declare(loop: type[ToolLoop]) -> type[ToolLoop]:
        def converse(task: Task) -> Conversation:
            return loop(task, *choose(task)).run_conversation()

        _declare(replace(of, name=name, converse=converse, role=role), breaks, loop)
        return loop

    return declare


def channel_mutant(name: str, breaks: str) -> _Decorator[type[Channel]]:
    """Return a decorator that declares a plain loop with a wrong channel.

    Args:
        name: the name that selects the mutant with the option `-a`.
        breaks: ids of the rules that the mutant violates, separated by spaces.
    """

    def declare(channel: type[Channel]) -> type[Channel]:
        loop = type(channel.__name__, (ToolLoop,), {"channel_type": channel})
        loop.__doc__ = channel.__doc__
        loop_mutant(name, breaks)(loop)
        return channel

    return declare


def config_mutant(
    name: str, breaks: str, *, of: Agent = plain, prompts: frozenset[str] = frozenset()
) -> _Decorator[ChooseConfig]:
    """Return a decorator that declares an agent with a wrong configuration.

    Args:
        name: the name that selects the mutant with the option `-a`.
        breaks: ids of the rules that the mutant violates, separated by spaces.
        of: the agent that is changed, `plain` or `gateway`.
        prompts: ids of the prompts that the mutant supports; by default the prompts of `of`.
    """

    def declare(choose: ChooseConfig) -> ChooseConfig:
        def converse(task: Task) -> Conversation:
            return ToolLoop(task, *choose(task)).run_conversation()

        declared = replace(of, name=name, converse=converse, prompts=prompts or of.prompts)
        _declare(replace(declared, role="mutant"), breaks, choose)
        return choose

    return declare


def with_calls(message: Message, edit: Callable[[Message], Message]) -> Message:
    """Return a message with each of its calls edited; unchanged if it has none."""
    if "tool_calls" not in message:
        return message
    return message | {"tool_calls": [edit(call) for call in message["tool_calls"]]}


def _declare(agent: Agent, breaks: str, declared: object) -> None:
    rules = frozenset(breaks.split())
    MUTANTS[agent.name] = replace(agent, breaks=rules, summary=summary_of(declared))
