"""Rates whose trials repeat: the same request asked again says less than another request.

Turns that answer the same request (`TurnFacts.asked`) are one cluster. How alike the turns of a
cluster are is estimated once over all entries of a ranking, so that an entry's own luck cannot
narrow its interval: with the same clusters, more successes never rank lower. Where
nothing repeats, everything here is the plain Wilson interval.
"""

from collections.abc import Iterable, Sequence

import msgspec

from harness.runs.statistics import Interval, wilson


class Cluster(msgspec.Struct, frozen=True):
    """`times` clusters of `n` trials each, of which `k` succeeded in each."""

    k: int
    n: int
    times: int = 1


class Clustered(msgspec.Struct, frozen=True):
    """An interval that knows of repeats.

    Fields:
        groups: number of clusters, of different requests.
        effective_n: the number of independent trials that the `n` are worth.
    """

    interval: Interval
    groups: int
    effective_n: float


def likeness(entries: Iterable[Sequence[Cluster]]) -> float:
    """Return how alike the trials of one cluster are, from 0 (not at all) to 1 (all the same).

    The intraclass correlation by analysis of variance, pooled over `entries`, each with its
    own rate; negative estimates are 0. Where it cannot be told (no entry has two clusters, nothing
    repeats, or each entry always or never succeeds) it is 1, the pessimistic end.
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
        size += n - _squares(clusters) / n
    if not free_between or not free_within or not between + within:
        return 1.0
    mean_between, mean_within = between / free_between, within / free_within
    size /= free_between
    found = (mean_between - mean_within) / (mean_between + (size - 1) * mean_within)
    return min(max(found, 0.0), 1.0)


def clustered(clusters: Sequence[Cluster], alike: float) -> Clustered:
    """Return the 95 % interval of the rate of `clusters`, of which `alike` says how alike.

    Wilson with `n` and `k` divided by the design effect `1 + (m - 1) * alike`, where `m` is the
    mean size of the cluster that a trial is in. Source: L. Kish, "Survey Sampling" (1965),
    section 5.4, and for Wilson with it, Saha, Miller and Wang, International Journal of
    Biostatistics 12 (2016).

    Args:
        clusters: of one entry.
        alike: what `likeness` says of all entries.
    """
    n = sum(it.n * it.times for it in clusters)
    k = sum(it.k * it.times for it in clusters)
    groups = sum(it.times for it in clusters)
    effect = 1 + (_squares(clusters) / n - 1) * alike if n else 1.0
    return Clustered(wilson(k / effect, n / effect), groups, n / effect)


def _squares(clusters: Sequence[Cluster]) -> int:
    return sum(it.times * it.n * it.n for it in clusters)
