"""The protocol of agents: clients that run complete conversations."""

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
        name: selects it with `-a`.
        converse: runs the conversation of a task; keeps no state between tasks.
        dialects: APIs that it supports.
        prompts: ids of the prompts that it supports.
        role, breaks: as for normalizers: a `known-bad` agent and a `mutant` violate the rules
            that they name.
        policies: choices between rules that exclude each other, such as `{"history": "merged"}`.
    """

    name: str
    converse: Converse
    dialects: frozenset[str] = frozenset({"openai-chat"})
    prompts: frozenset[str] = frozenset({"native-tools/v1"})
    role: Role = "conforming"
    breaks: frozenset[str] = frozenset()
    summary: str = ""
    policies: dict[str, str] = msgspec.field(default_factory=dict)
