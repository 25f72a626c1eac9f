"""Define the evidence for rules about conversations: an agent's requests, calls and history."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar, Final

import msgspec
from msgspec.structs import replace

from harness.conversation.agent import HiddenOfAgent
from harness.conversation.history.check import Problem, history_problems
from harness.conversation.task import Task
from harness.dialects.kit.parse_request import (
    REASONING_FIELD,
    SYSTEM_ROLES,
    Json,
    MessageForm,
)
from harness.dialects.table import message_form, read_request, request_body
from harness.judging.conversations.history_difference import HistoryDifference, history_differences
from harness.judging.conversations.oracle_reply import OracleReply, oracle_reply
from harness.judging.conversations.script import ConversationScript, ExpectedExecution
from harness.judging.conversations.session import (
    Execution,
    SentRequest,
    SessionRecord,
    json_or_repr,
)
from harness.judging.repairs import is_demanded
from harness.judging.rule import RuleMaker
from harness.project import ClientKind
from harness.providers import Capabilities
from harness.results.conversation import TurnRecord
from harness.results.finding import Came
from harness.turns.arguments import meaning, same_value
from harness.turns.messages import role_of, text_of
from harness.turns.schema_check import Checker
from harness.turns.turn import Tool

FINAL_HISTORY: Final = "history"
_CHECKER: Final = Checker()


class RequestEvidence(msgspec.Struct, frozen=True):
    """A request of the agent, parsed for the rules, and the oracle's reading of the reply.

    Fields:
        sent: the request, and the interaction that answered it.
        body: the JSON object in the request; {} if the body is not an object.
        messages: the messages of the request in the format of OpenAI.
        tools: the names of the declared tools; None if the request declares none.
        declared: the declared functions, with description and parameters.
        reply: the oracle's reading of the reply.
    """

    sent: SentRequest
    body: Json
    messages: tuple[object, ...]
    tools: tuple[str, ...] | None
    declared: tuple[Tool, ...]
    reply: OracleReply

    @property
    def system(self) -> str:
        """The text of all system and developer messages, with an empty line between them."""
        texts = (text_of(each) for each in self.messages if role_of(each) in SYSTEM_ROLES)
        return "\n\n".join(texts)


class CallMatches(msgspec.Struct, frozen=True):
    """Which executed calls correspond to which expected calls, by their indexes.

    Fields:
        pairs: (expected, executed) for equal calls.
        changed: (expected, executed) for calls of one tool with different arguments.
        lost: expected calls that were not executed.
        surplus: executed calls that were not expected.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    changed: tuple[tuple[int, int], ...] = ()
    lost: tuple[int, ...] = ()
    surplus: tuple[int, ...] = ()


class ConversationEvidence(msgspec.Struct, frozen=True, dict=True):
    """All data that a rule about conversations may use.

    Fields:
        script: the scenario's questions, tools and expected result.
        task: what the agent was given.
        record: what the agent did.
        interactions: the number of interactions in the cassette.
        others: label -> what the agent did in another run, such as with other reads.
        hides: the fields that the agent does not expose.
        policies: the policies of the agent.
        foreign: whether the agent is not of this repository.
        unsent: whether no server is known to send the replies, and the agent is not of this
            repository.
    """

    script: ConversationScript
    task: Task
    record: SessionRecord
    interactions: int
    others: dict[str, SessionRecord] = {}
    hides: frozenset[HiddenOfAgent] = frozenset()
    policies: Mapping[str, str] = {}
    foreign: bool = False
    unsent: bool = False
    # Rules about conversations look at what the script expects themselves.
    judged: ClassVar[tuple[str, ...]] = ()
    # The paths of findings start at the conversation.
    prefix: ClassVar[str] = ""
    kind: ClassVar[ClientKind] = "agent"
    form: ClassVar[Came] = ""

    @property
    def stopped(self) -> bool:
        """Whether the agent raised an exception or exceeded a limit."""
        return bool(self.record.error or self.record.hung)

    def accepts_id(self, call_id: str) -> bool:
        """Return whether the provider accepts `call_id` unchanged."""
        pattern = self.task.capabilities.tool_id_pattern
        return not pattern or re.fullmatch(pattern, call_id) is not None

    @property
    def own_design(self) -> Came:
        """`own-design` for an agent of another project; "" for an agent of this repository.

        The scenarios specify sentences, limits and names that the documents of this repository's
        agents contain. The API and the documentation of another agent do not demand them.
        """
        return "own-design" if self.foreign else ""

    def came_of_id(self, call_id: str) -> Came:
        """Return `as-sent` if an agent of another project sends back an id of the endpoint."""
        if not self.foreign or not call_id:
            return ""
        replies = (request.reply.calls or () for request in self.requests)
        return "as-sent" if any(it.id == call_id for calls in replies for it in calls) else ""

    @property
    def records(self) -> tuple[TurnRecord, ...]:
        """The agent's own records of its turns; () if it returned no conversation."""
        return self.record.conversation.turns if self.record.conversation else ()

    @property
    def probes(self) -> int:
        """The number of requests before the user's conversation that tested for tool support."""
        return sum(record.meta.probe is not None for record in self.records)

    @cached_property
    def requests(self) -> tuple[RequestEvidence, ...]:
        """All requests of the agent, in order."""
        return tuple(_request_evidence(self.task.dialect, sent) for sent in self.record.sent)

    @cached_property
    def executions(self) -> tuple[Execution, ...]:
        """The executed calls of tools that exist, in order."""
        return tuple(each for each in self.record.executions if each.known)

    @cached_property
    def forbidden(self) -> dict[int, str]:
        """Index in `executions` -> why no complete turn allows the call, for each such call."""
        return dict(_iter_forbidden(self.requests, self.executions))

    @cached_property
    def repaired(self) -> dict[int, str]:
        """Index in `executions` of a repaired call -> the arguments that the model sent.

        A repair counts only if the agent reports it in its record of the turn, and the schema of
        the tool requires it.
        """
        return dict(_iter_repaired(self))

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the messages in all requests and in the final history, each once.

        The path of a problem starts with the request in which it appeared first.
        """
        return tuple(_iter_history_problems(self))

    @cached_property
    def differences(self) -> dict[int, tuple[HistoryDifference, ...]]:
        """Index of a request -> differences in structure from the recorded request.

        It has the requests after the first reply; it is empty if an author wrote the script.
        """
        known_ids = {call.id for each in self.requests for call in each.reply.calls or ()} - {""}
        recorded = self.script.recorded
        return {
            number: history_differences(recorded[each.sent.index], each.messages, known_ids)
            for number, each in enumerate(self.requests)
            if each.sent.index and recorded
        }

    @property
    def expected_calls(self) -> tuple[ExpectedExecution, ...]:
        """The calls that the agent must execute; () if that is not judged."""
        return self.script.expect.executed or ()

    @cached_property
    def matches(self) -> CallMatches:
        """Which executed calls correspond to expected calls: equal ones first, then of one tool.

        If the script does not state which calls must be executed, all fields are empty.
        """
        if self.script.expect.executed is None:
            return CallMatches()
        left = [index for index in range(len(self.executions)) if index not in self.forbidden]
        pairs, changed = [], []
        for at, expected in enumerate(self.expected_calls):
            found = next((i for i in left if _is_same(expected, self.executions[i])), None)
            if found is not None:
                pairs.append((at, found))
                left.remove(found)
        matched = {at for at, _ in pairs}
        for at, expected in enumerate(self.expected_calls):
            others = (i for i in left if self.executions[i].tool == expected.tool)
            found = None if at in matched else next(others, None)
            if found is not None:
                changed.append((at, found))
                left.remove(found)
        matched |= {at for at, _ in changed}
        lost = tuple(at for at in range(len(self.expected_calls)) if at not in matched)
        surplus = tuple(index for index in left if index not in self.repaired)
        return CallMatches(tuple(pairs), tuple(changed), lost, surplus)


conversation_rule = RuleMaker[ConversationEvidence]()


def _request_evidence(dialect: str, sent: SentRequest) -> RequestEvidence:
    body = request_body(sent.request.body) or {}
    return RequestEvidence(
        sent=sent,
        body=body,
        messages=message_form(dialect).messages_of(body),
        tools=message_form(dialect).tool_names(body),
        declared=read_request(dialect, sent.request).tools,
        reply=oracle_reply(sent),
    )


def _is_same(expected: ExpectedExecution, execution: Execution) -> bool:
    if expected.tool != execution.tool:
        return False
    arguments = expected.arguments
    return arguments is None or same_value(json_or_repr(arguments), execution.arguments)


def _iter_forbidden(
    requests: tuple[RequestEvidence, ...], executions: tuple[Execution, ...]
) -> Iterator[tuple[int, str]]:
    """Yield the index of each executed call that the reply before does not allow, and why."""
    for turn in range(len(requests) + 1):
        of_turn = [(index, each) for index, each in enumerate(executions) if each.after == turn]
        if turn == 0:
            yield from ((index, "no reply had come") for index, _ in of_turn)
            continue
        reply = requests[turn - 1].reply
        if reply.broken:
            yield from ((index, reply.broken) for index, _ in of_turn)
        elif reply.rejected and reply.calls is not None:
            yield from _iter_rejected(reply, of_turn)


def _iter_rejected(
    reply: OracleReply, executions: list[tuple[int, Execution]]
) -> Iterator[tuple[int, str]]:
    """Yield the index of each executed call that is not a usable call of the reply, and why."""
    left = [meaning(call.arguments) for call in reply.calls or ()]
    for index, execution in executions:
        value = meaning(execution.arguments)
        if value in left:
            left.remove(value)
        else:
            yield index, "the call was rejected: its arguments are not a JSON object"


def _iter_repaired(evidence: ConversationEvidence) -> Iterator[tuple[int, str]]:
    tools = {tool.name: tool for tool in evidence.task.tools}
    reported = [call for record in evidence.records for call in record.turn.tool_calls if call.sent]
    for index, execution in enumerate(evidence.executions) if reported else ():
        reply = evidence.requests[execution.after - 1].reply if execution.after else None
        sent = [meaning(each.arguments) for each in reply.calls or ()] if reply else []
        for call in reported:
            if (
                call.name == execution.tool
                and call.name in tools
                and same_value(call.arguments, execution.arguments)
                and meaning(call.sent) in sent
                and is_demanded(tools[call.name], call.sent, call.arguments, _CHECKER)
            ):
                yield index, call.sent


def _iter_history_problems(evidence: ConversationEvidence) -> Iterator[Problem]:
    task, final = evidence.task, evidence.record.conversation
    sent = parsed_capabilities(message_form(task.dialect), task.capabilities)
    histories = [
        (f"requests[{index}]", each.messages, sent) for index, each in enumerate(evidence.requests)
    ]
    if final is not None:
        histories.append((FINAL_HISTORY, final.messages, task.capabilities))
    reported: set[tuple[str, str]] = set()
    for where, messages, capabilities in histories:
        for problem in history_problems(messages, capabilities):
            # A broken message stays in the history, so it is reported once.
            if (problem.quirk, problem.path) not in reported:
                reported.add((problem.quirk, problem.path))
                yield replace(problem, path=f"{where}.{problem.path}")


def parsed_capabilities(form: MessageForm, capabilities: Capabilities) -> Capabilities:
    """Return `capabilities` as they apply to messages in the format of OpenAI.

    If content is a list of blocks, there is only one way to write a message without content.
    """
    if not form.has_blocks:
        return capabilities
    field = REASONING_FIELD if capabilities.reasoning_field else ""
    return replace(capabilities, content_beside_calls="null", reasoning_field=field)
