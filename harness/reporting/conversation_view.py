"""A conversation of a run -> what the page and the terminal show: requests, replies, findings.

A request repeats the history, so only what is new in it is shown. Findings stand where their
path leads: at a message, at a request, at a call that was run, or at the whole conversation.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from harness.judging.conversations.case import ConversationCase, RequestRow
from harness.judging.results import Finding, Result
from harness.reporting.visible import Piece, pieces
from harness.turns.calls import ParseError

_PLACE: Final = re.compile(r"^(requests\[\d+\]|history)(?:\.messages\[(\d+)\])?")
_SHOWN: Final = 2_000


class MessageView(msgspec.Struct, frozen=True):
    """One message: its place, who says it, and what; `calls` are name and arguments."""

    number: int
    role: str
    text: tuple[Piece, ...]
    calls: tuple[tuple[str, tuple[Piece, ...]], ...]
    findings: tuple[Finding, ...]


class RequestView(msgspec.Struct, frozen=True):
    """One request; `findings` are those that no message shows.

    Fields:
        row: None for the history at the end.
        runs: what was run of its reply.
    """

    title: str
    row: RequestRow | None
    messages: tuple[MessageView, ...]
    reply: tuple[Piece, ...]
    runs: tuple[str, ...]
    findings: tuple[Finding, ...]


class ConversationView(msgspec.Struct, frozen=True):
    """One conversation, whole.

    Fields:
        requests: with the history at the end as the last one.
        reports: turn number and parse_error.
    """

    result: Result
    case: ConversationCase
    requests: tuple[RequestView, ...]
    reports: tuple[tuple[int, ParseError], ...]


def conversation_view(result: Result, case: ConversationCase) -> ConversationView:
    """Return what is shown of a conversation."""
    return ConversationView(
        result=result,
        case=case,
        requests=tuple(_requests(result, case)),
        reports=tuple(
            (number, error)
            for number, record in enumerate(case.turns)
            for error in record.meta.parse_errors
        ),
    )


def _requests(result: Result, case: ConversationCase) -> Iterator[RequestView]:
    for number, row in enumerate(case.requests):
        where = f"requests[{number}]"
        messages = tuple(_messages(row.messages, row.same, where, result.findings))
        yield RequestView(
            title=f"Request {number}",
            row=row,
            messages=messages,
            reply=pieces(row.reply, limit=_SHOWN),
            runs=tuple(_runs(case, number + 1)),
            findings=_others(where, messages, result.findings),
        )
    messages = tuple(_messages(case.history, case.same, "history", result.findings))
    rest = _others("history", messages, result.findings)
    if messages or rest:
        title = "What would be sent next" if case.requests else "The messages, as logged"
        yield RequestView(title, None, messages, (), (), rest)


def _messages(
    texts: tuple[str, ...], same: int, where: str, findings: tuple[Finding, ...]
) -> Iterator[MessageView]:
    for number, text in enumerate(texts, start=same):
        mine = tuple(each for each in findings if _place(each) == (where, number))
        message = _object(text)
        content = message.get("content", text if not message else None)
        shown = content if isinstance(content, str | None) else json.dumps(content)
        yield MessageView(
            number=number,
            role=_role(message),
            text=pieces(shown or "", limit=_SHOWN),
            calls=tuple(_calls(message)),
            findings=mine,
        )


def _object(text: str) -> dict[str, Any]:
    """Return a message; {} where its text was cut, and then it is shown as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _role(message: dict[str, Any]) -> str:
    role = str(message.get("role", "?"))
    answers = message.get("tool_call_id")
    return f"{role}, answers {answers}" if answers else role


def _calls(message: dict[str, Any]) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            name = f"{function.get('name')} ({call.get('id')})"
            yield name, pieces(str(function.get("arguments")), limit=_SHOWN)


def _runs(case: ConversationCase, after: int) -> Iterator[str]:
    for run in case.runs:
        if run.after == after:
            end = f": failed, {run.error}" if run.error else ""
            yield f"{run.tool} {run.arguments}{end if run.known else ': no such tool'}"


def _place(finding: Finding) -> tuple[str, int | None]:
    match = _PLACE.match(finding.path)
    if match is None:
        return "", None
    return match[1], None if match[2] is None else int(match[2])


def _others(
    where: str, messages: tuple[MessageView, ...], findings: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    shown = {message.number for message in messages}
    return tuple(
        each for each in findings if _place(each)[0] == where and _place(each)[1] not in shown
    )
