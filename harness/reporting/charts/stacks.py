"""Outcomes of each normalizer -> bars of stacked segments, worst first, each with its number."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.judging.results import Outcome, Result
from harness.reporting.words import OUTCOME_WORDS, WORST_FIRST, OutcomeWord

WIDTH: Final = 600
_SYMBOL_WIDTH: Final = 22
_DIGIT_WIDTH: Final = 8


class Segment(msgspec.Struct, frozen=True):
    """`count` cells of one outcome, from `x` on a bar of `WIDTH`."""

    word: OutcomeWord
    count: int
    x: float
    width: float

    @property
    def has_label(self) -> bool:
        """Whether symbol and number have room inside."""
        return self.width >= _SYMBOL_WIDTH + _DIGIT_WIDTH * len(f"{self.count:,}")


class Stack(msgspec.Struct, frozen=True):
    """The bar of one name, without unsupported cells."""

    name: str
    judged: int
    unsupported: int
    segments: tuple[Segment, ...]


def stacks(results: Iterable[Result], kind: str) -> tuple[Stack, ...]:
    """Return a bar for each name that was judged on `kind`, by name."""
    counts: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for result in results:
        if result.kind == kind:
            counts[result.normalizer][result.outcome] += 1
    return tuple(_stack(name, counts[name]) for name in sorted(counts))


def _stack(name: str, counts: Counter[Outcome]) -> Stack:
    unsupported = counts[Outcome.UNSUPPORTED]
    judged = counts.total() - unsupported
    found: list[Segment] = []
    before = 0
    for word in WORST_FIRST:
        count = counts[word.outcome]
        if count and word.outcome is not Outcome.UNSUPPORTED:
            found.append(
                Segment(OUTCOME_WORDS[word.outcome], count, _x(before, judged), _x(count, judged))
            )
            before += count
    return Stack(name, judged, unsupported, tuple(found))


def _x(count: int, total: int) -> float:
    return round(count / total * WIDTH, 2)
