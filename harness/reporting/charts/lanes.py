"""A case -> lanes that a person reads: bytes with their reads, frames, deltas.

A long case shows its start, its end, and the surroundings of the findings and the first
divergence. Rows between them state how much is not shown.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from harness.judging.case import Case
from harness.judging.results import Emission, Finding
from harness.reporting.charts.axis import AxisLane, Divergence, axis_lanes, first_divergence
from harness.reporting.visible import Piece, byte_pieces, pieces
from harness.reporting.words import describe_delta
from harness.wire.cuts import Chunking
from harness.wire.frames import Frame

_HEAD, _TAIL, _AROUND = 4, 3, 6
_MAX_INTERESTS = 4


class Stretch(msgspec.Struct, frozen=True):
    """Rows `start` to `stop` (exclusive), shown or left out."""

    start: int
    stop: int
    shown: bool


def visible_stretches(total: int, interests: Iterable[int]) -> tuple[Stretch, ...]:
    """Return `total` rows as stretches in order; a single row is never left out."""
    keep = {*range(min(_HEAD, total)), *range(max(0, total - _TAIL), total)}
    for place in list(interests)[:_MAX_INTERESTS]:
        keep.update(range(max(0, place - _AROUND), min(total, place + _AROUND + 1)))
    found: list[Stretch] = []
    place = 0
    for start in sorted(keep):
        if start > place:
            found.append(Stretch(place, start, shown=start - place == 1))
        found.append(Stretch(start, start + 1, shown=True))
        place = start + 1
    return tuple(found)


# Above one cut in two bytes, ticks would hide the text that they cut.
_DENSE = 0.5
_MOST_STEPS = 500
_BLANK_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r")


class WireRow(msgspec.Struct, frozen=True):
    """A stretch of the body with one frame, or the number of stretches not shown.

    Fields:
        notes: rules whose findings lead back to a byte in this row.
        skipped: number of stretches left out here; 0 for a real row.
    """

    start: int
    end: int
    number: int = 0
    bytes: tuple[Piece, ...] = ()
    frame: Frame | None = None
    data: tuple[Piece, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: int = 0


class DeltaRow(msgspec.Struct, frozen=True):
    """One delta as text, or the number of deltas not shown."""

    number: int
    bytes_read: int = 0
    kind: str = ""
    detail: tuple[Piece, ...] = ()
    diverges: bool = False
    skipped: int = 0


class Lanes(msgspec.Struct, frozen=True):
    """The three lanes of one case on one axis of `size` bytes.

    Fields:
        dense: reads end so often that ticks are not drawn into the text.
        steps: offsets at which reads end, for stepping; none if there are too many.
        split: the byte after which the deltas first differ from `reference`; None for never.
    """

    size: int
    cut: bool
    dense: bool
    steps: tuple[int, ...]
    split: int | None
    axis: tuple[AxisLane, ...]
    wire: tuple[WireRow, ...]
    deltas: tuple[DeltaRow, ...]
    reference: tuple[DeltaRow, ...]


def lanes(case: Case, findings: tuple[Finding, ...], normalizer: str) -> Lanes:
    """Return the lanes of `case`."""
    size = max(len(case.body), *case.chunking, *(e.bytes_read for e in case.deltas), 1)
    dense = len(case.chunking) > len(case.body) * _DENSE
    split = first_divergence(case.deltas, case.reference)
    starts = _starts(case)
    notes = _notes(findings, starts)
    interests = (*notes, *_rows_at_split(case, starts, split))
    return Lanes(
        size=size,
        cut=case.cut,
        dense=dense,
        steps=case.chunking if len(case.chunking) <= _MOST_STEPS else (),
        split=_byte_of(split, case, size),
        axis=axis_lanes(case, size, starts, split, normalizer),
        wire=tuple(_wire(case, starts, notes, interests, () if dense else case.chunking)),
        deltas=tuple(_delta_rows(case.deltas, split.actual if split else None)),
        reference=tuple(_delta_rows(case.reference, split.reference if split else None)),
    )


def _byte_of(split: Divergence | None, case: Case, size: int) -> int | None:
    if split is None:
        return None
    sides = (case.deltas, split.actual), (case.reference, split.reference)
    return min(side[at].bytes_read if at < len(side) else size for side, at in sides)


def _starts(case: Case) -> tuple[int, ...]:
    """Return the offset at which the stretch of each frame starts: after a blank line."""
    starts = [0]
    for before, frame in pairwise(_kept_frames(case)):
        gap = case.body[before.offset : frame.offset]
        ends = [gap.rfind(blank) + len(blank) for blank in _BLANK_LINES if blank in gap]
        starts.append(before.offset + max(ends, default=len(gap)))
    return tuple(starts)


def _kept_frames(case: Case) -> tuple[Frame, ...]:
    """Return the frames that start in the part of the body that the run file has."""
    return tuple(frame for frame in case.frames if frame.offset < len(case.body))


def _row_of(offset: int, starts: tuple[int, ...]) -> int:
    return max(bisect_right(starts, offset) - 1, 0)


def _notes(findings: tuple[Finding, ...], starts: tuple[int, ...]) -> dict[int, tuple[str, ...]]:
    notes: dict[int, tuple[str, ...]] = {}
    for finding in findings:
        if finding.offset is not None:
            row = _row_of(finding.offset, starts)
            notes[row] = (*notes.get(row, ()), f"{finding.rule} at byte {finding.offset:,}")
    return notes


def _rows_at_split(
    case: Case, starts: tuple[int, ...], split: Divergence | None
) -> tuple[int, ...]:
    """Return the row whose bytes had been read when the two sides first differed."""
    if split is None or split.reference >= len(case.reference):
        return ()
    return (_row_of(case.reference[split.reference].bytes_read - 1, starts),)


def _wire(
    case: Case,
    starts: tuple[int, ...],
    notes: dict[int, tuple[str, ...]],
    interests: tuple[int, ...],
    cuts: Chunking,
) -> Iterator[WireRow]:
    frames = _kept_frames(case)
    ends = (*starts[1:], len(case.body))
    for stretch in visible_stretches(len(starts), interests):
        first, last = stretch.start, stretch.stop - 1
        if not stretch.shown:
            yield WireRow(starts[first], ends[last], skipped=stretch.stop - stretch.start)
            continue
        frame = frames[first] if frames else None
        yield WireRow(
            start=starts[first],
            end=ends[first],
            number=first + 1,
            bytes=byte_pieces(case.body, starts[first], ends[first], cuts, limit=900),
            frame=frame,
            data=pieces(frame.data.decode("utf-8", "surrogateescape"), limit=700) if frame else (),
            notes=notes.get(first, ()),
        )


def _delta_rows(emissions: tuple[Emission, ...], split: int | None) -> Iterator[DeltaRow]:
    """Yield the rows of one side; if it ended too early, the divergence has a separate row."""
    for stretch in visible_stretches(len(emissions), () if split is None else (split,)):
        if not stretch.shown:
            yield DeltaRow(stretch.start + 1, skipped=stretch.stop - stretch.start)
            continue
        emission = emissions[stretch.start]
        kind, detail = describe_delta(emission.delta)
        yield DeltaRow(
            number=stretch.start + 1,
            bytes_read=emission.bytes_read,
            kind=kind,
            detail=pieces(detail, limit=500),
            diverges=stretch.start == split,
        )
    if split == len(emissions):
        yield DeltaRow(len(emissions) + 1, kind="nothing more", diverges=True)
