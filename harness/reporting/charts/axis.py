"""A case -> marks on the byte axis: reads, frames and deltas drawn under each other.

Positions are whole numbers from 0 to `WIDTH`, so a lane has at most `WIDTH` marks however
long the stream is, and one path draws them all.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

import msgspec

from harness.judging.case import Case
from harness.judging.results import Emission
from harness.runs.run import pluralize
from harness.turns.deltas import ArgumentsDelta, ReasoningDelta, TextDelta

_END: tuple[int, object] = (-1, None)


class Divergence(msgspec.Struct, frozen=True):
    """Index of the first different delta on each side; the length of a side that ended."""

    actual: int
    reference: int


def first_divergence(
    actual: tuple[Emission, ...], reference: tuple[Emission, ...]
) -> Divergence | None:
    """Return the indexes at which the two first differ; None if they are the same."""
    for ours, theirs in zip_longest(_atoms(actual), _atoms(reference), fillvalue=_END):
        if ours[1] != theirs[1]:
            return Divergence(_delta_index(ours, actual), _delta_index(theirs, reference))
    return None


def _delta_index(atom: tuple[int, object], emissions: tuple[Emission, ...]) -> int:
    return len(emissions) if atom is _END else atom[0]


def _atoms(emissions: tuple[Emission, ...]) -> Iterator[tuple[int, object]]:
    """Yield (index of the delta, one character with its channel, or the entire delta)."""
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
    """One lane.

    Fields:
        path: SVG path data in a box of `WIDTH` by 14.
        text: for a reader who cannot see the drawing.
        mark: position of the first divergence; None if the lane has none.
    """

    name: str
    path: str
    text: str
    mark: int | None = None


def axis_lanes(
    case: Case, size: int, starts: tuple[int, ...], divergence: Divergence | None, normalizer: str
) -> tuple[AxisLane, ...]:
    """Return the lanes of `case` on an axis of `size` bytes."""
    actual = tuple(e.bytes_read for e in case.deltas)
    expected = tuple(e.bytes_read for e in case.reference)
    reads = len(case.chunking) + 1
    mine, theirs = (divergence.actual, divergence.reference) if divergence else (None, None)
    return (
        AxisLane("reads", _ticks(case.chunking, size), pluralize(reads, "read")),
        AxisLane("frames", _ticks(starts, size), pluralize(len(case.frames), "frame")),
        _deltas(normalizer, actual, size, mine),
        _deltas("reference", expected, size, theirs),
    )


def _deltas(name: str, places: tuple[int, ...], size: int, index: int | None) -> AxisLane:
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
