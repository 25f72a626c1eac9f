"""Define the key `conversation` of a scenario: questions, answers of tools, expected result.

It comes from an author or from a recording, never from an agent. If a field of an expected result
is None, it is not judged. The structs with the base `File` are the keys of the file. An error
names the wrong key.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import asdict

from harness.conversation.prompts import PROMPTS
from harness.conversation.task import Limits
from harness.errors import UnreadableError
from harness.files.typed import File, Text, convert, require_json
from harness.judging.conversations.expected_request import (
    Count,
    ExpectedMessages,
    ExpectedRequest,
    ExpectedText,
    require_pointers,
    require_request,
)
from harness.judging.policies import require_name
from harness.providers import Capabilities
from harness.results.conversation import Ending, Strategy
from harness.turns.deltas import Mode

# How a probe ended: not sent, the provider accepts tools, it does not, the probe failed.
ProbeResult = Literal["none", "ok", "no", "error"]
Arguments: TypeAlias = dict[str, Any]

# The value of a missing key, because null is a result.
_MISSING: Final[Any] = msgspec.UNSET


class MockAnswer(File, frozen=True):
    """The answer of a mock tool, a `result` or an `error`, to any arguments or to certain ones.

    Fields:
        result: the result, any JSON value.
        error: why the tool fails; None if it returns a result.
        arguments: the only arguments that get this answer; None for any arguments.
        delay_ms: how long the tool would have taken; the harness does not wait.
    """

    result: Any = _MISSING
    error: Text | None = None
    arguments: Arguments | None = None
    delay_ms: Count = 0


class ExpectedExecution(File, frozen=True):
    """A call that the agent must execute. Arguments are compared by value; null means any."""

    tool: Text
    arguments: Arguments | None = None


class ExpectedReport(File, frozen=True):
    """A parse error that the agent must report.

    Fields:
        name: the exact name; "" if the call has none, None for any.
        snippet: a part of the raw text of the call.
        mode: whether the API's field or the text contained the call; None for either.
    """

    name: str | None = None
    snippet: str = ""
    mode: Mode | None = None


class ConversationExpected(File, frozen=True):
    """The expected result of a conversation.

    Fields:
        answer: the complete text of the answer, or conditions for it.
        executed: the calls that the agent executes, in order, and no others.
        parse_errors: the parse errors that the agent reports, or only their number.
        retries: the number of requests that the agent sends again after an unusable reply.
        requests: conditions for each request, or only their number; null for one request for each
            interaction of the cassette.
        history: conditions for the messages at the end, as the agent would send them next.
        strategy: the strategy of every turn that has one.
    """

    ending: Ending | None
    answer: str | ExpectedText | None = None
    executed: tuple[ExpectedExecution, ...] | None = ()
    parse_errors: Count | tuple[ExpectedReport, ...] | Literal["any"] = 0
    retries: Count = 0
    requests: Count | tuple[ExpectedRequest, ...] | None = None
    history: ExpectedMessages | None = None
    strategy: Strategy | None = None
    probe: ProbeResult | None = None

    @property
    def listed_requests(self) -> tuple[ExpectedRequest, ...]:
        """The conditions for each request; () if there are none."""
        return self.requests if isinstance(self.requests, tuple) else ()

    @property
    def request_count(self) -> int | None:
        """The expected number of requests; None for one for each interaction."""
        return (
            self.requests if isinstance(self.requests, int) else len(self.listed_requests) or None
        )


class ConversationExpectFile(ConversationExpected, frozen=True):
    """The expected result that an author writes. Ending and calls are always judged."""

    ending: Ending
    executed: tuple[ExpectedExecution, ...] = ()


class ConversationFile(File, frozen=True):
    """The key `conversation` of a file: the questions, the tools' answers, the expected result."""

    questions: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    expect: ConversationExpectFile
    tools: dict[str, MockAnswer | tuple[MockAnswer, ...]] = msgspec.field(default_factory=dict)
    prompt: str = ""
    system: str = ""
    provider: str = ""
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()


class ConversationScript(msgspec.Struct, frozen=True):
    """The script of a conversation that an agent runs.

    Fields:
        questions: the user's questions, in order.
        tools: name -> the answers of the mock tool, tried in order (see `session.MockTools`).
        prompt: the id of the prompt to use; "" for the prompt of the cassette.
        system: the application's system text.
        provider: the provider whose capabilities apply; "" for the provider of the cassette.
        capabilities: the capabilities that differ from what the provider declares.
        recorded: if the script comes from a recording, the messages of each recorded request, in
            the format of OpenAI.
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


def script_from_file(file: ConversationFile, where: str) -> ConversationScript:
    """Return the script that a scenario file contains.

    Args:
        file: the value of the key `conversation`.
        where: the scenario file, for errors.

    Raises:
        UnreadableError: a value in `file` is not possible.
    """
    tools = {name: _mock_answers(name, each, where) for name, each in file.tools.items()}
    _check_expected(file.expect, tools, where)
    _require_capabilities(file.capabilities, where)
    if file.prompt:
        problem = "conversation.prompt: there is no prompt"
        require_name(file.prompt, tuple(PROMPTS), problem, where)
    return ConversationScript(**{**asdict(file), "tools": tools})


def _mock_answers(
    name: str, file: MockAnswer | tuple[MockAnswer, ...], where: str
) -> tuple[MockAnswer, ...]:
    single = isinstance(file, MockAnswer)
    listed = (file,) if isinstance(file, MockAnswer) else file
    if not listed:
        raise UnreadableError(f"conversation.tools.{name}: the list is empty", where=where)
    for number, answer in enumerate(listed):
        path = f"conversation.tools.{name}" + ("" if single else f"[{number}]")
        if (answer.result is _MISSING) == (answer.error is None):
            raise UnreadableError(
                f"{path}: expected either `result` or `error`",
                where=where,
                hint="a tool that returns nothing has `result: null`",
            )
        if answer.error is None:
            require_json(answer.result, f"{path}.result", where)
        require_json(answer.arguments, f"{path}.arguments", where)
    return listed


def _check_expected(file: ConversationExpectFile, tools: Mapping[str, object], where: str) -> None:
    for number, call in enumerate(file.executed):
        path = f"conversation.expect.executed[{number}]"
        problem = f"{path}.tool: conversation.tools has no"
        require_name(call.tool, tuple(tools), problem, where)
        require_json(call.arguments, f"{path}.arguments", where)
    for number, request in enumerate(file.listed_requests):
        require_request(request, f"conversation.expect.requests[{number}]", where)
    if file.history is not None:
        require_pointers(file.history, ("texts",), "conversation.expect.history", where)


def _require_capabilities(declared: Mapping[str, Any], where: str) -> None:
    problem = "conversation.capabilities: there is no capability"
    for name, value in declared.items():
        require_name(name, Capabilities.__struct_fields__, problem, where)
        try:
            re.compile(convert({name: value}, Capabilities, where).tool_id_pattern)
        except UnreadableError as error:
            what = f"conversation.capabilities.{error.what}"
            raise UnreadableError(what, where=where, hint=error.hint) from None
        except re.error as error:
            what = f"conversation.capabilities.{name}: {error}"
            raise UnreadableError(what, where=where) from None
