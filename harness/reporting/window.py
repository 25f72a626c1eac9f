"""A long list -> the stretches worth showing: its ends, and what surrounds points of interest."""

from collections.abc import Iterable

import msgspec

_HEAD, _TAIL, _AROUND = 4, 3, 6
_MAX_INTERESTS = 4


class Stretch(msgspec.Struct, frozen=True):
    """Rows `start` to `stop` (exclusive), shown or left out."""

    start: int
    stop: int
    shown: bool


def stretches(total: int, interests: Iterable[int]) -> tuple[Stretch, ...]:
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
