"""A conversation as a reader sees it: requests with their messages, replies, calls, records.

It is a line of the run file, so that a report needs neither cassettes nor agents. A request
repeats the history, so only what is new in it is kept.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from harness.conversation.conversation import Conversation, TurnRecord
from harness.judging.case import shorten
from harness.judging.conversations import chat_form
from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.conversations.history_difference import HistoryDifference
from harness.judging.conversations.session import as_text

# So much of one text is enough to see what happened.
_TEXT_LIMIT: Final = 4_000
_MOST_REQUESTS: Final = 60
_MOST_MESSAGES: Final = 200


class RequestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and its reply.

    Fields:
        place: of the interaction that answered; None where the request was surplus.
        same: how many messages at its beginning are those of the request before.
        messages: those after them, each as JSON in OpenAI's form.
        tools: names that it declares.
        fields: its other members, as JSON.
        status, reply: of the response, as text.
        broken: why nothing of the reply may be run.
        unlike: where it is not built as the recorded one, `path: recorded, sent`; None where
            there is none to lay beside it.
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
    """A call that was run after request `after`, counted from 1."""

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
        error: what it raised, or the limit that stopped it; "" where it came to its end.
        cut: whether requests, messages, calls or turns are missing.
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


def conversation_case(cell: str, seen: ConversationEvidence) -> ConversationCase:
    """Return what a reader needs to see of a conversation."""
    record = seen.record
    final = record.conversation.messages if record.conversation else ()
    last = seen.asked[-1].messages if seen.asked else ()
    same = _common_message_count(last, final)
    rows = tuple(_iter_request_rows(seen))
    made = ConversationCase(
        cell=cell,
        requests=rows,
        runs=tuple(
            RunRow(run.after, run.tool, run.arguments, run.error, run.known)
            for run in record.executions[:_MOST_MESSAGES]
        ),
        same=same,
        history=tuple(map(as_text, final[same : same + _MOST_MESSAGES])),
        turns=record.conversation.turns[:_MOST_REQUESTS] if record.conversation else (),
        ending=record.conversation.ending if record.conversation else "",
        answer=record.conversation.answer if record.conversation else "",
        error=record.error or (f"stopped: {record.hung}" if record.hung else ""),
        cut=_is_cut(seen, rows, len(final) - same),
    )
    return shorten(made, _TEXT_LIMIT)


def logged_case(cell: str, said: Conversation) -> ConversationCase:
    """Return what a reader needs to see of a conversation that nobody watched."""
    made = ConversationCase(
        cell=cell,
        requests=(),
        runs=(),
        same=0,
        history=tuple(map(as_text, said.messages[:_MOST_MESSAGES])),
        turns=said.turns[:_MOST_REQUESTS],
        ending=said.ending,
        answer=said.answer,
        cut=len(said.messages) > _MOST_MESSAGES or len(said.turns) > _MOST_REQUESTS,
    )
    return shorten(made, _TEXT_LIMIT)


def _is_cut(seen: ConversationEvidence, rows: Sequence[RequestRow], last: int) -> bool:
    """Return whether something is missing; `last` messages follow those of the last request."""
    said = seen.record.conversation
    new = (len(each.messages) - row.same for row, each in zip(rows, seen.asked, strict=False))
    requests = max(len(seen.asked), len(said.turns) if said else 0)
    messages = max(last, len(seen.record.executions), *new, 0)
    return requests > _MOST_REQUESTS or messages > _MOST_MESSAGES


def _iter_request_rows(seen: ConversationEvidence) -> Iterator[RequestRow]:
    before: tuple[object, ...] = ()
    for number, each in enumerate(seen.asked[:_MOST_REQUESTS]):
        same = _common_message_count(before, each.messages)
        new = each.messages[same : same + _MOST_MESSAGES]
        others = chat_form.options_of(seen.task.dialect, each.body)
        yield RequestRow(
            place=each.sent.place,
            same=same,
            messages=tuple(map(as_text, new)),
            tools=each.tools or (),
            fields=as_text(others),
            status=each.sent.answer.status,
            reply=each.sent.answer.body[: _TEXT_LIMIT * 2].decode("utf-8", "replace"),
            broken=each.truth.broken,
            unlike=_difference_texts(seen.unlike.get(number)),
        )
        before = each.messages


def _difference_texts(unlike: tuple[HistoryDifference, ...] | None) -> tuple[str, ...] | None:
    if unlike is None:
        return None
    return tuple(
        f"{each.path}: recorded {each.recorded!r}, sent {each.sent!r}"
        for each in unlike[:_MOST_MESSAGES]
    )


def _common_message_count(before: tuple[object, ...], after: tuple[object, ...]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):  # the shorter one decides
        if as_text(one) != as_text(other):
            break
        count += 1
    return count
