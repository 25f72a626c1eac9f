"""One cell as lines for a terminal: its timeline or conversation, and its findings.

A timeline shows each read, the frames that the read completes, and the deltas that follow.
Where `reference` emits other deltas at that point, they are shown as well. Control characters
of a stream never reach the terminal.
"""

from collections.abc import Iterable, Iterator

import msgspec

from harness.judging.conversations.case import ConversationCase
from harness.judging.results import Emission, Finding, Replay, Result
from harness.reporting.pages.conversations import MessageView, RequestView, conversation_view
from harness.reporting.visible import Piece, marked, plain
from harness.reporting.words import describe_delta
from harness.turns.deltas import Delta
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Interaction

_READ_CHARACTERS = 100
_FRAME_CHARACTERS = 600
_AROUND_BYTES = 400


class _Window(msgspec.Struct, frozen=True):
    """The bytes to show; all of them where no place was asked for."""

    start: int
    end: int

    def has(self, start: int, end: int) -> bool:
        """Whether any of `start` to `end` is inside."""
        return start < self.end and end > self.start


def timeline(
    interaction: Interaction, shown: Replay, beside: Replay, *, at: int | None = None
) -> Iterator[str]:
    """Yield the lines of `shown`, with `beside` (the reference's replay) where it differs.

    Args:
        interaction: whose body was replayed.
        shown: the replay of the normalizer.
        beside: of `reference`, under the same chunking.
        at: a byte to look at; None shows the whole body.
    """
    body = interaction.body
    window = _Window(0, len(body) + 1)
    if at is not None:
        window = _Window(at - _AROUND_BYTES, at + _AROUND_BYTES)
    ends = [*shown.chunking, len(body)] if body else []
    frames = list(_frame_ends(interaction))
    start = 0
    for end in ends:
        if window.has(start, end):
            yield f"{start:>8}  read      {end - start} bytes  {_bytes(body[start:end])}"
            yield from _frames(frames, start, end)
            yield from _delta_lines(shown, beside, start, end, last=end == len(body))
        start = end
    if shown.error:
        yield f"{'':>8}  raised    {plain(shown.error)}"
    if shown.hung:
        yield f"{'':>8}  hung      it did not end within its limits"


def _bytes(read: bytes) -> str:
    return plain(read.decode("utf-8", "surrogateescape"), _READ_CHARACTERS)


def _frame_ends(interaction: Interaction) -> Iterator[tuple[int, Frame]]:
    """Yield each frame with the number of bytes after which it is complete."""
    pulled = 0

    def reads() -> Iterator[bytes]:
        nonlocal pulled
        for place in range(len(interaction.body)):
            pulled = place + 1
            yield interaction.body[place : place + 1]

    for frame in frames_of(reads()):
        yield pulled, frame


def _frames(frames: list[tuple[int, Frame]], start: int, end: int) -> Iterator[str]:
    for complete_at, frame in frames:
        if start < complete_at <= end:
            state = "" if frame.complete else "  (cut short by the end of the stream)"
            name = f" {frame.event}" if frame.event else ""
            data = plain(frame.data.decode("utf-8", "surrogateescape"), _FRAME_CHARACTERS)
            yield f"{frame.offset:>8}  frame{name}     {data}{state}"


def _delta_lines(
    shown: Replay, beside: Replay, start: int, end: int, *, last: bool
) -> Iterator[str]:
    ours = _deltas(shown.emissions, start, end, last=last)
    theirs = _deltas(beside.emissions, start, end, last=last)
    for delta in ours:
        yield f"{'':>8}  delta     {_delta_text(delta)}"
    if ours != theirs:
        for delta in theirs:
            yield f"{'':>8}  reference {_delta_text(delta)}"
        if not theirs:
            yield f"{'':>8}  reference (nothing)"


def _deltas(
    emissions: tuple[Emission, ...], start: int, end: int, *, last: bool
) -> tuple[Delta, ...]:
    return tuple(
        e.delta for e in emissions if start < e.bytes_read <= end or (last and e.bytes_read > end)
    )


def _delta_text(delta: Delta) -> str:
    kind, text = describe_delta(delta)
    return f"{kind}: {plain(text)}" if text else kind


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


def findings_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield three indented lines for each finding: the rule, what was expected, what came."""
    for finding in findings:
        yield f"  {finding.level} {finding.rule} at {marked(finding.path)}"
        yield f"    expected {plain(finding.expected)}"
        yield f"    actual   {plain(finding.actual)}"
