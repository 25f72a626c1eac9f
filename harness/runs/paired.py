"""Two rates over the same things: is the second really better, or is it noise?

Only things that both were tried on count. `Pairs` says how often both, one or neither
succeeded; what differs between the two is told by the discordant ones alone.
"""

from collections.abc import Sequence
from math import exp, lgamma, log, sqrt

import msgspec

from harness.runs.statistics import Interval, wilson


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
        The chance of a split at least as uneven, were both equally good: 1.0 where nothing
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

    Within -1 and 1; (-1, 1) where there is no pair. Source: R. G. Newcombe, "Improved confidence
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
        b - a - _added(b - low_b, high_a - a, alike),
        b - a + _added(high_b - b, a - low_a, alike),
    )


def holm(pvalues: Sequence[float]) -> tuple[float, ...]:
    """Return `pvalues` adjusted for their number, in the same order.

    Where each that is at most 0.05 is called a difference, the chance that any such call is
    wrong is at most 0.05. Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = [0.0] * len(pvalues)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        highest = max(highest, min(1.0, (len(pvalues) - rank) * pvalues[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def _correlation(pairs: Pairs) -> float:
    """Return the corrected phi coefficient, 0 where one of the margins is empty."""
    e, f, g, h = pairs.both, pairs.only_a, pairs.only_b, pairs.neither
    margins = (e + f) * (g + h) * (e + g) * (f + h)
    if not margins:
        return 0.0
    product = e * h - f * g
    corrected = max(product - pairs.n / 2, 0.0) if product > 0 else product
    return corrected / sqrt(margins)


def _added(one: float, other: float, alike: float) -> float:
    return sqrt(max(one * one - 2 * alike * one * other + other * other, 0.0))
