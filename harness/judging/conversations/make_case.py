"""Make the case of a conversation of an agent, or of a logged one, with long texts cut."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from harness.dialects.table import message_form
from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.session import json_or_repr
from harness.judging.make_case import shorten
from harness.results.conversation import Conversation
from harness.results.conversation_case import ConversationCase, RequestRow, RunRow

# Enough characters of one text to see what happened.
_TEXT_LIMIT: Final = 4_000
_MOST_REQUESTS: Final = 60
_MOST_MESSAGES: Final = 200


def conversation_case(cell: str, evidence: ConversationEvidence) -> ConversationCase:
    """Return the case of a conversation, which the report shows.

    Args:
        cell: the id of the cell.
        evidence: what the agent did.
    """
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
        trace=record.trace or UNSET,
    )
    return shorten(replace(case, cut=case.cut or _is_cut(evidence, rows)), _TEXT_LIMIT)


def logged_case(cell: str, conversation: Conversation) -> ConversationCase:
    """Return the case of a logged conversation, whose requests are not known."""
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
    """Return whether the case leaves out requests, messages or calls."""
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
