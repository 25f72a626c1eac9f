"""A cassette and a script -> the task that an agent is given, and what it really did with it.

Every request and every executed call goes through here and is kept, so the agent need not be
trusted. Whatever it does, `hold` comes back: an agent that raises, that never ends or that
returns what is no conversation is a fact of the record. Only Ctrl-C passes through.
"""

from typing import Any

import msgspec

from harness.conversation.agent import Agent
from harness.conversation.capabilities import Capabilities, capabilities_of
from harness.conversation.conversation import Conversation
from harness.conversation.prompts import PROMPTS
from harness.conversation.task import Reply, Task
from harness.judging.conversations.mock_tools import MockTools, given
from harness.judging.conversations.script import ConversationScript
from harness.judging.conversations.values import as_text
from harness.judging.deadline import DeadlineExceeded, deadline, disarm
from harness.judging.replaying import told
from harness.normalizers.respond import offered_tools
from harness.playback.playback import Cut, Playback
from harness.turns.tools import Tool
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction, Request

_NATIVE = "native-tools/v1"


class SessionLimits(msgspec.Struct, frozen=True):
    """What one conversation may take before it is stopped; an agent's own limits are lower.

    Fields:
        seconds: for small bodies.
        seconds_per_megabyte: added for larger ones.
        requests: beyond those that the task allows.
        calls: of tools.
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


class Sent(msgspec.Struct, frozen=True):
    """A request of the agent, and what answered it.

    Fields:
        place: the interaction's place in the cassette; None for a surplus request.
    """

    request: Request
    answer: Interaction
    place: int | None


class Execution(msgspec.Struct, frozen=True):
    """A call that the agent had run.

    Fields:
        after: how many requests it had sent by then.
        arguments: as JSON.
        known: whether there is such a tool.
        error: what the tool failed with; "" where it did not.
    """

    after: int
    tool: str
    arguments: str
    known: bool = True
    error: str = ""


class Record(msgspec.Struct, frozen=True):
    """What an agent did with a task.

    Fields:
        conversation: what it gave back; None where it did not.
        error: what it raised, `Type: text`; "" where it did not.
        hung: the limit that stopped it; "" where none did.
        unplayed: places of the interactions that nobody asked for.
    """

    sent: tuple[Sent, ...]
    executions: tuple[Execution, ...]
    conversation: Conversation | None = None
    error: str = ""
    hung: str = ""
    unplayed: tuple[int, ...] = ()


class StoppedError(BaseException):
    """The session is over for an agent that does not end; no error that it should catch."""


class Session:
    """One conversation under way: gives the task, and keeps what goes through it."""

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
        self._sent: list[Sent] = []
        self._executions: list[Execution] = []
        self.stopped = ""

    def send(self, request: Request) -> Reply:
        """Answer a request of the agent from the cassette.

        Raises:
            TypeError: it is no request.
        """
        if not isinstance(request, Request):
            raise TypeError(f"expected a Request, found {type(request).__name__}")
        if self.stopped or len(self._sent) >= self._most_requests:
            self._stop(f"more than {self._most_requests} requests")
        exchange = self.playback.exchange(request)
        answer = exchange.answer
        self._sent.append(Sent(request, answer, exchange.place))
        return Reply(answer.status, answer.headers, self.playback.reads(answer))

    def call_tool(self, name: str, arguments: dict[str, Any]) -> object:
        """Run a mock tool.

        Raises:
            ToolFailed: the scenario says so.
            KeyError: the scenario has no such tool.
        """
        if self.stopped or len(self._executions) >= self._most_calls:
            self._stop(f"more than {self._most_calls} calls")
        text = as_text(arguments)
        try:
            answer = self._mocks.answer(name, arguments)
        except (KeyError, TypeError):  # a name may be of any type
            self._executions.append(Execution(len(self._sent), str(name), text, known=False))
            raise KeyError(name) from None
        error = answer.error or ""
        self._executions.append(Execution(len(self._sent), name, text, error=error))
        return given(answer)

    def record(
        self, conversation: Conversation | None = None, error: str = "", hung: str = ""
    ) -> Record:
        """Return what happened so far, and how it ended."""
        return Record(
            sent=tuple(self._sent),
            executions=tuple(self._executions),
            conversation=conversation,
            error=error,
            hung=hung or self.stopped,
            unplayed=self.playback.unplayed(),
        )

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why
        raise StoppedError(self.stopped)


def hold(agent: Agent, session: Session, limits: SessionLimits = DEFAULT_LIMITS) -> Record:
    """Let `agent` have the conversation of `session`, and return what it did."""
    conversation: Conversation | None = None
    error, hung = "", ""
    seconds = limits.time_for(session.playback.cassette)
    try:
        with deadline(seconds):
            try:
                conversation = _snapshot(agent.converse(session.task))
            except (DeadlineExceeded, KeyboardInterrupt):
                raise
            except StoppedError as stopped:
                hung = str(stopped)
            except BaseException as problem:  # noqa: BLE001 - what an agent raises is an outcome, sys.exit too
                error = told(problem)
    except DeadlineExceeded:
        hung = f"more than {seconds:.0f} seconds"
    finally:
        disarm()
    return session.record(conversation, error, hung)


def _snapshot(found: object) -> Conversation:
    """Return what the agent gave back, checked and apart from all that it still holds.

    Raises:
        TypeError: it is no conversation.
    """
    if not isinstance(found, Conversation):
        raise TypeError(f"expected a Conversation, found {type(found).__name__}")
    try:
        return msgspec.convert(msgspec.to_builtins(found), Conversation)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise TypeError(f"what came back is no conversation: {error}") from None


def _task(
    session: Session, cassette: Cassette, script: ConversationScript, tools: tuple[Tool, ...] | None
) -> Task:
    first = cassette.interactions[0]
    provider = script.provider or cassette.provider
    return Task(
        questions=script.questions,
        tools=offered(cassette) if tools is None else tools,
        send=session.send,
        call_tool=session.call_tool,
        model=cassette.model,
        provider=provider,
        dialect=cassette.dialect,
        uri=first.request.uri,
        prompt=prompt_of(script, cassette),
        system=script.system,
        capabilities=capabilities(script, cassette),
        limits=script.limits,
    )


def prompt_of(script: ConversationScript, cassette: Cassette) -> str:
    """Return the id of the prompt to ask with: the script's, the cassette's, or the plain one."""
    return script.prompt or (cassette.prompt if cassette.prompt in PROMPTS else _NATIVE)


def capabilities(script: ConversationScript, cassette: Cassette) -> Capabilities:
    """Return what is declared of the provider, with what the script says otherwise."""
    declared = capabilities_of(script.provider or cassette.provider, cassette.dialect)
    said = {**msgspec.structs.asdict(declared), **script.capabilities}
    return msgspec.convert(said, Capabilities)


def offered(cassette: Cassette) -> tuple[Tool, ...]:
    """Return the tools of the last request that offers any, since a probe comes first."""
    listed = map(offered_tools, reversed(cassette.interactions))
    return next(filter(None, listed), ())
