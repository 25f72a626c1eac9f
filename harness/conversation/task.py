"""What an agent is given: a question, tools that it may run, and a provider to ask.

`send` and `call_tool` are the world to an agent: it has no clock, no network and no other
state, so that the same task played again gives the same conversation. Whoever gives the task
keeps what goes through both.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from harness.providers import Capabilities
from harness.turns.turn import Tool
from harness.wire.interaction import Headers, Request


class ToolFailed(Exception):  # noqa: N818 - what a tool raises is no error of the harness
    """A tool that ran and gave no result; its text is for the model."""


class Reply(msgspec.Struct, frozen=True):
    """A provider's response while it arrives.

    Fields:
        reads: the body, as the network hands it over; to be read once.
    """

    status: int
    headers: Headers
    reads: Iterable[bytes]


Send: TypeAlias = Callable[[Request], Reply]
CallTool: TypeAlias = Callable[[str, dict[str, Any]], object]


class Limits(msgspec.Struct, frozen=True):
    """Where an agent must stop.

    Fields:
        rounds: requests for one question, retries included, probes not.
        identical_calls: how often the same call, by name and value, may run for one question.
        retries: compensating requests for one broken reply.
        messages: of one request, so that of a longer history older ones are left out
            (`history.cut`); None for any number.
    """

    rounds: int = 8
    identical_calls: int = 2
    retries: int = 1
    messages: int | None = None


class Task(msgspec.Struct, frozen=True):
    """One conversation to be had.

    Fields:
        questions: what the user says, one after the other; each is answered before the next.
        tools: what may be called.
        prompt: id of the prompt that tells the model how (`conversation.prompts`).
        system: the application's own system text; "" for that of a plain assistant.
        provider: whose API it is, such as `dashscope`.
        dialect: how that API spells requests and streams.
        uri: where requests go.
        capabilities: what is declared of the provider.
        send: asks the provider.
        call_tool: runs a tool on arguments that fit it.

    Raises, from `call_tool`:
        ToolFailed: the tool failed.
        KeyError: there is no such tool.
    """

    questions: tuple[str, ...]
    tools: tuple[Tool, ...]
    send: Send
    call_tool: CallTool
    model: str = ""
    provider: str = ""
    dialect: str = "openai-chat"
    uri: str = ""
    prompt: str = "native-tools/v1"
    system: str = ""
    capabilities: Capabilities = Capabilities()
    limits: Limits = Limits()
