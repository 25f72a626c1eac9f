"""Wilson intervals against published values and their properties; ranks that stay open."""

from math import comb

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.verdicts.statistics import (
    Cluster,
    Interval,
    Pairs,
    clustered_interval,
    difference,
    holm,
    intraclass_correlation,
    mcnemar,
    newcombe,
    rank_ranges,
    wilson,
)

pair_counts = st.integers(0, 60)
tables = st.builds(Pairs, pair_counts, pair_counts, pair_counts, pair_counts).filter(
    lambda pairs: pairs.n > 0
)
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
def test_newcombe_matches_published_values(
    cells: tuple[int, int, int, int], low: float, high: float
) -> None:
    assert newcombe(Pairs(*cells)) == pytest.approx((-high, -low), abs=6e-5)


@given(tables)
def test_newcombe_contains_the_difference_and_is_symmetric(pairs: Pairs) -> None:
    low, high = newcombe(pairs)
    difference = (pairs.only_b - pairs.only_a) / pairs.n
    assert -1 - 1e-12 <= low <= difference + 1e-12
    assert difference - 1e-12 <= high <= 1 + 1e-12
    turned = newcombe(Pairs(pairs.both, pairs.only_b, pairs.only_a, pairs.neither))
    assert turned == pytest.approx((-high, -low), abs=1e-12)


def test_newcombe_without_pairs_is_the_widest_interval() -> None:
    assert newcombe(Pairs()) == (-1.0, 1.0)


@given(pair_counts, pair_counts)
def test_mcnemar_equals_the_binomial_test(b: int, c: int) -> None:
    n, few = b + c, min(b, c)
    exact = min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / 2**n)
    assert mcnemar(b, c) == pytest.approx(exact, rel=1e-9)
    assert mcnemar(b, c) == mcnemar(c, b)


def test_mcnemar_accepts_large_counts() -> None:
    assert mcnemar(50_000, 50_000) == 1.0
    assert mcnemar(0, 100_000) == 0.0
    # The normal approximation with continuity correction: z = 399 / sqrt(100000).
    assert mcnemar(49_800, 50_200) == pytest.approx(0.2071, abs=1e-3)


def test_mcnemar_rejects_negative_counts() -> None:
    with pytest.raises(ValueError, match="expected counts"):
        mcnemar(-1, 2)


def test_holm_adjusts_step_down() -> None:
    # By hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, and never below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(pvalues)
def test_holm_keeps_order_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(0 <= p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[place] for place in order] == sorted(adjusted)


class TestAgainstStatsmodels:
    """The same numbers from an independent implementation, where the extra `stats` is there."""

    @given(pair_counts, pair_counts)
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


counts = st.integers(0, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
intervals = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda pair: Interval(*sorted(pair))),
    max_size=8,
)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_wilson_matches_published_values(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_without_trials_is_the_widest_interval() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_wilson_rejects_impossible_counts(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)


@given(counts)
def test_wilson_contains_the_rate_and_is_symmetric(pair: tuple[int, int]) -> None:
    k, n = pair
    low, high = wilson(k, n)
    assert 0 <= low <= (k / n if n else 0.5) <= high <= 1
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(counts, st.integers(2, 9))
def test_wilson_narrows_with_more_trials(pair: tuple[int, int], factor: int) -> None:
    k, n = pair
    low, high = wilson(k, n + 1)
    more_low, more_high = wilson(k * factor, (n + 1) * factor)
    assert more_high - more_low < high - low


@given(intervals)
def test_rank_ranges_match_counting(entries: list[Interval]) -> None:
    assert rank_ranges(entries) == tuple(
        (
            1 + sum(other.low > entry.high for other in entries),
            sum(other.high >= entry.low for other in entries),
        )
        for entry in entries
    )


def test_overlapping_entries_share_ranks() -> None:
    entries = [Interval(0.8, 0.9), Interval(0.7, 0.85), Interval(0.1, 0.2)]
    assert rank_ranges(entries) == ((1, 2), (1, 2), (3, 3))


clusters = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.builds(Cluster, st.integers(0, n), st.just(n))),
    min_size=1,
    max_size=8,
)
alikes = st.floats(0, 1)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30), alikes)
def test_clustered_interval_without_repeats_is_wilson(successes: list[int], alike: float) -> None:
    found = clustered_interval([Cluster(k, 1) for k in successes], alike)
    assert found.interval == pytest.approx(wilson(sum(successes), len(successes)))
    assert (found.groups, found.effective_n) == (len(successes), len(successes))


@given(clusters, alikes)
def test_repeats_never_narrow_the_interval(groups: list[Cluster], alike: float) -> None:
    found = clustered_interval(groups, alike)
    k, n = sum(it.k for it in groups), sum(it.n for it in groups)
    low, high = wilson(k, n)
    assert found.interval.low <= low + 1e-12
    assert found.interval.high >= high - 1e-12
    assert found.effective_n <= n + 1e-9


@given(st.integers(1, 9), st.integers(2, 9))
def test_equal_repeats_count_once(count: int, size: int) -> None:
    groups = [Cluster(size * (place % 2), size) for place in range(count)]
    found = clustered_interval(groups, intraclass_correlation([groups]))
    assert found.effective_n == pytest.approx(count)
    assert found.interval == pytest.approx(wilson(count // 2, count))


@given(clusters, alikes, st.data())
def test_more_successes_never_rank_lower(
    groups: list[Cluster], alike: float, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(groups) - 1))
    grown = list(groups)
    grown[place] = Cluster(groups[place].n, groups[place].n)
    assert (
        clustered_interval(grown, alike).interval.low
        >= clustered_interval(groups, alike).interval.low - 1e-12
    )


@given(st.lists(clusters, max_size=4))
@example([[Cluster(1, 2)], [Cluster(0, 1), Cluster(0, 1)]])
def test_intraclass_correlation_is_a_share(entries: list[list[Cluster]]) -> None:
    found = intraclass_correlation(entries)
    assert 0 <= found <= 1
    doubled = [[Cluster(it.k, it.n, 2) for it in groups] for groups in entries]
    spelled = [[it for it in groups for _ in range(2)] for groups in entries]
    assert intraclass_correlation(doubled) == pytest.approx(intraclass_correlation(spelled))


def test_intraclass_correlation_matches_anova() -> None:
    # Three requests of four answers each, with 4, 3 and no successes; worked by hand.
    groups = [Cluster(4, 4), Cluster(3, 4), Cluster(0, 4)]
    between = 4 * ((1 - 7 / 12) ** 2 + (3 / 4 - 7 / 12) ** 2 + (7 / 12) ** 2) / 2
    within = (3 * 1 / 4) / 9
    assert intraclass_correlation([groups]) == pytest.approx(
        (between - within) / (between + 3 * within)
    )


def test_independent_repeats_count_fully() -> None:
    groups = [Cluster(2, 4, times=10)]
    assert intraclass_correlation([groups]) == 0.0
    assert clustered_interval(groups, 0.0).effective_n == 40


@pytest.mark.parametrize("entries", [[], [[Cluster(3, 9)]], [[Cluster(4, 4), Cluster(4, 4)]]])
def test_intraclass_correlation_without_estimate_is_one(entries: list[list[Cluster]]) -> None:
    assert intraclass_correlation(entries) == 1.0


def test_difference_of_independent_rates_has_the_published_interval() -> None:
    low, high = difference(56 / 70, wilson(56, 70), 48 / 80, wilson(48, 80))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)  # Newcombe 1998, example (a)


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 50), st.integers(1, 50))
def test_difference_is_in_its_interval_and_changes_sign(k: int, n: int, m: int, o: int) -> None:
    one, other = (min(k, n), n), (min(m, o), o)
    low, high = difference(one[0] / n, wilson(*one), other[0] / o, wilson(*other))
    assert -1 <= low <= one[0] / n - other[0] / o <= high <= 1
    turned = difference(other[0] / o, wilson(*other), one[0] / n, wilson(*one))
    assert (round(-turned.high, 9), round(-turned.low, 9)) == (round(low, 9), round(high, 9))
