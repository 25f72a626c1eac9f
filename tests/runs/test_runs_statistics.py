"""Wilson intervals against published values and their properties; ranks that stay open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runs.statistics import Interval, rank_ranges, wilson

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
def test_wilson_gives_the_published_values(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


def test_nothing_tried_is_nothing_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)


@given(counts)
def test_the_interval_holds_the_rate_and_is_symmetric(pair: tuple[int, int]) -> None:
    k, n = pair
    low, high = wilson(k, n)
    assert 0 <= low <= (k / n if n else 0.5) <= high <= 1
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(counts, st.integers(2, 9))
def test_more_trials_narrow_it(pair: tuple[int, int], factor: int) -> None:
    k, n = pair
    low, high = wilson(k, n + 1)
    more_low, more_high = wilson(k * factor, (n + 1) * factor)
    assert more_high - more_low < high - low


@given(intervals)
def test_rank_ranges_are_what_counting_says(entries: list[Interval]) -> None:
    assert rank_ranges(entries) == tuple(
        (
            1 + sum(other.low > entry.high for other in entries),
            sum(other.high >= entry.low for other in entries),
        )
        for entry in entries
    )


def test_entries_that_meet_share_their_ranks() -> None:
    entries = [Interval(0.8, 0.9), Interval(0.7, 0.85), Interval(0.1, 0.2)]
    assert rank_ranges(entries) == ((1, 2), (1, 2), (3, 3))
