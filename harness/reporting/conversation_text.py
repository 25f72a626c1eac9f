"""A conversation -> lines for a terminal; nothing hostile survives."""

from collections.abc import Iterator

from harness.judging.conversations.case import ConversationCase
from harness.judging.results import Result
from harness.reporting.conversation_view import MessageView, RequestView, conversation_view
from harness.reporting.visible import Piece, plain

_LINE = 160


def conversation_lines(result: Result, case: ConversationCase) -> Iterator[str]:
    """Yield what was sent, what came back and what was run, request by request."""
    for request in conversation_view(result, case).requests:
        yield from _request_lines(request)
    if case.error:
        yield f"the agent did not come to an end: {plain(case.error)}"
    else:
        yield f"ending {plain(case.ending)}, answer: {plain(case.answer, limit=_LINE)}"


def _request_lines(request: RequestView) -> Iterator[str]:
    tools = f" (tools: {plain(' '.join(request.row.tools), limit=_LINE)})" if request.row else ""
    yield f"{request.title}{tools}"
    if request.row and request.row.same:
        yield f"    the first {request.row.same} messages as before"
    for message in request.messages:
        yield from _message_lines(message)
    if request.row:
        place = request.row.place
        which = "surplus" if place is None else f"interaction {place}"
        yield f"  < {which}, HTTP {request.row.status}"
        if request.row.broken:
            yield f"    nothing may be run: {plain(request.row.broken)}"
        for unlike in request.row.unlike or ():
            yield f"    unlike the recorded request: {plain(unlike, limit=_LINE)}"
    for run in request.runs:
        yield f"  ran {plain(run, limit=_LINE)}"
    for finding in request.findings:
        yield f"  !! {finding.rule}"


def _message_lines(message: MessageView) -> Iterator[str]:
    yield f"  > [{message.number}] {plain(message.role)}: {_text(message.text)}"
    for name, arguments in message.calls:
        yield f"      calls {plain(name)} {_text(arguments)}"
    for finding in message.findings:
        yield f"      !! {finding.rule} at {plain(finding.path)}"


def _text(found: tuple[Piece, ...]) -> str:
    return plain("".join(piece.text for piece in found), limit=_LINE)
