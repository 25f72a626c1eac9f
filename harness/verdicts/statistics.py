"""Statistics of rates: Wilson intervals, repeated trials, ranks, and paired differences.

Turns that answer the same request (`TurnFacts.asked`) are one cluster. The correlation within
clusters is estimated once over all entries of a ranking, so that an entry's own luck cannot
narrow its interval. If nothing repeats, the interval is the Wilson interval. Two rates over
the same things are compared by the discordant pairs alone.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import exp, lgamma, log, sqrt
from typing import NamedTuple

import msgspec

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


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage with one decimal, as all pages and texts have it."""
    return f"{share * 100:.1f} %"


def wilson(k: float, n: float) -> Interval:
    """Return the Wilson 95 % score interval of `k` successes in `n` trials.

    Both may be fractions, because trials that repeat each other count for less than one.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", JASA 22 (1927), without continuity correction. Without
    trials, it is (0, 1).

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

    Best: 1 + the number of entries entirely above it. Worst: the number of entries, itself
    included, that are not entirely below it.
    """
    lows = sorted(interval.low for interval in intervals)
    highs = sorted(interval.high for interval in intervals)
    count = len(intervals)
    return tuple(
        RankRange(1 + count - bisect_right(lows, high), count - bisect_left(highs, low))
        for low, high in intervals
    )


def trials_to_tell_apart(one: float, other: float) -> int:
    """Return the smallest n at which the Wilson intervals of two rates are disjoint.

    Both rates have n trials; 0 if the rates are equal.
    """
    low, high = sorted((one, other))
    if low == high:
        return 0

    def is_apart(n: int) -> bool:
        return n > 0 and wilson(low * n, n).high < wilson(high * n, n).low

    enough = 1
    while not is_apart(enough):
        enough *= 2
    return bisect_left(range(enough), x=True, key=is_apart)


class Cluster(msgspec.Struct, frozen=True):
    """`times` clusters of `n` trials each, of which `k` succeeded in each."""

    k: int
    n: int
    times: int = 1


class ClusteredInterval(msgspec.Struct, frozen=True):
    """The interval of a rate with repeated trials.

    Fields:
        groups: number of clusters, of different requests.
        effective_n: the number of independent trials with the same information.
    """

    interval: Interval
    groups: int
    effective_n: float


def intraclass_correlation(entries: Iterable[Sequence[Cluster]]) -> float:
    """Return the correlation of the trials of one cluster, from 0 (none) to 1 (all equal).

    The intraclass correlation by analysis of variance, pooled over `entries`, each with its
    own rate; negative estimates are 0. If there is no estimate (no entry has two clusters, nothing
    repeats, or each entry always or never succeeds) it is 1, the pessimistic value.
    Source: A. Donner, International Statistical Review 54 (1986), section 2.
    """
    between = within = size = 0.0
    free_between = free_within = 0
    for clusters in entries:
        n = sum(it.n * it.times for it in clusters)
        count = sum(it.times for it in clusters)
        if not n:
            continue
        rate = sum(it.k * it.times for it in clusters) / n
        between += sum(it.times * it.n * (it.k / it.n - rate) ** 2 for it in clusters)
        within += sum(it.times * it.k * (it.n - it.k) / it.n for it in clusters)
        free_between += count - 1
        free_within += n - count
        size += n - _sum_of_squares(clusters) / n
    if not free_between or not free_within:
        return 1.0
    mean_between, mean_within = between / free_between, within / free_within
    total = mean_between + (size / free_between - 1) * mean_within
    # Zero if no entry varies, or if those with two clusters neither vary nor repeat.
    return min(max((mean_between - mean_within) / total, 0.0), 1.0) if total > 0 else 1.0


def clustered_interval(clusters: Sequence[Cluster], alike: float) -> ClusteredInterval:
    """Return the 95 % interval of the rate of `clusters`, whose trials correlate by `alike`.

    Wilson with `n` and `k` divided by the design effect `1 + (m - 1) * alike`, where `m` is the
    mean size of the cluster that a trial is in. Source: L. Kish, "Survey Sampling" (1965),
    section 5.4, and for Wilson with it, Saha, Miller and Wang, International Journal of
    Biostatistics 12 (2016).

    Args:
        clusters: of one entry.
        alike: the intraclass correlation of all entries.
    """
    n = sum(it.n * it.times for it in clusters)
    k = sum(it.k * it.times for it in clusters)
    groups = sum(it.times for it in clusters)
    effect = 1 + (_sum_of_squares(clusters) / n - 1) * alike if n else 1.0
    return ClusteredInterval(wilson(k / effect, n / effect), groups, n / effect)


def _sum_of_squares(clusters: Sequence[Cluster]) -> int:
    return sum(it.times * it.n * it.n for it in clusters)


class Pairs(msgspec.Struct, frozen=True):
    """Numbers of things, by who succeeded on them: `a`, the first, and `b`, the second."""

    both: int = 0
    only_a: int = 0
    only_b: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        """Number of things that both were tried on."""
        return self.both + self.only_a + self.only_b + self.neither


def mcnemar(b: int, c: int) -> float:
    """Return the two-sided p-value of the exact McNemar test.

    Args:
        b: number of pairs in which only the first succeeded.
        c: number of pairs in which only the second did.

    Returns:
        The chance of a split at least as uneven, if both are equally good: 1.0 if nothing
        differs. Source: the binomial test of `b` in `b + c` with 1/2; Q. McNemar,
        Psychometrika 12 (1947), exact form as in Fagerland et al., BMC Med. Res. Meth. 13 (2013).

    Raises:
        ValueError: a count is negative.
    """
    if b < 0 or c < 0:
        raise ValueError(f"expected counts, found b={b}, c={c}")
    n, few = b + c, min(b, c)
    if b == c:
        return 1.0
    # The largest term by logarithms, the others by their ratios: no number here can overflow.
    term = exp(lgamma(n + 1) - lgamma(few + 1) - lgamma(n - few + 1) - n * log(2))
    total = 0.0
    for k in range(few, -1, -1):
        total += term
        term *= k / (n - k + 1)
        if term < total * 1e-17:
            break
    return min(1.0, 2 * total)


def newcombe(pairs: Pairs) -> Interval:
    """Return the 95 % interval of the paired difference, rate of b minus rate of a.

    Within -1 and 1; (-1, 1) if there is no pair. Source: R. G. Newcombe, "Improved confidence
    intervals for the difference between binomial proportions based on paired data", Statistics
    in Medicine 17 (1998), method 10: Wilson intervals, squared and added, with the correlation
    of the pairs corrected for continuity.
    """
    n = pairs.n
    if not n:
        return Interval(-1.0, 1.0)
    k_a, k_b = pairs.both + pairs.only_a, pairs.both + pairs.only_b
    a, b = k_a / n, k_b / n
    (low_a, high_a), (low_b, high_b) = wilson(k_a, n), wilson(k_b, n)
    alike = _correlation(pairs)
    return Interval(
        b - a - _combined_width(b - low_b, high_a - a, alike),
        b - a + _combined_width(high_b - b, a - low_a, alike),
    )


def holm(pvalues: Sequence[float]) -> tuple[float, ...]:
    """Return `pvalues` adjusted for their number, in the same order.

    If each that is at most 0.05 is called a difference, the chance that one of those calls is
    wrong is at most 0.05. Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = [0.0] * len(pvalues)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        highest = max(highest, min(1.0, (len(pvalues) - rank) * pvalues[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def _correlation(pairs: Pairs) -> float:
    """Return the corrected phi coefficient; 0 if one of the margins is empty."""
    e, f, g, h = pairs.both, pairs.only_a, pairs.only_b, pairs.neither
    margins = (e + f) * (g + h) * (e + g) * (f + h)
    if not margins:
        return 0.0
    product = e * h - f * g
    corrected = max(product - pairs.n / 2, 0.0) if product > 0 else product
    return corrected / sqrt(margins)


def _combined_width(one: float, other: float, alike: float) -> float:
    return sqrt(max(one * one - 2 * alike * one * other + other * other, 0.0))
