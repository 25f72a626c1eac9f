"""A conversation as a report shows it: requests with their messages, replies, calls, records.

It is a line of the run file, so that a report needs neither cassettes nor agents. A request
repeats the history, so only its new messages are stored.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

import msgspec
from msgspec.structs import replace

from harness.dialects.table import message_form
from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.session import json_or_repr
from harness.judging.make_case import shorten
from harness.results.conversation import Conversation, TurnRecord

# Enough characters of one text to see what happened.
_TEXT_LIMIT: Final = 4_000
_MOST_REQUESTS: Final = 60
_MOST_MESSAGES: Final = 200


class RequestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and its reply.

    Fields:
        place: index of the interaction that answered; None if the request was surplus.
        same: how many messages at its start are those of the request before.
        messages: those after them, each as JSON in OpenAI's form.
        tools: names that it declares.
        fields: its other members, as JSON.
        status, reply: of the response, as text.
        broken: why no call of the reply may be executed.
        unlike: how its structure differs from the recorded one, `path: recorded, sent`; None if
            there is none to compare.
    """

    place: int | None
    same: int
    messages: tuple[str, ...]
    tools: tuple[str, ...]
    fields: str
    status: int
    reply: str
    broken: str = ""
    unlike: tuple[str, ...] | None = None


class RunRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that was executed after request `after`, counted from 1."""

    after: int
    tool: str
    arguments: str
    error: str = ""
    known: bool = True


class ConversationCase(msgspec.Struct, frozen=True, tag_field="type", tag="conversation"):
    """What an agent did in one cell, long texts cut.

    Fields:
        cell: id of the `Result` that it belongs to.
        requests: the first ones.
        history: messages at the end, each as JSON: those after the `same` first of the last
            request.
        turns: what the agent recorded.
        error: what it raised, or the limit that stopped it; "" if it ended by itself.
        cut: whether requests, messages, calls or turns are missing.
        trace: the traceback of what it raised; not in the file if there is none.
    """

    cell: str
    requests: tuple[RequestRow, ...]
    runs: tuple[RunRow, ...]
    same: int
    history: tuple[str, ...]
    turns: tuple[TurnRecord, ...]
    ending: str
    answer: str
    error: str = ""
    cut: bool = False
    trace: str | msgspec.UnsetType = msgspec.UNSET


def conversation_case(cell: str, evidence: ConversationEvidence) -> ConversationCase:
    """Return what a report shows of a conversation."""
    record = evidence.record
    final = record.conversation.messages if record.conversation else ()
    same = _common_message_count(evidence.requests[-1].messages if evidence.requests else (), final)
    rows = tuple(_iter_request_rows(evidence))
    case = replace(
        _case_without_requests(cell, record.conversation, same),
        requests=rows,
        runs=tuple(
            RunRow(each.after, each.tool, each.arguments, each.error, each.known)
            for each in record.executions[:_MOST_MESSAGES]
        ),
        error=record.error or (f"stopped: {record.hung}" if record.hung else ""),
        trace=record.trace or msgspec.UNSET,
    )
    return shorten(replace(case, cut=case.cut or _is_cut(evidence, rows)), _TEXT_LIMIT)


def logged_case(cell: str, conversation: Conversation) -> ConversationCase:
    """Return what a report shows of a logged conversation, whose requests are not known."""
    return shorten(_case_without_requests(cell, conversation, 0), _TEXT_LIMIT)


def _case_without_requests(
    cell: str, conversation: Conversation | None, same: int
) -> ConversationCase:
    messages = conversation.messages[same:] if conversation else ()
    turns = conversation.turns if conversation else ()
    return ConversationCase(
        cell=cell,
        requests=(),
        runs=(),
        same=same,
        history=tuple(map(json_or_repr, messages[:_MOST_MESSAGES])),
        turns=turns[:_MOST_REQUESTS],
        ending=conversation.ending if conversation else "",
        answer=conversation.answer if conversation else "",
        cut=len(messages) > _MOST_MESSAGES or len(turns) > _MOST_REQUESTS,
    )


def _is_cut(evidence: ConversationEvidence, rows: Sequence[RequestRow]) -> bool:
    """Return whether requests, their messages or calls are missing."""
    pairs = zip(rows, evidence.requests, strict=False)  # the rows may end earlier
    new = (len(request.messages) - row.same for row, request in pairs)
    messages = max(len(evidence.record.executions), *new, 0)
    return len(evidence.requests) > _MOST_REQUESTS or messages > _MOST_MESSAGES


def _iter_request_rows(evidence: ConversationEvidence) -> Iterator[RequestRow]:
    before: tuple[object, ...] = ()
    for number, request in enumerate(evidence.requests[:_MOST_REQUESTS]):
        same = _common_message_count(before, request.messages)
        answer, differences = request.sent.answer, evidence.differences.get(number)
        yield RequestRow(
            place=request.sent.index,
            same=same,
            messages=tuple(map(json_or_repr, request.messages[same : same + _MOST_MESSAGES])),
            tools=request.tools or (),
            fields=json_or_repr(message_form(evidence.task.dialect).options_of(request.body)),
            status=answer.status,
            reply=answer.body[: _TEXT_LIMIT * 2].decode("utf-8", "replace"),
            broken=request.reply.broken,
            unlike=None if differences is None else tuple(map(str, differences[:_MOST_MESSAGES])),
        )
        before = request.messages


def _common_message_count(before: Sequence[object], after: Sequence[object]) -> int:
    pairs = zip(before, after, strict=False)  # the shorter one ends the comparison
    return sum(
        1 for _ in takewhile(lambda pair: json_or_repr(pair[0]) == json_or_repr(pair[1]), pairs)
    )
