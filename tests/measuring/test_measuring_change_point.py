"""The change-point test: it alarms seldom without a change, and finds a clear one."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measuring.change_point import FEWEST_DAYS, find_rise
from harness.verdicts.statistics import Cluster

STEADY = [5, 3, 6, 4, 5, 7, 4, 5, 6, 4]


def days(*failures: int, n: int = 100) -> list[Cluster]:
    return [Cluster(k, n) for k in failures]


def test_a_clear_rise_is_found_on_its_day() -> None:
    found = find_rise(days(*STEADY, 30, 32, 29), "seed")
    assert found.first == 10
    assert found.p == pytest.approx(0.0001)
    assert 0.9 < found.explained <= 1


def test_a_rise_on_the_last_day_is_found() -> None:
    found = find_rise(days(*STEADY, 40), "seed")
    assert found.first == 10
    assert found.p < 0.01


@pytest.mark.parametrize(
    "failures",
    [
        (30, 31, 29, 32, 30, 5, 4, 6, 5, 4),  # it becomes better
        (0,) * 10,
        (100,) * 10,
        (5,) * 10,
        (0, 0, 0, 100),  # too few days
    ],
)
def test_what_is_not_a_rise_is_not_found(failures: tuple[int, ...]) -> None:
    assert find_rise(days(*failures), "seed", 199).p > 0.05


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_false_alarms_are_as_rare_as_alpha_says(spread: float) -> None:
    """Also if days differ by more than chance; a share of 20 % would be a clear fault."""
    random = Random(1)  # noqa: S311 - a simulation
    alarms = 0
    for number in range(60):
        rates = [
            random.betavariate(0.1 / spread, 0.9 / spread) if spread else 0.1 for _ in range(12)
        ]
        drawn = days(*(sum(random.random() < rate for _ in range(100)) for rate in rates))
        alarms += find_rise(drawn, str(number), 199).p <= 0.05
    assert alarms <= 8


def test_days_that_vary_much_hide_a_small_rise() -> None:
    wild = [0, 20, 1, 19, 0, 22, 1, 18, 2, 21]
    assert find_rise(days(*wild, 15, 16, 15), "seed", 499).p > 0.05
    assert find_rise(days(*STEADY, 15, 16, 15), "seed", 499).p < 0.01


def test_one_burst_of_rare_failures_is_no_rise() -> None:
    rare = [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]
    assert find_rise(days(*rare, 8), "seed", 499).p > 0.05
    assert find_rise(days(*rare, 8, 9, 7), "seed", 999).p < 0.02


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=1, max_size=12))
def test_any_series_has_a_probability(counts: list[tuple[int, int]]) -> None:
    series = [Cluster(min(k, n), n) for k, n in counts]
    found = find_rise(series, "seed", 49)
    assert 0 < found.p <= 1
    assert 0 <= found.explained <= 1 + 1e-9
    assert 0 <= found.first < len(series)
    assert found == find_rise(series, "seed", 49)
    if len(series) < FEWEST_DAYS:
        assert found.p == 1


def test_days_with_very_many_turns_are_tested() -> None:
    steady = [Cluster(100_000 + each, 2_000_000) for each in (0, 90, -80, 120, -150, 60, 30)]
    assert find_rise([*steady, Cluster(104_000, 2_000_000)], "seed", 499).p < 0.01
    assert find_rise(steady, "seed", 499).p > 0.05
