"""Counts by day -> the day from which a failure rate is higher, and how sure that is.

The statistic is the largest share of the variation between days that one rise explains, over all
days on which it may begin: the maximally selected chi-square of a change in a binomial rate,
divided by the chi-square of the days. The division cancels a variation between days that is larger
than the binomial one, as in Worsley's test for a normal mean with unknown variance. The p-value is
the share of simulated series without a change that reach the statistic, with the same days and a
fixed seed. A day weighs as many turns as it has independent ones, so that a large day does not
decide alone. If failures are rare, the simulated series are the same days in other orders, which is
exact if the order of days means nothing, also if failures come in bursts.

Sources:

- R. Miller and D. Siegmund, "Maximally selected chi square statistics", Biometrics 38 (1982)
- K. J. Worsley, "The power of likelihood ratio and cumulative sum tests for a change in a binomial
  probability", Biometrika 70 (1983)
- K. J. Worsley, "On the likelihood ratio test for a shift in location of normal populations",
  JASA 74 (1979)
- T. Hothorn and A. Zeileis, "Generalized maximally selected statistics", Biometrics 64 (2008), for
  the permutation of days
- J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991), for when the
  simulation may stop
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import exp, lgamma, log, sqrt
from random import Random
from typing import Final

import msgspec

from harness.verdicts.statistics import Cluster, intraclass_correlation

# With fewer days, even a failure of every turn of the last one is not sure.
FEWEST_DAYS: Final = 5
DRAWS: Final = 9_999
# With fewer failures a day, those that come in bursts look like a change.
_FEW_FAILURES: Final = 5
# Simulated series that reach the statistic, after which the p-value is exact enough.
_REACHED: Final = 20
# From this variance on, a binomial number is drawn as a rounded normal one.
_NORMAL_FROM: Final = 10_000.0
_NEGLIGIBLE: Final = 1e-13
_ROUNDING: Final = 1e-9


class Rise(msgspec.Struct, frozen=True):
    """The most likely increase of a failure rate in a series of days.

    Fields:
        first: index of the first day with the higher rate; 0 if the rate increases on no day.
        explained: the share of the variation between days that the increase explains, from 0 to 1.
        p: the probability of a share at least as large if the rate never changes.
    """

    first: int
    explained: float
    p: float


def find_rise(days: Sequence[Cluster], seed: str, draws: int = DRAWS) -> Rise:
    """Return the most likely increase of the failure rate of `days`.

    Args:
        days: one item for each day, in order: `k` failures in `n` turns, with `n` above 0.
        seed: the seed of the random numbers.
        draws: the largest number of series to simulate. The smallest possible p is 1 / (draws + 1).
    """
    _, first = _Sizes([day.n for day in days]).explained([day.k for day in days])
    if not first or len(days) < FEWEST_DAYS:
        return Rise(first, 0.0, 1.0)
    effects = _design_effects(days, first)
    failures = [day.k / effect for day, effect in zip(days, effects, strict=True)]
    counts = [day.n / effect for day, effect in zip(days, effects, strict=True)]
    explained, first = _Sizes(counts).explained(failures)
    random = Random(seed)  # noqa: S311 - a simulation that can be repeated
    if sum(day.k for day in days) < _FEW_FAILURES * len(days):
        statistics = _permuted(failures, counts, random)
    else:
        statistics = _simulated(counts, sum(failures) / sum(counts), random)
    reached = 0
    for number in range(1, draws + 1):
        reached += next(statistics) >= explained - _ROUNDING
        if reached == _REACHED:
            return Rise(first, explained, reached / number)
    return Rise(first, explained, (reached + 1) / (draws + 1))


def _design_effects(days: Sequence[Cluster], first: int) -> list[float]:
    """Return how many turns of each day count as one, because turns of one day are alike.

    The correlation of turns is estimated with one rate for the days before `first`, and another
    rate for the days from `first` on.
    """
    alike = intraclass_correlation((days[:first], days[first:]))
    return [1 + (day.n - 1) * alike for day in days]


class _Sizes:
    """Calculates the statistic of many series that have the same numbers of turns per day."""

    def __init__(self, sizes: Sequence[float]) -> None:
        self._sizes = sizes
        self._before = list(accumulate(sizes))
        self._total = self._before.pop()
        self._weights = [1 / (n * (self._total - n) * self._total) for n in self._before]

    def explained(self, failures: Sequence[float]) -> tuple[float, int]:
        """Return the statistic, and the index of the first day with a higher rate; 0 for none."""
        total, failed = self._total, sum(failures)
        varied = sum(k * k / n for k, n in zip(failures, self._sizes, strict=True))
        varied -= failed * failed / total
        if varied <= _NEGLIGIBLE * total:
            return 0.0, 0
        most, first, so_far = 0.0, 0, 0.0
        for day, (n, weight) in enumerate(zip(self._before, self._weights, strict=True)):
            so_far += failures[day]
            rise = failed * n - so_far * total
            if rise > 0 and rise * rise * weight > most:
                most, first = rise * rise * weight, day + 1
        return most / varied, first


def _permuted(
    failures: Sequence[float], counts: Sequence[float], random: Random
) -> Iterator[float]:
    """Yield the statistic of random orders of the same days, without end."""
    days = list(zip(failures, counts, strict=True))
    while True:
        random.shuffle(days)
        yield _Sizes([n for _, n in days]).explained([k for k, _ in days])[0]


def _simulated(counts: Sequence[float], rate: float, random: Random) -> Iterator[float]:
    """Yield the statistic of random series whose days all have the same rate, without end."""
    drawn = [max(1, round(n)) for n in counts]
    sizes, tables = _Sizes(drawn), {n: _Binomial(n, rate) for n in set(drawn)}
    days = [tables[n] for n in drawn]
    while True:
        yield sizes.explained([day.draw(random) for day in days])[0]


class _Binomial:
    """Draws random numbers of failures among `n` turns with a fixed failure rate."""

    def __init__(self, n: int, rate: float) -> None:
        self._n, self._mean = n, n * rate
        variance = n * rate * (1 - rate)
        self._deviation = sqrt(variance) if variance >= _NORMAL_FROM else 0.0
        self._least, shares = (0, [1.0]) if self._deviation else _shares(n, rate)
        self._sums = list(accumulate(shares))

    def draw(self, random: Random) -> float:
        """Return a random number of failures."""
        if self._deviation:
            drawn = round(random.gauss(self._mean, self._deviation))
            return float(min(max(drawn, 0), self._n))
        found = bisect_left(self._sums, random.random() * self._sums[-1])
        return float(self._least + found)


def _shares(n: int, rate: float) -> tuple[int, list[float]]:
    """Return the lowest likely number of failures, and the probabilities from that number on."""
    mode = min(n, int((n + 1) * rate))
    odds = rate / (1 - rate)
    highest = exp(
        lgamma(n + 1)
        - lgamma(mode + 1)
        - lgamma(n - mode + 1)
        + mode * log(rate)
        + (n - mode) * log(1 - rate)
    )
    below, above = [], [highest]
    term, k = highest, mode
    while k > 0 and term > _NEGLIGIBLE:
        term *= k / ((n - k + 1) * odds)
        k -= 1
        below.append(term)
    least, term, k = k, highest, mode
    while k < n and term > _NEGLIGIBLE:
        term *= (n - k) * odds / (k + 1)
        k += 1
        above.append(term)
    return least, [*reversed(below), *above]
