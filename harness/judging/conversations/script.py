"""What a conversation scenario says: who asks what, what the tools answer, what must come.

Written by hand from the bytes' meaning, or read off a recording; never taken from an agent.
What an expectation leaves open is None.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from harness.conversation.conversation import Ending, Strategy
from harness.conversation.prompts import PROMPTS
from harness.conversation.task import Limits
from harness.errors import UnreadableError
from harness.files.typed import File, Text, convert, require_json
from harness.judging.policies import require_name
from harness.providers import Capabilities
from harness.turns.deltas import Mode

# How a probe ended: it was not sent, the provider takes tools, it does not, it failed.
ProbeResult = Literal["none", "ok", "no", "error"]
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
    probe: ProbeResult | None = None


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


_Count = Annotated[int, msgspec.Meta(ge=0)]
_Role = Literal["system", "developer", "user", "assistant", "tool"]
# Stands for a key that is not there, where null is a value.
_MISSING: Final[Any] = msgspec.UNSET


class AnswerFile(File, frozen=True):
    """What a tool answers: a `result` or an `error`, to any arguments or to these."""

    result: Any = _MISSING
    error: Text | None = None
    arguments: dict[str, Any] | None = None
    delay_ms: _Count = 0


class LimitsFile(File, frozen=True):
    """Where the agent must stop; what is left out is as everywhere."""

    rounds: Annotated[int, msgspec.Meta(ge=1)] = Limits().rounds
    identical_calls: Annotated[int, msgspec.Meta(ge=1)] = Limits().identical_calls
    retries: _Count = Limits().retries
    messages: Annotated[int, msgspec.Meta(ge=1)] | None = Limits().messages


class ExecutionFile(File, frozen=True):
    """A call that must be executed; without `arguments`, whatever they are."""

    tool: Text
    arguments: dict[str, Any] | None = None


class ReportFile(File, frozen=True):
    """A parse_error that must be reported; `snippet` is a part of the raw text."""

    name: str = ""
    snippet: str = ""
    mode: Mode | None = None


class ContainsFile(File, frozen=True):
    """An answer of which only parts are fixed."""

    contains: Text | Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


class RequestFile(File, frozen=True):
    """What one request must look like; what is left out is open."""

    roles: tuple[_Role, ...] | None = None
    last_role: _Role | None = None
    says: str | tuple[Text, ...] = ()
    has_tools: bool | None = None
    tools: tuple[Text, ...] | None = None
    fields: dict[str, Any] = msgspec.field(default_factory=dict)


class ConversationExpectFile(File, frozen=True):
    """What must come out of the conversation."""

    ending: Ending
    answer: str | ContainsFile | None = None
    executed: tuple[ExecutionFile, ...] = ()
    parse_errors: _Count | tuple[ReportFile, ...] | Literal["any"] = 0
    retries: _Count = 0
    requests: _Count | tuple[RequestFile, ...] | None = None
    strategy: Strategy | None = None
    probe: ProbeResult | None = None


class ConversationFile(File, frozen=True):
    """A conversation: what the user asks, what the tools answer, what must come of it."""

    questions: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    expect: ConversationExpectFile
    tools: dict[str, AnswerFile | tuple[AnswerFile, ...]] = msgspec.field(default_factory=dict)
    prompt: str = ""
    system: str = ""
    provider: str = ""
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    limits: LimitsFile = LimitsFile()


def script_from_file(file: ConversationFile, where: str) -> ConversationScript:
    """Return what `file` says.

    Args:
        file: the value of the key `conversation`.
        where: the scenario file, for errors.

    Raises:
        UnreadableError: something in it cannot be meant.
    """
    tools = {
        name: tuple(_iter_mock_answers(name, each, where)) for name, each in file.tools.items()
    }
    expect = _expected_conversation(file.expect, tools, where)
    _require_capabilities(file.capabilities, where)
    if file.prompt:
        problem = "conversation.prompt: there is no prompt"
        require_name(file.prompt, tuple(PROMPTS), problem, where)
    return ConversationScript(
        questions=file.questions,
        expect=expect,
        tools=tools,
        prompt=file.prompt,
        system=file.system,
        provider=file.provider,
        capabilities=file.capabilities,
        limits=Limits(**msgspec.structs.asdict(file.limits)),
    )


def _iter_mock_answers(
    name: str, file: AnswerFile | tuple[AnswerFile, ...], where: str
) -> Iterator[MockAnswer]:
    single = isinstance(file, AnswerFile)
    listed: tuple[AnswerFile, ...] = (file,) if isinstance(file, AnswerFile) else file
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
        result = None if answer.result is _MISSING else answer.result
        require_json(result, f"{path}.result", where)
        require_json(answer.arguments, f"{path}.arguments", where)
        yield MockAnswer(result, answer.error, answer.arguments, answer.delay_ms)


def _expected_conversation(
    file: ConversationExpectFile, tools: Mapping[str, object], where: str
) -> ConversationExpected:
    for number, call in enumerate(file.executed):
        path = f"conversation.expect.executed[{number}]"
        problem = f"{path}.tool: conversation.tools has no"
        require_name(call.tool, tuple(tools), problem, where)
        require_json(call.arguments, f"{path}.arguments", where)
    listed = () if file.requests is None or isinstance(file.requests, int) else file.requests
    for number, request in enumerate(listed):
        require_json(request.fields, f"conversation.expect.requests[{number}].fields", where)
    count = file.requests if isinstance(file.requests, int) else len(listed) or None
    return ConversationExpected(
        ending=file.ending,
        answer=_expected_answer(file.answer),
        executed=tuple(ExpectedExecution(each.tool, each.arguments) for each in file.executed),
        parse_errors=_expected_reports(file.parse_errors),
        retries=file.retries,
        request_count=count,
        requests=tuple(map(_expected_request, listed)),
        strategy=file.strategy,
        probe=file.probe,
    )


def _expected_answer(file: str | ContainsFile | None) -> ExpectedAnswer:
    if isinstance(file, ContainsFile):
        return ExpectedAnswer(contains=_texts(file.contains))
    return ExpectedAnswer(exact=file)


def _expected_reports(
    file: int | tuple[ReportFile, ...] | str,
) -> int | tuple[ExpectedReport, ...] | None:
    if isinstance(file, str):  # any
        return None
    if isinstance(file, int):
        return file
    return tuple(ExpectedReport(each.name, each.snippet, each.mode) for each in file)


def _expected_request(file: RequestFile) -> ExpectedRequest:
    return ExpectedRequest(
        roles=file.roles,
        last_role=file.last_role,
        says=_texts(file.says),
        has_tools=file.has_tools,
        tools=file.tools,
        fields=file.fields,
    )


def _texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _require_capabilities(said: Mapping[str, Any], where: str) -> None:
    problem = "conversation.capabilities: there is no capability"
    for name, value in said.items():
        require_name(name, Capabilities.__struct_fields__, problem, where)
        try:
            re.compile(convert({name: value}, Capabilities, where).tool_id_pattern)
        except UnreadableError as error:
            what = f"conversation.capabilities.{error.what}"
            raise UnreadableError(what, where=where, hint=error.hint) from None
        except re.error as error:
            what = f"conversation.capabilities.{name}: {error}"
            raise UnreadableError(what, where=where) from None
