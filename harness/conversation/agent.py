"""The protocol of agents: implementations that run whole conversations themselves."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from harness.conversation.conversation import Conversation
from harness.conversation.task import Task

Converse: TypeAlias = Callable[[Task], Conversation]
Role = Literal["conforming", "known-bad", "mutant"]


class Agent(msgspec.Struct, frozen=True):
    """An agent and its declaration.

    Fields:
        name: what `-a` calls it.
        converse: has the conversation; keeps no state between tasks.
        dialects: those that it can ask in.
        prompts: ids of the prompts that it can ask with.
        role, breaks: as for normalizers: a `known-bad` agent and a `mutant` violate the rules
            that they name.
        policies: choices where rules pull against each other, such as `{"history": "merged"}`.
    """

    name: str
    converse: Converse
    dialects: frozenset[str] = frozenset({"openai-chat"})
    prompts: frozenset[str] = frozenset({"native-tools/v1"})
    role: Role = "conforming"
    breaks: frozenset[str] = frozenset()
    summary: str = ""
    policies: dict[str, str] = msgspec.field(default_factory=dict)
