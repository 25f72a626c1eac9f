"""Compute statistics of rates: Wilson intervals, repeated trials, ranks, paired differences.

Turns that answer the same request (`TurnFacts.asked`) are one cluster. The correlation within
clusters is estimated once over all entries of a ranking, so that chance in one entry cannot
narrow its interval. If no request repeats, the interval is the Wilson interval. Two rates over
the same turns or cells are compared only by the pairs in which one succeeded and one failed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import exp, hypot, lgamma, log, sqrt
from typing import NamedTuple

import msgspec

# The 97.5 % quantile of the standard normal distribution: two-sided 95 %.
Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """The lower and the upper bound of a rate, or of a difference of rates."""

    low: float
    high: float


class RankRange(NamedTuple):
    """The best and the worst rank that an entry may have; 1 is first."""

    low: int
    high: int


def percent(share: float) -> str:
    """Return a share from 0 to 1 as a percentage with one decimal, such as `12.5 %`."""
    return f"{share * 100:.1f} %"


def percent_range(low: float, high: float) -> str:
    """Return an interval of shares as percentages, such as `2.1 % to 9.8 %`."""
    return f"{percent(low)} to {percent(high)}"


def wilson(k: float, n: float) -> Interval:
    """Return the Wilson 95 % score interval of `k` successes in `n` trials; (0, 1) if `n` is 0.

    `k` and `n` may be fractions, because repeated trials count for less than one.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", JASA 22 (1927), without continuity correction.

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
    """Return for each entry the best and the worst rank that the intervals of all entries allow.

    The best rank is 1 + the number of intervals entirely above the entry's. The worst rank is the
    number of intervals, including its own, that are not entirely below it.
    """
    lows = sorted(interval.low for interval in intervals)
    highs = sorted(interval.high for interval in intervals)
    count = len(intervals)
    return tuple(
        RankRange(1 + count - bisect_right(lows, high), count - bisect_left(highs, low))
        for low, high in intervals
    )


def trials_to_tell_apart(one: float, other: float) -> int:
    """Return how many trials each of two rates needs until their Wilson intervals are disjoint.

    Returns 0 if the rates are equal.
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
    """A number of clusters of equal size: `times` clusters, each with `k` of `n` successes."""

    k: int
    n: int
    times: int = 1


class ClusteredInterval(msgspec.Struct, frozen=True):
    """The interval of a rate with repeated trials.

    Fields:
        interval: the 95 % interval of the rate.
        groups: the number of clusters, which is the number of different requests.
        effective_n: the number of independent trials that would give the same information.
    """

    interval: Interval
    groups: int
    effective_n: float


def intraclass_correlation(entries: Iterable[Sequence[Cluster]]) -> float:
    """Return the correlation of the trials of one cluster, from 0 (none) to 1 (all equal).

    The intraclass correlation by analysis of variance, pooled over `entries`, each with its
    own rate; negative estimates become 0. If no estimate is possible (no entry has two clusters,
    no cluster repeats, or each entry always or never succeeds), it returns the pessimistic 1.
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
        clusters: the clusters of one entry.
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
    """Numbers of turns or cells by the run in which they succeeded: `a` first, `b` second."""

    both: int = 0
    only_a: int = 0
    only_b: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        """The number of turns or cells that both runs have."""
        return self.both + self.only_a + self.only_b + self.neither


def mcnemar(b: int, c: int) -> float:
    """Return the two-sided p-value of the exact McNemar test.

    Args:
        b: number of pairs in which only the first succeeded.
        c: number of pairs in which only the second succeeded.

    Returns:
        The probability of counts that differ at least as much, if both are equally good: 1.0 if
        `b` equals `c`. Source: the binomial test of `b` in `b + c` with 1/2; Q. McNemar,
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

    The bounds are from -1 to 1, and (-1, 1) if there is no pair. Source: R. G. Newcombe, "Improved
    confidence intervals for the difference between binomial proportions based on paired data",
    Statistics in Medicine 17 (1998), method 10: Wilson intervals, squared and added, with the
    correlation of the pairs corrected for continuity.
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


def difference(one: float, sure: Interval, other: float, other_sure: Interval) -> Interval:
    """Return the 95 % interval of `one` minus `other`, two independent rates with their intervals.

    This is method 10 of Newcombe (Statistics in Medicine 17, 1998, 873-890), which combines the
    intervals of the rates, so that an interval that allows for clusters stays as wide as it is.
    """
    low = hypot(one - sure.low, other_sure.high - other)
    high = hypot(sure.high - one, other - other_sure.low)
    return Interval(max(-1.0, one - other - low), min(1.0, one - other + high))


def holm(pvalues: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted for the number of comparisons, in the same order.

    If you call each difference with an adjusted p-value of at most 0.05 real, the probability that
    any of these is not real is at most 0.05.
    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = [0.0] * len(pvalues)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        highest = max(highest, min(1.0, (len(pvalues) - rank) * pvalues[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def _correlation(pairs: Pairs) -> float:
    """Return the phi coefficient of the pairs, corrected for continuity; 0 if it is undefined."""
    e, f, g, h = pairs.both, pairs.only_a, pairs.only_b, pairs.neither
    margins = (e + f) * (g + h) * (e + g) * (f + h)
    if not margins:
        return 0.0
    product = e * h - f * g
    corrected = max(product - pairs.n / 2, 0.0) if product > 0 else product
    return corrected / sqrt(margins)


def _combined_width(one: float, other: float, alike: float) -> float:
    return sqrt(max(one * one - 2 * alike * one * other + other * other, 0.0))
