"""Compute the page of conversations: a ranking, a list, and the messages and findings of each.

A request repeats the history, so only its new messages are shown. A finding is shown at the
message, request or call that its path names, or at the conversation.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from harness.reporting.boards import ConversationRow, conversation_rows
from harness.reporting.pages.failures import cells_with_case
from harness.reporting.report import Report
from harness.reporting.visible import Piece, pieces
from harness.reporting.words import worst_first
from harness.results.conversation_case import ConversationCase, RequestRow
from harness.results.finding import Finding
from harness.results.result import Result
from harness.turns.deltas import ParseError

_PLACE: Final = re.compile(r"^(requests\[\d+\]|history)(?:\.messages\[(\d+)\])?")
_SHOWN: Final = 2_000
MAX_CONVERSATIONS: Final = 500
MAX_CONFORMING: Final = 20


class MessageView(msgspec.Struct, frozen=True):
    """A message of a request; `calls` contains the name and the arguments of each call."""

    number: int
    role: str
    text: tuple[Piece, ...]
    calls: tuple[tuple[str, tuple[Piece, ...]], ...]
    findings: tuple[Finding, ...]


class RequestView(msgspec.Struct, frozen=True):
    """A request of a conversation, and its response; `findings` are shown at no message.

    Fields:
        row: the facts about the request; None for the history at the end of the conversation.
        runs: the calls of the response that the agent executed.
    """

    title: str
    row: RequestRow | None
    messages: tuple[MessageView, ...]
    reply: tuple[Piece, ...]
    runs: tuple[str, ...]
    findings: tuple[Finding, ...]


class ConversationView(msgspec.Struct, frozen=True):
    """A complete conversation.

    Fields:
        requests: the last one is the history at the end.
        reports: the number of a turn, and a parse error in this turn.
    """

    result: Result
    case: ConversationCase
    requests: tuple[RequestView, ...]
    reports: tuple[tuple[int, ParseError], ...]


def conversation_view(result: Result, case: ConversationCase) -> ConversationView:
    """Return the data of a conversation for the page."""
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
        messages = tuple(message_views(row.messages, row.same, where, result.findings))
        yield RequestView(
            title=f"Request {number}",
            row=row,
            messages=messages,
            reply=pieces(row.reply, limit=_SHOWN),
            runs=tuple(_executed_calls(case, number + 1)),
            findings=_other_findings(where, messages, result.findings),
        )
    messages = tuple(message_views(case.history, case.same, "history", result.findings))
    rest = _other_findings("history", messages, result.findings)
    if messages or rest:
        title = "Next messages" if case.requests else "Logged messages"
        yield RequestView(title, None, messages, (), (), rest)


def message_views(
    texts: tuple[str, ...], same: int, where: str = "", findings: tuple[Finding, ...] = ()
) -> Iterator[MessageView]:
    """Yield the messages of a request for the page; each text is a JSON message of OpenAI's API.

    Args:
        texts: the messages after the first `same`.
        same: number of messages before them.
        where: the path of the request, as findings name it.
        findings: the findings of the cell.
    """
    for number, text in enumerate(texts, start=same):
        mine = tuple(each for each in findings if _finding_location(each) == (where, number))
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
    """Return the JSON object in a message's text; {} if the text was cut and cannot be parsed."""
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


def _executed_calls(case: ConversationCase, after: int) -> Iterator[str]:
    for run in case.runs:
        if run.after == after:
            end = f": failed, {run.error}" if run.error else ""
            yield f"{run.tool} {run.arguments}{end if run.known else ': no such tool'}"


def _finding_location(finding: Finding) -> tuple[str, int | None]:
    match = _PLACE.match(finding.path)
    if match is None:
        return "", None
    return match[1], None if match[2] is None else int(match[2])


def _other_findings(
    where: str, messages: tuple[MessageView, ...], findings: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    shown = {message.number for message in messages}
    return tuple(
        each
        for each in findings
        if _finding_location(each)[0] == where and _finding_location(each)[1] not in shown
    )


class ConversationsView(msgspec.Struct, frozen=True):
    """The conversations of agents, and logged conversations.

    Fields:
        ranked: the ranking of combinations of model, prompt and agent.
        rows: the results, worst first; `more` further results are left out.
        conforming: some complete conversations that conform, those without success first.
    """

    ranked: tuple[ConversationRow, ...]
    rows: tuple[Result, ...]
    more: int
    conforming: tuple[ConversationView, ...]

    @property
    def total(self) -> int:
        """The number of conversations."""
        return len(self.rows) + self.more


def conversations_page(report: Report) -> ConversationsView:
    """Return the data of the page; conversations of failing cells are shown on the cases page."""
    run, shown = report.run, report.of(cells_with_case)
    found = [each for each in run.results if each.conversation]
    conforming = [
        each
        for each in sorted(found, key=lambda it: bool(it.conversation and it.conversation.success))
        if not each.outcome.fails and each.cell in run.conversations and each.cell not in shown
    ]
    return ConversationsView(
        ranked=conversation_rows(report.rankings),
        rows=tuple(sorted(found, key=worst_first)[:MAX_CONVERSATIONS]),
        more=max(0, len(found) - MAX_CONVERSATIONS),
        conforming=tuple(
            conversation_view(each, run.conversations[each.cell])
            for each in conforming[:MAX_CONFORMING]
        ),
    )
