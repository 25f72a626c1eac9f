"""How sure a rate is: Wilson score intervals, and the ranks that they leave open.

Nothing here compares point estimates: two entries differ where their intervals do not meet.
Rates whose trials repeat are in `repeats`, two rates over the same things in `paired`.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

# The 97.5 % quantile of the standard normal distribution: two-sided 95 %.
Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """The bounds of a rate, both within 0 and 1."""

    low: float
    high: float


class RankRange(NamedTuple):
    """The best and the worst rank that an entry may have; 1 is first."""

    low: int
    high: int


def wilson(k: float, n: float) -> Interval:
    """Return the Wilson 95 % score interval of `k` successes in `n` trials.

    Both may be fractions, where trials that repeat each other count for less than one.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", JASA 22 (1927), without continuity correction. Nothing tried, nothing
    known: n = 0 gives (0, 1).

    Raises:
        ValueError: unless 0 <= k <= n.
    """
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 <= k <= n, found k={k}, n={n}")
    if n == 0:
        return Interval(0.0, 1.0)
    rate, weight = k / n, Z_95 * Z_95 / n
    centre = (rate + weight / 2) / (1 + weight)
    half = Z_95 * sqrt(rate * (1 - rate) / n + weight / (4 * n)) / (1 + weight)
    # Exact at the ends, where the formula is off by a rounding error.
    low = 0.0 if k == 0 else min(rate, centre - half)
    high = 1.0 if k == n else max(rate, centre + half)
    return Interval(low, high)


def rank_ranges(intervals: Sequence[Interval]) -> tuple[RankRange, ...]:
    """Return for each interval the ranks that its entry may have among all of them.

    Best: 1 + the entries that lie wholly above it. Worst: the entries, itself included,
    that do not lie wholly below it.
    """
    lows = sorted(interval.low for interval in intervals)
    highs = sorted(interval.high for interval in intervals)
    count = len(intervals)
    return tuple(
        RankRange(1 + count - bisect_right(lows, high), count - bisect_left(highs, low))
        for low, high in intervals
    )
