"""Two lists of deltas -> where they first say something different.

Fragments are compared character by character, so a normalizer that cuts the same text into
other pieces does not diverge; times (bytes read) are not compared.
"""

from collections.abc import Iterator
from itertools import zip_longest

import msgspec

from harness.judging.results import Emission
from harness.turns.deltas import ArgumentsDelta, ReasoningDelta, TextDelta

_END: tuple[int, object] = (-1, None)


class Divergence(msgspec.Struct, frozen=True):
    """Index of the first different delta on each side; the length of a side that ended."""

    actual: int
    reference: int


def first_divergence(
    actual: tuple[Emission, ...], reference: tuple[Emission, ...]
) -> Divergence | None:
    """Return where the two first differ; None where they say the same."""
    for ours, theirs in zip_longest(_atoms(actual), _atoms(reference), fillvalue=_END):
        if ours[1] != theirs[1]:
            return Divergence(_place(ours, actual), _place(theirs, reference))
    return None


def _place(atom: tuple[int, object], emissions: tuple[Emission, ...]) -> int:
    return len(emissions) if atom is _END else atom[0]


def _atoms(emissions: tuple[Emission, ...]) -> Iterator[tuple[int, object]]:
    """Yield (index of the delta, one character with its channel, or the whole delta)."""
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
