"""Paired comparisons against published values, against statsmodels, and their properties."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runs.statistics import Pairs, holm, mcnemar, newcombe

counts = st.integers(0, 60)
tables = st.builds(Pairs, counts, counts, counts, counts).filter(lambda pairs: pairs.n > 0)
pvalues = st.lists(st.floats(0, 1), max_size=12)


@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998) 2635, table III, method 10; the paper
        # takes the first minus the second.
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((20, 12, 2, 16), 0.0562, 0.3292),
        ((36, 14, 0, 0), 0.1528, 0.4167),
        ((35, 14, 0, 1), 0.1461, 0.4175),
        ((18, 14, 0, 18), 0.1441, 0.3963),
        ((2, 97, 1, 0), 0.8721, 0.9854),
        ((0, 30, 0, 0), 0.8395, 1.0),
        ((54, 0, 0, 0), -0.0664, 0.0664),
        ((53, 0, 0, 1), -0.0729, 0.0729),
        ((27, 0, 0, 27), -0.0351, 0.0351),
    ],
)
def test_newcombe_gives_the_published_values(
    cells: tuple[int, int, int, int], low: float, high: float
) -> None:
    assert newcombe(Pairs(*cells)) == pytest.approx((-high, -low), abs=6e-5)


@given(tables)
def test_the_paired_interval_holds_the_difference_and_turns_with_the_sides(pairs: Pairs) -> None:
    low, high = newcombe(pairs)
    difference = (pairs.only_b - pairs.only_a) / pairs.n
    assert -1 - 1e-12 <= low <= difference + 1e-12
    assert difference - 1e-12 <= high <= 1 + 1e-12
    turned = newcombe(Pairs(pairs.both, pairs.only_b, pairs.only_a, pairs.neither))
    assert turned == pytest.approx((-high, -low), abs=1e-12)


def test_without_a_pair_nothing_is_known() -> None:
    assert newcombe(Pairs()) == (-1.0, 1.0)


@given(counts, counts)
def test_mcnemar_is_the_binomial_test(b: int, c: int) -> None:
    n, few = b + c, min(b, c)
    exact = min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / 2**n)
    assert mcnemar(b, c) == pytest.approx(exact, rel=1e-9)
    assert mcnemar(b, c) == mcnemar(c, b)


def test_mcnemar_takes_large_counts() -> None:
    assert mcnemar(50_000, 50_000) == 1.0
    assert mcnemar(0, 100_000) == 0.0
    # The normal approximation with continuity correction: z = 399 / sqrt(100000).
    assert mcnemar(49_800, 50_200) == pytest.approx(0.2071, abs=1e-3)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="expected counts"):
        mcnemar(-1, 2)


def test_holm_steps_down() -> None:
    # By hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, and never below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(pvalues)
def test_holm_keeps_the_order_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(0 <= p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[place] for place in order] == sorted(adjusted)


class TestAgainstStatsmodels:
    """The same numbers from an independent implementation, where the extra `stats` is there."""

    @given(counts, counts)
    def test_mcnemar(self, b: int, c: int) -> None:
        tables = pytest.importorskip(
            "statsmodels.stats.contingency_tables", reason="needs the extra `stats`"
        )
        theirs = tables.mcnemar([[3, b], [c, 4]], exact=True).pvalue
        assert mcnemar(b, c) == pytest.approx(theirs, rel=1e-9)

    @given(pvalues.filter(len))
    def test_holm(self, values: list[float]) -> None:
        tests = pytest.importorskip("statsmodels.stats.multitest", reason="needs the extra `stats`")
        theirs = tests.multipletests(values, method="holm")[1]
        assert holm(values) == pytest.approx(tuple(theirs), abs=1e-12)
