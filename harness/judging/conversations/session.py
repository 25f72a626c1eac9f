"""Let an agent run a scripted conversation with a cassette, and record what it does.

Every request and every executed call goes through a session, which records it, so the harness does
not have to trust the agent. `run_agent` always returns: the record also states that an agent raised
an exception, never ended, or returned something else than a conversation. Only Ctrl-C passes
through.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import msgspec

from harness.conversation.agent import Agent
from harness.conversation.prompts import DEFAULT_PROMPT, PROMPTS
from harness.conversation.task import Reply, Task, ToolFailed
from harness.dialects.table import DIALECTS, offered_tools
from harness.judging.conversations.script import ConversationScript, MockAnswer
from harness.judging.replaying import NOTHING_RAISED, Raised, run_guarded
from harness.playback.delivery import Cut
from harness.playback.playback import Playback
from harness.providers import Capabilities, capabilities_of
from harness.results.conversation import Conversation
from harness.turns.arguments import same_value as same_text
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction, Request


def json_or_repr(value: object) -> str:
    """Return the JSON text of `value`, or its `repr` if it cannot be JSON."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return _repr_or_error(value)


def same_value(a: object, b: object) -> bool:
    """Return whether two values are the same JSON; `1`, `1.0` and `true` differ."""
    return same_text(json_or_repr(a), json_or_repr(b))


def _repr_or_error(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - of any type that an agent passes
        return f"<{type(value).__name__}: {type(error).__name__}>"


NO_ANSWER = "the scenario has no answer to these arguments"


class MockTools:
    """The mock tools of one conversation, with the answers of its script.

    A call gets the first unused answer for its arguments, else the first unused answer
    for any arguments. The last answer of each kind is used repeatedly. A delay is recorded,
    but the harness does not wait.
    """

    def __init__(self, answers: Mapping[str, Sequence[MockAnswer]]) -> None:
        self._left = {name: list(each) for name, each in answers.items()}

    def answer(self, name: str, arguments: dict[str, Any]) -> MockAnswer:
        """Return the answer of the tool called `name` to `arguments`.

        Raises:
            KeyError: there is no such tool.
        """
        answers = self._left[name]
        fitting = [each for each in answers if _has_arguments(each, arguments)]
        fitting = fitting or [each for each in answers if each.arguments is None]
        if not fitting:
            return MockAnswer(error=NO_ANSWER)
        if len(fitting) > 1:
            answers.remove(fitting[0])
        return fitting[0]


def _has_arguments(answer: MockAnswer, arguments: dict[str, Any]) -> bool:
    return answer.arguments is not None and same_value(answer.arguments, arguments)


class SessionLimits(msgspec.Struct, frozen=True):
    """The limits at which the harness stops a conversation; an agent's own limits are lower.

    Fields:
        seconds: the time for small bodies.
        seconds_per_megabyte: additional time for each megabyte of the cassette's bodies.
        requests: the number of requests beyond those that the task allows.
        calls: the number of tool calls.
    """

    seconds: float = 10.0
    seconds_per_megabyte: float = 30.0
    requests: int = 10
    calls: int = 200

    def time_for(self, cassette: Cassette) -> float:
        """Return the seconds that a conversation over `cassette` may take."""
        size = sum(len(interaction.body) for interaction in cassette.interactions)
        return self.seconds + self.seconds_per_megabyte * size / 1_000_000


DEFAULT_LIMITS = SessionLimits()


class SentRequest(msgspec.Struct, frozen=True):
    """A request of the agent, and the interaction that answered it.

    Fields:
        index: the index of the interaction in the cassette; None for a surplus request.
    """

    request: Request
    answer: Interaction
    index: int | None


class Execution(msgspec.Struct, frozen=True):
    """A call that the agent executed.

    Fields:
        after: how many requests the agent had sent before the call.
        arguments: the arguments as JSON.
        known: whether the tool exists.
        error: the error of the tool; "" if it did not fail.
        result: the tool's result, as JSON; "" if it failed.
    """

    after: int
    tool: str
    arguments: str
    known: bool = True
    error: str = ""
    result: str = ""


class SessionRecord(msgspec.Struct, frozen=True):
    """A record of what an agent did with a task: its requests, its calls and how it ended.

    Fields:
        sent: the requests.
        executions: the calls that the agent executed.
        conversation: the conversation that the agent returned; None if it returned none.
        error: the exception of the agent, as `Type: text`; "" if it raised none.
        raised: the type of the exception and the function that raised it.
        trace: the traceback of the exception.
        hung: the limit at which the harness stopped the agent; "" if it did not.
        unplayed: indexes of the interactions that were never requested.
    """

    sent: tuple[SentRequest, ...]
    executions: tuple[Execution, ...]
    conversation: Conversation | None = None
    error: str = ""
    hung: str = ""
    unplayed: tuple[int, ...] = ()
    raised: str = ""
    trace: str = ""


class StoppedError(BaseException):
    """The session raises this to stop an agent that does not end. An agent should not catch it."""


class Session:
    """A conversation in progress: it has the agent's task, and records requests and calls."""

    def __init__(
        self,
        cassette: Cassette,
        script: ConversationScript,
        tools: tuple[Tool, ...] | None = None,
        limits: SessionLimits = DEFAULT_LIMITS,
        cuts: Cut = Interaction.recorded_cuts,
    ) -> None:
        self.playback = Playback(cassette, cuts=cuts)
        self.task = _task(self, cassette, script, tools)
        self._mocks = MockTools(script.tools)
        self._most_calls = limits.calls
        rounds = script.limits.rounds * len(script.questions)
        self._most_requests = len(cassette.interactions) + rounds + limits.requests
        self._sent: list[SentRequest] = []
        self._executions: list[Execution] = []
        self.stopped = ""

    def send(self, request: Request) -> Reply:
        """Answer a request of the agent from the cassette.

        Raises:
            TypeError: `request` is not a `Request`.
        """
        if not isinstance(request, Request):
            raise TypeError(f"expected a Request, found {type(request).__name__}")
        if self.stopped or len(self._sent) >= self._most_requests:
            self._stop(f"more than {self._most_requests} requests")
        answered = self.playback.receive(request)
        answer = answered.answer
        self._sent.append(SentRequest(request, answer, answered.index))
        return Reply(answer.status, answer.headers, self._reads(answer))

    def _reads(self, answer: Interaction) -> Iterator[bytes]:
        yield from self.playback.reads(answer)
        if answer.broken:
            raise ConnectionError(f"recorded: the body ended as {answer.ended}")

    def call_tool(self, name: str, arguments: dict[str, Any]) -> object:
        """Return the result of a mock tool, and record the call.

        Raises:
            ToolFailed: the answer in the scenario is an error.
            KeyError: the scenario has no such tool.
        """
        if self.stopped or len(self._executions) >= self._most_calls:
            self._stop(f"more than {self._most_calls} calls")
        text = json_or_repr(arguments)
        try:
            answer = self._mocks.answer(name, arguments)
        except (KeyError, TypeError):  # a name may be of any type
            self._executions.append(Execution(len(self._sent), str(name), text, known=False))
            raise KeyError(name) from None
        error = answer.error or ""
        result = "" if error else json_or_repr(answer.result)
        self._executions.append(Execution(len(self._sent), name, text, error=error, result=result))
        if answer.error is not None:
            raise ToolFailed(answer.error)
        return deepcopy(answer.result)  # the agent may change it

    def record(
        self,
        conversation: Conversation | None = None,
        problem: Raised = NOTHING_RAISED,
        hung: str = "",
    ) -> SessionRecord:
        """Return a record of what the agent did.

        Args:
            conversation: what the agent returned; None if it returned none.
            problem: the exception that it raised.
            hung: the limit at which the harness stopped it; "" if it did not.
        """
        return SessionRecord(
            sent=tuple(self._sent),
            executions=tuple(self._executions),
            conversation=conversation,
            error=problem.error,
            hung=hung or self.stopped,
            unplayed=self.playback.unplayed(),
            raised=problem.raised,
            trace=problem.trace,
        )

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why
        raise StoppedError(self.stopped)


def run_agent(
    agent: Agent, session: Session, limits: SessionLimits = DEFAULT_LIMITS
) -> SessionRecord:
    """Let `agent` run the conversation of `session`, and return a record of what it did."""

    def converse() -> Conversation | None:
        try:
            return _checked_copy(agent.converse(session.task))
        except StoppedError:
            return None

    seconds = limits.time_for(session.playback.cassette)
    conversation, problem, expired = run_guarded(converse, seconds)
    return session.record(
        conversation, problem, f"more than {seconds:.0f} seconds" if expired else ""
    )


def _checked_copy(found: object) -> Conversation:
    """Return a validated copy of the conversation that the agent returned.

    Raises:
        TypeError: the agent returned something else.
    """
    if not isinstance(found, Conversation):
        raise TypeError(f"expected a Conversation, found {type(found).__name__}")
    try:
        return msgspec.convert(msgspec.to_builtins(found), Conversation)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise TypeError(f"the agent did not return a conversation: {error}") from None


def _task(
    session: Session, cassette: Cassette, script: ConversationScript, tools: tuple[Tool, ...] | None
) -> Task:
    first = cassette.interactions[0]
    provider = script.provider or cassette.provider
    return Task(
        questions=script.questions,
        tools=tools_of_cassette(cassette) if tools is None else tools,
        send=session.send,
        call_tool=session.call_tool,
        model=cassette.model,
        provider=provider,
        dialect=cassette.dialect,
        uri=first.request.uri,
        prompt=prompt_id(script, cassette),
        system=script.system,
        capabilities=script_capabilities(script, cassette),
        limits=script.limits,
    )


def prompt_id(script: ConversationScript, cassette: Cassette) -> str:
    """Return the prompt's id: of the script, else of the cassette, else that for native tools."""
    return script.prompt or (cassette.prompt if cassette.prompt in PROMPTS else DEFAULT_PROMPT)


def script_capabilities(script: ConversationScript, cassette: Cassette) -> Capabilities:
    """Return the capabilities of the provider, with the changes of the script."""
    row = DIALECTS.get(cassette.dialect)
    pattern = row.id_pattern if row else ""
    declared = capabilities_of(script.provider or cassette.provider, pattern)
    merged = {**msgspec.structs.asdict(declared), **script.capabilities}
    return msgspec.convert(merged, Capabilities)


def tools_of_cassette(cassette: Cassette) -> tuple[Tool, ...]:
    """Return the tools of the last recorded request that declares any; () if none does."""
    listed = map(offered_tools, reversed(cassette.interactions))
    return next(filter(None, listed), ())
