"""One replay as lines for a terminal: each read, the frames it completes, the deltas that follow.

Frames and reads are facts of the bytes, deltas are what the normalizer said after them; what
`reference` says at the same point stands beside it where the two differ.
"""

from collections.abc import Iterator

import msgspec

from harness.judging.results import Emission, Replay
from harness.reporting.delta_words import words
from harness.reporting.visible import plain
from harness.turns.deltas import Delta
from harness.wire.frames import Frame
from harness.wire.framing import frames as frames_of
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
            yield from _said(shown, beside, start, end, last=end == len(body))
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


def _said(shown: Replay, beside: Replay, start: int, end: int, *, last: bool) -> Iterator[str]:
    ours = _deltas(shown.emissions, start, end, last=last)
    theirs = _deltas(beside.emissions, start, end, last=last)
    for delta in ours:
        yield f"{'':>8}  delta     {_words(delta)}"
    if ours != theirs:
        for delta in theirs:
            yield f"{'':>8}  reference {_words(delta)}"
        if not theirs:
            yield f"{'':>8}  reference (nothing)"


def _deltas(
    emissions: tuple[Emission, ...], start: int, end: int, *, last: bool
) -> tuple[Delta, ...]:
    return tuple(
        e.delta for e in emissions if start < e.bytes_read <= end or (last and e.bytes_read > end)
    )


def _words(delta: Delta) -> str:
    kind, text = words(delta)
    return f"{kind}: {plain(text)}" if text else kind
