"""Write one cell as lines for a terminal: its timeline or conversation, and its findings.

A timeline has each read, the frames that the read completes, and the deltas that follow. If
`reference` emits other deltas at that point, the timeline shows these as well. Control characters
of a stream never reach the terminal.
"""

from collections.abc import Iterable, Iterator

from harness.reporting.explanation import ExplainedFinding, explanation_lines
from harness.reporting.pages.conversations import MessageView, RequestView, conversation_view
from harness.reporting.visible import Piece, marked, plain
from harness.reporting.words import describe_delta
from harness.results.case import Crossing
from harness.results.conversation_case import ConversationCase
from harness.results.finding import Finding
from harness.results.replay import Emission, Replay
from harness.results.result import Result
from harness.turns.deltas import Delta
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

_READ_CHARACTERS = 100
_FRAME_CHARACTERS = 600
_AROUND_BYTES = 400
_OUTPUT_CHARACTERS = 500


def timeline(
    interaction: Interaction, replay: Replay, reference: Replay, *, at: int | None = None
) -> Iterator[str]:
    """Yield the lines of `replay`, with the deltas of `reference` if they differ.

    Args:
        interaction: the interaction that was replayed.
        replay: the replay of the normalizer.
        reference: the replay of `reference` under the same chunking.
        at: a byte offset, to show only the reads around it; None for all reads.
    """
    body = interaction.body
    frames = list(_frame_ends(interaction))
    start = 0
    for end in (*replay.chunking, len(body)) if body else ():
        if at is None or (start < at + _AROUND_BYTES and end > at - _AROUND_BYTES):
            read = plain(body[start:end].decode("utf-8", "surrogateescape"), _READ_CHARACTERS)
            yield f"{start:>8}  read      {end - start} bytes  {read}"
            yield from _frames(frames, start, end)
            last = end == len(body)
            deltas = _deltas(replay.emissions, start, end, last=last)
            expected = _deltas(reference.emissions, start, end, last=last)
            yield from _delta_lines("delta    ", deltas)
            if deltas != expected:
                yield from _delta_lines("reference", expected)
                yield from () if expected else (f"{'':>8}  reference (nothing)",)
        start = end
    if replay.error:
        yield f"{'':>8}  raised    {plain(replay.error)}"
    if replay.hung:
        yield f"{'':>8}  hung      it did not end within its limits"


def _frame_ends(interaction: Interaction) -> Iterator[tuple[int, Frame]]:
    """Yield each frame with the number of bytes after which it is complete."""
    pulled = 0

    def reads() -> Iterator[bytes]:
        nonlocal pulled
        for offset in range(len(interaction.body)):
            pulled = offset + 1
            yield interaction.body[offset : offset + 1]

    for frame in iter_frames(reads()):
        yield pulled, frame


def _frames(frames: list[tuple[int, Frame]], start: int, end: int) -> Iterator[str]:
    for complete_at, frame in frames:
        if start < complete_at <= end:
            state = "" if frame.complete else "  (incomplete at the end of the stream)"
            name = f" {frame.event}" if frame.event else ""
            data = plain(frame.data.decode("utf-8", "surrogateescape"), _FRAME_CHARACTERS)
            yield f"{frame.offset:>8}  frame{name}     {data}{state}"


def _deltas(
    emissions: tuple[Emission, ...], start: int, end: int, *, last: bool
) -> tuple[Delta, ...]:
    return tuple(
        e.delta for e in emissions if start < e.bytes_read <= end or (last and e.bytes_read > end)
    )


def _delta_lines(label: str, deltas: tuple[Delta, ...]) -> Iterator[str]:
    for delta in deltas:
        kind, text = describe_delta(delta)
        yield f"{'':>8}  {label} {kind}{f': {plain(text)}' if text else ''}"


_LINE = 160
_CROSSING_CHARACTERS = 600
_CROSSING_LINES = 200


def conversation_lines(result: Result, case: ConversationCase) -> Iterator[str]:
    """Yield the requests of a conversation with their messages, responses and executed calls."""
    for request in conversation_view(result, case).requests:
        yield from _request_lines(request)
    if case.error:
        yield f"the agent did not finish: {plain(case.error)}"
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
        answer = "surplus" if request.row.place is None else f"interaction {request.row.place}"
        yield f"  < {answer}, HTTP {request.row.status}"
        if request.row.broken:
            yield f"    the agent must not execute a call: {plain(request.row.broken)}"
        for difference in request.row.unlike or ():
            yield f"    differs from the recorded request: {plain(difference, limit=_LINE)}"
    for run in request.runs:
        yield f"  executed {plain(run, limit=_LINE)}"
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


def crossing_lines(crossing: Crossing) -> Iterator[str]:
    """Yield what a gateway was asked, what arrived upstream, and what it answered."""
    yield f"to the gateway, {marked(crossing.uri)}"
    yield f"    {plain(crossing.asked, _CROSSING_CHARACTERS)}"
    for path, body in crossing.arrived:
        yield f"arrived upstream, {marked(path)}"
        yield f"    {plain(body, _CROSSING_CHARACTERS)}"
    if not crossing.arrived:
        yield "arrived upstream: no request"
    yield f"answer of the gateway in {plain(crossing.front)}, HTTP {crossing.status}"
    for line in crossing.answer.splitlines()[:_CROSSING_LINES]:
        if line.strip():
            yield f"    {plain(line, _CROSSING_CHARACTERS)}"


def explained_lines(findings: Iterable[ExplainedFinding]) -> Iterator[str]:
    """Yield the lines of each finding and of its explanation."""
    for each in findings:
        yield from findings_lines((each.finding,))
        if each.explanation:
            yield from explanation_lines(each.explanation)


def findings_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield three indented lines for each finding: the rule, the expected and the actual value."""
    for finding in findings:
        yield f"  {finding.level} {finding.rule} at {marked(finding.path)}"
        yield f"    expected {value_text(finding.expected)}"
        yield f"    actual   {value_text(finding.actual)}"


def value_text(text: str) -> str:
    """Return an expected or actual value on one line; an empty text is visible, too."""
    return plain(text) or '""'


def output_lines(output: str) -> Iterator[str]:
    """Yield what a client wrote to standard output and standard error, if it wrote anything."""
    lines = output.splitlines()
    if lines:
        yield "  the client wrote:"
        yield from (f"    {plain(line, limit=_OUTPUT_CHARACTERS)}" for line in lines)
