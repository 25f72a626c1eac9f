"""The protocol of agents: clients that run complete conversations."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from harness.conversation.task import Task
from harness.normalizers.needs import missing_modules
from harness.results.conversation import Conversation

Converse: TypeAlias = Callable[[Task], Conversation]
Role = Literal["conforming", "known-bad", "mutant", "peer"]
# What an agent may not tell its caller, so that it is not judged: whether a turn was cut at its
# length, and which calls it could not use.
HiddenOfAgent = Literal["finish", "parse_errors"]


class Agent(msgspec.Struct, frozen=True):
    """An agent, and what it declares about itself.

    Fields:
        name: the name that selects the agent with the option `-a`.
        converse: runs the conversation of a task; keeps no state between tasks.
        dialects: the dialects that the agent supports.
        prompts: ids of the prompts that the agent supports.
        role, breaks: a `known-bad` agent and a `mutant` violate the rules in `breaks`; a `peer` is
            an adapter of a third-party library; `conforming` agents run by default.
        policies: the agent's choices between rules that exclude each other, such as `{"history":
            "merged"}`.
        hides: the fields that the agent does not expose, so that the harness does not judge them.
        needs, extra: the Python modules that the agent requires, and the extra of this package that
            installs them.
    """

    name: str
    converse: Converse
    dialects: frozenset[str] = frozenset({"openai-chat"})
    prompts: frozenset[str] = frozenset({"native-tools/v1", "native-tools/v2"})
    role: Role = "conforming"
    breaks: frozenset[str] = frozenset()
    summary: str = ""
    policies: dict[str, str] = msgspec.field(default_factory=dict)
    hides: frozenset[HiddenOfAgent] = frozenset()
    needs: tuple[str, ...] = ()
    extra: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules in `needs` that are not installed."""
        return missing_modules(self.needs)
