"""What a conversation scenario says: who asks what, what the tools answer, what must come.

Written by hand from the bytes' meaning, or read off a recording; never taken from an agent.
What an expectation leaves open is None.
"""

from typing import Any, Literal, TypeAlias

import msgspec

from harness.conversation.conversation import Ending, Strategy
from harness.conversation.task import Limits
from harness.turns.calls import Mode

# How a probe ended: it was not sent, the provider takes tools, it does not, it failed.
ProbeEnd = Literal["none", "ok", "no", "error"]
Arguments: TypeAlias = dict[str, Any]


class MockAnswer(msgspec.Struct, frozen=True):
    """What a tool answers.

    Fields:
        result: any value of JSON.
        error: why there is no result; None where there is one.
        arguments: the only ones that it answers; None for any.
        delay_ms: how long the tool would have taken; nobody waits.
    """

    result: Any = None
    error: str | None = None
    arguments: Arguments | None = None
    delay_ms: int = 0


class ExpectedExecution(msgspec.Struct, frozen=True):
    """A call that must be executed; arguments are compared by value, None is any."""

    tool: str
    arguments: Arguments | None = None


class ExpectedReport(msgspec.Struct, frozen=True):
    """A parse_error that must be reported; what is empty is left open.

    Fields:
        snippet: a part of the raw text.
    """

    name: str = ""
    snippet: str = ""
    mode: Mode | None = None


class ExpectedAnswer(msgspec.Struct, frozen=True):
    """The answer: all of it, or the parts that it must contain."""

    exact: str | None = None
    contains: tuple[str, ...] = ()


class ExpectedRequest(msgspec.Struct, frozen=True):
    """What one request must look like; what is None is left open.

    Fields:
        roles: of all its messages.
        last_role: of the last one.
        says: parts of the text of the last message.
        has_tools: whether its own field declares tools.
        tools: their names, in order.
        fields: members of its body, compared by value; null also where there is no such key.
    """

    roles: tuple[str, ...] | None = None
    last_role: str | None = None
    says: tuple[str, ...] = ()
    has_tools: bool | None = None
    tools: tuple[str, ...] | None = None
    fields: dict[str, Any] = msgspec.field(default_factory=dict)


class ConversationExpected(msgspec.Struct, frozen=True):
    """What must come out of a conversation.

    Fields:
        ending: None is open.
        executed: the calls, in order, and no others; None is open.
        parse_errors: reported ones, or only how many; None is open.
        retries: compensating requests.
        request_count: None for one to each interaction of the cassette.
        requests: one for each request; () leaves them open.
        strategy: of every turn that has one; None is open.
        probe: None is open.
    """

    ending: Ending | None
    answer: ExpectedAnswer = ExpectedAnswer()
    executed: tuple[ExpectedExecution, ...] | None = ()
    parse_errors: tuple[ExpectedReport, ...] | int | None = 0
    retries: int = 0
    request_count: int | None = None
    requests: tuple[ExpectedRequest, ...] = ()
    strategy: Strategy | None = None
    probe: ProbeEnd | None = None


class ConversationScript(msgspec.Struct, frozen=True):
    """The key `conversation` of a scenario.

    Fields:
        questions: of the user, one after the other.
        tools: name -> what the tool answers, tried in order (`session.MockTools`).
        prompt: id of the prompt to ask with; "" for the cassette's own.
        system: the application's own system text.
        provider: whose capabilities count; "" for the cassette's.
        capabilities: those that are otherwise than declared of the provider; valid ones.
        recorded: where the script was read off a recording, the messages of each of its
            requests, in OpenAI's form.
    """

    questions: tuple[str, ...]
    expect: ConversationExpected
    tools: dict[str, tuple[MockAnswer, ...]] = msgspec.field(default_factory=dict)
    prompt: str = ""
    system: str = ""
    provider: str = ""
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    recorded: tuple[tuple[object, ...], ...] = ()
