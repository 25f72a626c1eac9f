"""The task of an agent: questions, tools that it may execute, and a provider.

An agent acts only through `send` and `call_tool`. It has no clock, no network and no other state,
so that the same task always gives the same conversation. The caller that creates the task records
the arguments and results of both functions.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeAlias

import msgspec

from harness.conversation.prompts import DEFAULT_PROMPT
from harness.files.typed import File
from harness.providers import Capabilities
from harness.turns.turn import Tool
from harness.wire.interaction import Headers, Request


class ToolFailed(Exception):  # noqa: N818 - a tool raises it, and not the harness
    """A tool failed and returned no result; the message is for the model."""


class Reply(msgspec.Struct, frozen=True):
    """A provider's response while it arrives.

    Fields:
        reads: yields the body, read by read, once. If the connection broke, it raises a network
            error after the last read.
    """

    status: int
    headers: Headers
    reads: Iterable[bytes]


Send: TypeAlias = Callable[[Request], Reply]
CallTool: TypeAlias = Callable[[str, dict[str, Any]], object]


class Limits(File, frozen=True):
    """The limits at which an agent must stop.

    Fields:
        rounds: requests for one question, including retries but not probes.
        identical_calls: how often a call with the same name and arguments may be executed for one
            question.
        retries: how many times the agent may ask again after an unusable response.
        messages: the number of messages in one request; None for any number. Older messages of a
            longer history are left out (`history.limit`).
    """

    rounds: Annotated[int, msgspec.Meta(ge=1)] = 8
    identical_calls: Annotated[int, msgspec.Meta(ge=1)] = 2
    retries: Annotated[int, msgspec.Meta(ge=0)] = 1
    messages: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Task(msgspec.Struct, frozen=True):
    """A conversation that an agent is to run.

    Fields:
        questions: the questions of the user, in order; each is answered before the next.
        tools: the tools that the model may call.
        prompt: id of the prompt that tells the model how to call tools (`conversation.prompts`).
        system: the application's system text; "" for a text that introduces a simple assistant.
        provider: the owner of the API, such as `dashscope`.
        dialect: the wire format of the API.
        uri: the address to which requests are sent.
        capabilities: the declared capabilities of the provider.
        send: sends a request to the provider.
        call_tool: executes a tool with arguments that fit its parameters.

    Raises, from `call_tool`:
        ToolFailed: the tool failed.
        KeyError: the application cannot run the tool, even if it offered it to the model.
    """

    questions: tuple[str, ...]
    tools: tuple[Tool, ...]
    send: Send
    call_tool: CallTool
    model: str = ""
    provider: str = ""
    dialect: str = "openai-chat"
    uri: str = ""
    prompt: str = DEFAULT_PROMPT
    system: str = ""
    capabilities: Capabilities = Capabilities()
    limits: Limits = Limits()
