"""All that the rules about a conversation may look at, put together once."""

import re
from collections.abc import Iterator

import msgspec

from harness.conversation.history.check import Problem, history_problems
from harness.conversation.task import Task
from harness.judging.conversations import chat_form
from harness.judging.conversations.history_difference import HistoryDifference, history_differences
from harness.judging.conversations.oracle_reply import OracleReply, oracle_reply
from harness.judging.conversations.script import ConversationScript
from harness.judging.conversations.session import Execution, SentRequest, SessionRecord
from harness.turns.arguments import meaning

FINAL_HISTORY = "history"


class RequestEvidence(msgspec.Struct, frozen=True):
    """A request as the rules read it, beside what its reply really says.

    Fields:
        body: the object that it sent; {} where it was none.
        messages: in OpenAI's form.
        tools: names of those that it declares; None where it declares none.
    """

    sent: SentRequest
    body: chat_form.Json
    messages: tuple[object, ...]
    tools: tuple[str, ...] | None
    truth: OracleReply


class HistoryProblem(msgspec.Struct, frozen=True):
    """A problem of a history, with the request in which it stood first."""

    where: str
    problem: Problem


class ConversationEvidence(msgspec.Struct, frozen=True):
    """One conversation.

    Fields:
        interactions: how many the cassette has.
        runs: the calls of tools that exist, in order.
        stray: places in `runs` of calls that no whole turn holds, each with the reason.
        problems: of all requests and of the history at the end, each once.
        others: the record of the same conversation under other reads, by what was other.
        unlike: place of a request -> where it is not built as the recorded one; only those
            that follow a reply, and none where the script was written by hand.
    """

    script: ConversationScript
    task: Task
    record: SessionRecord
    interactions: int
    asked: tuple[RequestEvidence, ...]
    runs: tuple[Execution, ...]
    stray: dict[int, str]
    problems: tuple[HistoryProblem, ...]
    others: dict[str, SessionRecord]
    unlike: dict[int, tuple[HistoryDifference, ...]]

    @property
    def stopped(self) -> bool:
        """Whether the agent did not come to an end of its own."""
        return bool(self.record.error or self.record.hung)

    def fits(self, call_id: str) -> bool:
        """Return whether the provider takes `call_id` as it is."""
        pattern = self.task.capabilities.tool_id_pattern
        return not pattern or re.fullmatch(pattern, call_id) is not None


def conversation_evidence(
    script: ConversationScript,
    task: Task,
    record: SessionRecord,
    interactions: int,
    others: dict[str, SessionRecord] | None = None,
) -> ConversationEvidence:
    """Put together what the rules look at."""
    asked = tuple(_request_evidence(task.dialect, sent) for sent in record.sent)
    runs = tuple(each for each in record.executions if each.known)
    return ConversationEvidence(
        script=script,
        task=task,
        record=record,
        interactions=interactions,
        asked=asked,
        runs=runs,
        stray=dict(_iter_forbidden_runs(asked, runs)),
        problems=tuple(_iter_history_problems(asked, record, task)),
        others=others or {},
        unlike=dict(_history_differences(script, asked)),
    )


def _request_evidence(dialect: str, sent: SentRequest) -> RequestEvidence:
    body = chat_form.body_of(sent.request.body)
    return RequestEvidence(
        sent=sent,
        body=body,
        messages=chat_form.messages_of(dialect, body),
        tools=chat_form.tool_names(dialect, body),
        truth=oracle_reply(sent),
    )


def _history_differences(
    script: ConversationScript, asked: tuple[RequestEvidence, ...]
) -> Iterator[tuple[int, tuple[HistoryDifference, ...]]]:
    """Yield each request that follows a reply beside the one that the recorded client sent."""
    given = {call.id for each in asked for call in each.truth.calls or () if call.id}
    for number, each in enumerate(asked):
        place = each.sent.place
        if place and script.recorded:
            yield number, history_differences(script.recorded[place], each.messages, given)


def _iter_forbidden_runs(
    asked: tuple[RequestEvidence, ...], runs: tuple[Execution, ...]
) -> Iterator[tuple[int, str]]:
    """Yield the runs that must not have been, held against the reply that came before them."""
    for turn in range(len(asked) + 1):
        mine = [(place, run) for place, run in enumerate(runs) if run.after == turn]
        if turn == 0:
            yield from ((place, "no reply had come") for place, _ in mine)
            continue
        truth = asked[turn - 1].truth
        if truth.broken:
            yield from ((place, truth.broken) for place, _ in mine)
        elif truth.rejected and truth.calls is not None:
            yield from _iter_rejected_runs(truth, mine)


def _iter_rejected_runs(
    truth: OracleReply, runs: list[tuple[int, Execution]]
) -> Iterator[tuple[int, str]]:
    """Yield the runs whose arguments are none of those that the turn really holds."""
    left = [meaning(call.arguments) for call in truth.calls or ()]
    for place, run in runs:
        said = meaning(run.arguments)
        if said in left:
            left.remove(said)
        else:
            yield place, "the call was rejected: its arguments are no JSON object"


def _iter_history_problems(
    asked: tuple[RequestEvidence, ...], record: SessionRecord, task: Task
) -> Iterator[HistoryProblem]:
    read = chat_form.as_read(task.dialect, task.capabilities)
    histories = [(f"requests[{place}]", each.messages, read) for place, each in enumerate(asked)]
    if record.conversation is not None:
        histories.append((FINAL_HISTORY, record.conversation.messages, task.capabilities))
    seen: set[tuple[str, str]] = set()
    for where, messages, capabilities in histories:
        for problem in history_problems(messages, capabilities):
            # A broken message stays in the history: once is enough.
            if (problem.quirk, problem.path) not in seen:
                seen.add((problem.quirk, problem.path))
                yield HistoryProblem(where, problem)
