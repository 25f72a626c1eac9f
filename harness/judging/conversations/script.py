"""The key `conversation` of a scenario: the questions, the tools' answers, the expected result.

An author writes it from the meaning of the bytes, or it comes from a recording; it never comes
from an agent. A field of an expected result that is None is not judged. The keys of the file are
the structs whose base is `File`. An error names the key that is wrong.
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
    """The answer of a tool, a `result` or an `error`, to any arguments or to given ones.

    Fields:
        result: any value of JSON.
        error: why there is no result; None if there is one.
        arguments: the only arguments that it answers; None for any.
        delay_ms: how long the tool would have taken; the harness does not wait.
    """

    result: Any = _MISSING
    error: Text | None = None
    arguments: Arguments | None = None
    delay_ms: Count = 0


class ExpectedExecution(File, frozen=True):
    """A call that must be executed; `arguments` are compared by value, null is any."""

    tool: Text
    arguments: Arguments | None = None


class ExpectedReport(File, frozen=True):
    """A parse error that the agent must report.

    Fields:
        name: the exact name; "" if the call has none, None for any.
        snippet: a part of the raw text.
    """

    name: str | None = None
    snippet: str = ""
    mode: Mode | None = None


class ConversationExpected(File, frozen=True):
    """The expected result of a conversation.

    Fields:
        answer: the complete text of the answer, or conditions for it.
        executed: the executed calls, in order, and no others.
        parse_errors: the reported parse errors, or only how many.
        retries: the number of compensating requests.
        requests: conditions for each request, or only how many; null for as many as the cassette
            has interactions.
        history: the messages at the end, as the agent would send them next.
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
        """The conditions for each request; () if that is not judged."""
        return self.requests if isinstance(self.requests, tuple) else ()

    @property
    def request_count(self) -> int | None:
        """The expected number of requests; None for one to each interaction."""
        return (
            self.requests if isinstance(self.requests, int) else len(self.listed_requests) or None
        )


class ConversationExpectFile(ConversationExpected, frozen=True):
    """The expected result that an author writes: ending and calls are always judged."""

    ending: Ending
    executed: tuple[ExpectedExecution, ...] = ()


class ConversationFile(File, frozen=True):
    """A conversation: the user's questions, the tools' answers, the expected result."""

    questions: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    expect: ConversationExpectFile
    tools: dict[str, MockAnswer | tuple[MockAnswer, ...]] = msgspec.field(default_factory=dict)
    prompt: str = ""
    system: str = ""
    provider: str = ""
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()


class ConversationScript(msgspec.Struct, frozen=True):
    """A conversation to run.

    Fields:
        questions: the user's questions, in order.
        tools: name -> the answers of the tool, tried in order (`session.MockTools`).
        prompt: id of the prompt to use; "" for the cassette's own.
        system: the application's system text.
        provider: the provider whose capabilities count; "" for the cassette's.
        capabilities: those that differ from the provider's declared ones; valid ones.
        recorded: if the script comes from a recording, the messages of each of its requests, in
            OpenAI's form.
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
    """Return the script in a file.

    Args:
        file: the value of the key `conversation`.
        where: the scenario file, for errors.

    Raises:
        UnreadableError: a value in it is not possible.
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
