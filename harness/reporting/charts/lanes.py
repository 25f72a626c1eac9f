"""Convert a case to the lanes of the report: bytes with their reads, frames, and deltas.

A long case shows its start, its end, and the surroundings of the findings and of the first
difference from `reference`. Rows between them state how much is not shown. Marks on the axis of
bytes have integer positions from 0 to `WIDTH`, so that one path draws at most `WIDTH` marks.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise, zip_longest

import msgspec

from harness.reporting.visible import Piece, byte_pieces, pieces
from harness.reporting.words import describe_delta
from harness.results.case import Case
from harness.results.finding import Finding
from harness.results.replay import Emission
from harness.results.run import REFERENCE
from harness.turns.deltas import ArgumentsDelta, ReasoningDelta, TextDelta
from harness.wire.cuts import Chunking
from harness.wire.frames import Frame
from harness.wording import pluralize

_END: tuple[int, object] = (-1, None)


class Divergence(msgspec.Struct, frozen=True):
    """The index of the first different delta of the client, and of `reference`.

    If one side ended earlier, the index is the number of its deltas.
    """

    actual: int
    reference: int


def first_divergence(
    actual: tuple[Emission, ...], reference: tuple[Emission, ...]
) -> Divergence | None:
    """Return the indexes of the first deltas that differ; None if all are the same."""
    for ours, theirs in zip_longest(_atoms(actual), _atoms(reference), fillvalue=_END):
        if ours[1] != theirs[1]:
            return Divergence(_delta_index(ours, actual), _delta_index(theirs, reference))
    return None


def divergence_offset(case: Case) -> int | None:
    """Return how many bytes had been read when the client first differed from `reference`.

    None if the deltas are the same, or were not compared.
    """
    split = first_divergence(case.deltas, case.reference) if case.reference else None
    return _byte_of(split, case, len(case.body))


def deciding_offset(case: Case, finding: Finding) -> int | None:
    """Return a byte of the frame that `finding` is about; None if its rule names no byte.

    A rule that compares a complete turn notices the violation at `[DONE]`. Then this is where the
    expected value was sent last, or where the client first differed from `reference`.
    """
    at = finding.offset
    end = next((it.offset for it in case.frames if it.offset == at and it.data == b"[DONE]"), None)
    if end is None:
        return at
    sent = case.body.rfind(finding.expected.encode(), 0, end) if finding.expected else -1
    split = divergence_offset(case) or 0
    return sent if sent >= 0 else split - 1 if 0 < split <= end else at


def frame_around(case: Case, at: int) -> tuple[int, int]:
    """Return the start and the end of the frame with the byte at `at`, with its line ends."""
    starts = (*_starts(case), len(case.body))
    row = _row_of(at, starts[:-1])
    return starts[row], starts[row + 1]


def _delta_index(atom: tuple[int, object], emissions: tuple[Emission, ...]) -> int:
    return len(emissions) if atom is _END else atom[0]


def _atoms(emissions: tuple[Emission, ...]) -> Iterator[tuple[int, object]]:
    """Yield the index of a delta, and one character of it with its kind, or the entire delta."""
    for place, emission in enumerate(emissions):
        delta = emission.delta
        match delta:
            case TextDelta() | ReasoningDelta():
                for char in delta.text:
                    yield place, (type(delta), char)
            case ArgumentsDelta():
                for char in delta.fragment:
                    yield place, (delta.index, char)
            case _:
                yield place, delta


WIDTH = 1000
_HEIGHT = 14


class AxisLane(msgspec.Struct, frozen=True):
    """A lane on the axis of bytes: the reads, frames or deltas, drawn as marks.

    Fields:
        path: SVG path data in a box of `WIDTH` by 14.
        text: a description for readers who cannot see the drawing.
        mark: position of the first difference from `reference`; None if the lane has none.
    """

    name: str
    path: str
    text: str
    mark: int | None = None


def axis_lanes(
    case: Case, size: int, starts: tuple[int, ...], divergence: Divergence | None, normalizer: str
) -> tuple[AxisLane, ...]:
    """Return the lanes of `case` on an axis of `size` bytes.

    Args:
        case: the case.
        size: the number of bytes.
        starts: the offsets at which frames start.
        divergence: the first difference from `reference`; None if there is none.
        normalizer: the name of the client.
    """
    reads = len(case.chunking) + 1
    mine, theirs = (divergence.actual, divergence.reference) if divergence else (None, None)
    return (
        AxisLane("reads", _ticks(case.chunking, size), pluralize(reads, "read")),
        AxisLane("frames", _ticks(starts, size), pluralize(len(case.frames), "frame")),
        _deltas(normalizer, case.deltas, size, mine),
        _deltas(REFERENCE, case.reference, size, theirs),
    )


def input_lanes(case: Case, others: Iterable[tuple[str, Case]]) -> tuple[AxisLane, ...]:
    """Return the lane of the frames of an input, and a lane of each client's deltas."""
    size = max(len(case.body), 1)
    starts = tuple(frame.offset for frame in _kept_frames(case))
    frames = AxisLane("frames", _ticks(starts, size), pluralize(len(case.frames), "frame"))
    lanes = [frames]
    for name, each in others:
        split = None if name == REFERENCE else first_divergence(each.deltas, each.reference)
        lanes.append(_deltas(name, each.deltas, size, split.actual if split else None))
    return tuple(lanes)


def _deltas(name: str, emissions: tuple[Emission, ...], size: int, index: int | None) -> AxisLane:
    places = tuple(each.bytes_read for each in emissions)
    mark = None
    if index is not None:
        mark = _scale(places[index] if index < len(places) else size, size)
    return AxisLane(
        f"deltas of {name}", _ticks(places, size), pluralize(len(places), "delta"), mark
    )


def _ticks(places: Iterable[int], size: int) -> str:
    marks = sorted({_scale(place, size) for place in places})
    return "".join(f"M{mark} 1V{_HEIGHT - 1}" for mark in marks)


def _scale(place: int, size: int) -> int:
    return round(min(place, size) / max(size, 1) * WIDTH)


_HEAD, _TAIL, _AROUND = 4, 3, 6
_MAX_INTERESTS = 4


class Stretch(msgspec.Struct, frozen=True):
    """A range of rows, from `start` to before `stop`, that is shown or left out."""

    start: int
    stop: int
    shown: bool


def visible_stretches(total: int, interests: Iterable[int]) -> tuple[Stretch, ...]:
    """Divide the rows of a chart into ranges that it shows and ranges that it leaves out.

    It shows the first and the last rows, and those near `interests`. A range of a single row is
    never left out, because the note about it would need as much space.

    Args:
        total: the number of rows.
        interests: the indexes of rows that the reader must see.
    """
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
    """A row with the bytes of one frame, or the number of such rows that are not shown.

    Fields:
        start, end: the offsets of the bytes.
        data: the data of the frame, if the bytes do not contain it unchanged.
        notes: rules whose findings name a byte in this row.
        skipped: the number of rows that this row replaces; 0 for a row with bytes.
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
    """A row with one delta as text, or with the number of deltas that are not shown."""

    number: int
    bytes_read: int = 0
    kind: str = ""
    detail: tuple[Piece, ...] = ()
    diverges: bool = False
    skipped: int = 0


class Lanes(msgspec.Struct, frozen=True):
    """The bytes, frames and deltas of one case, for an axis of `size` bytes.

    Fields:
        dense: whether reads end so often that the text does not show where.
        steps: offsets at which reads end, to which a reader can step; empty if there are too many.
        split: the number of bytes after which the deltas first differ from `reference`; None if
            they are the same.
        compared: whether the normalizer is not `reference` itself.
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
    compared: bool = True


def lanes(case: Case, findings: tuple[Finding, ...], normalizer: str) -> Lanes:
    """Return the bytes, frames and deltas of `case` for the report."""
    size = max(len(case.body), *case.chunking, *(e.bytes_read for e in case.deltas), 1)
    dense = len(case.chunking) > len(case.body) * _DENSE
    compared = normalizer != REFERENCE
    split = first_divergence(case.deltas, case.reference) if compared else None
    starts = _starts(case)
    notes = _notes(case, findings, starts)
    interests = (*notes, *_rows_at_split(case, starts, split))
    return Lanes(
        size=size,
        cut=case.cut,
        dense=dense,
        steps=case.chunking if len(case.chunking) <= _MOST_STEPS else (),
        split=_byte_of(split, case, size),
        axis=axis_lanes(case, size, starts, split, normalizer)[: 4 if compared else 3],
        wire=tuple(_wire(case, starts, notes, interests, () if dense else case.chunking)),
        deltas=tuple(_delta_rows(case.deltas, split.actual if split else None)),
        reference=tuple(_delta_rows(case.reference, split.reference if split else None)),
        compared=compared,
    )


def _byte_of(split: Divergence | None, case: Case, size: int) -> int | None:
    if split is None:
        return None
    sides = (case.deltas, split.actual), (case.reference, split.reference)
    return min(side[at].bytes_read if at < len(side) else size for side, at in sides)


def _starts(case: Case) -> tuple[int, ...]:
    """Return the offset at which the row of each frame starts, which is after a blank line."""
    starts = [0]
    for before, frame in pairwise(_kept_frames(case)):
        gap = case.body[before.offset : frame.offset]
        ends = [gap.rfind(blank) + len(blank) for blank in _BLANK_LINES if blank in gap]
        starts.append(before.offset + max(ends, default=len(gap)))
    return tuple(starts)


def _kept_frames(case: Case) -> tuple[Frame, ...]:
    """Return the frames that start in the part of the body that the run file contains."""
    return tuple(frame for frame in case.frames if frame.offset < len(case.body))


def _row_of(offset: int, starts: tuple[int, ...]) -> int:
    return max(bisect_right(starts, offset) - 1, 0)


def _notes(
    case: Case, findings: tuple[Finding, ...], starts: tuple[int, ...]
) -> dict[int, tuple[str, ...]]:
    notes: dict[int, tuple[str, ...]] = {}
    for finding in findings:
        at = deciding_offset(case, finding)
        if at is not None:
            row = _row_of(at, starts)
            notes[row] = (*notes.get(row, ()), f"{finding.rule} at byte {finding.offset:,}")
    return notes


def _rows_at_split(
    case: Case, starts: tuple[int, ...], split: Divergence | None
) -> tuple[int, ...]:
    """Return the row whose bytes had been read when deltas first differed; () if none differ."""
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
            data=_data_apart(case.body[starts[first] : ends[first]], frame),
            notes=notes.get(first, ()),
        )


def _data_apart(body: bytes, frame: Frame | None) -> tuple[Piece, ...]:
    """Return the data of a frame; () if `body` contains it unchanged, as for most frames."""
    if frame is None or frame.data in body:
        return ()
    return pieces(frame.data.decode("utf-8", "surrogateescape"), limit=700)


def _delta_rows(emissions: tuple[Emission, ...], split: int | None) -> Iterator[DeltaRow]:
    """Yield a row for each delta; if they end too early, an extra row marks the difference."""
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


def divergence_rows(case: Case) -> tuple[DeltaRow, DeltaRow] | None:
    """Return the first deltas of the client and of `reference` that differ; None for none."""
    split = first_divergence(case.deltas, case.reference) if case.reference else None
    if split is None:
        return None
    return _delta_at(case.deltas, split.actual), _delta_at(case.reference, split.reference)


def _delta_at(emissions: tuple[Emission, ...], index: int) -> DeltaRow:
    return next(row for row in _delta_rows(emissions, index) if row.diverges)
