"""Clustered intervals: repeats of a request never make a rate surer than it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runs.repeats import Cluster, clustered, likeness
from harness.runs.statistics import wilson

clusters = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.builds(Cluster, st.integers(0, n), st.just(n))),
    min_size=1,
    max_size=8,
)
alikes = st.floats(0, 1)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30), alikes)
def test_without_repeats_it_is_wilson(successes: list[int], alike: float) -> None:
    found = clustered([Cluster(k, 1) for k in successes], alike)
    assert found.interval == pytest.approx(wilson(sum(successes), len(successes)))
    assert (found.groups, found.effective_n) == (len(successes), len(successes))


@given(clusters, alikes)
def test_repeats_never_narrow_it(groups: list[Cluster], alike: float) -> None:
    found = clustered(groups, alike)
    k, n = sum(it.k for it in groups), sum(it.n for it in groups)
    low, high = wilson(k, n)
    assert found.interval.low <= low + 1e-12
    assert found.interval.high >= high - 1e-12
    assert found.effective_n <= n + 1e-9


@given(st.integers(1, 9), st.integers(2, 9))
def test_repeats_that_all_agree_are_worth_one_each(count: int, size: int) -> None:
    groups = [Cluster(size * (place % 2), size) for place in range(count)]
    found = clustered(groups, likeness([groups]))
    assert found.effective_n == pytest.approx(count)
    assert found.interval == pytest.approx(wilson(count // 2, count))


@given(clusters, alikes, st.data())
def test_more_successes_never_rank_lower(
    groups: list[Cluster], alike: float, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(groups) - 1))
    grown = list(groups)
    grown[place] = Cluster(groups[place].n, groups[place].n)
    assert clustered(grown, alike).interval.low >= clustered(groups, alike).interval.low - 1e-12


@given(st.lists(clusters, max_size=4))
def test_likeness_is_a_share_and_counts_times(entries: list[list[Cluster]]) -> None:
    found = likeness(entries)
    assert 0 <= found <= 1
    doubled = [[Cluster(it.k, it.n, 2) for it in groups] for groups in entries]
    spelled = [[it for it in groups for _ in range(2)] for groups in entries]
    assert likeness(doubled) == pytest.approx(likeness(spelled))


def test_likeness_is_what_analysis_of_variance_says() -> None:
    # Three requests of four answers each, with 4, 3 and no successes; worked by hand.
    groups = [Cluster(4, 4), Cluster(3, 4), Cluster(0, 4)]
    between = 4 * ((1 - 7 / 12) ** 2 + (3 / 4 - 7 / 12) ** 2 + (7 / 12) ** 2) / 2
    within = (3 * 1 / 4) / 9
    assert likeness([groups]) == pytest.approx((between - within) / (between + 3 * within))


def test_answers_that_do_not_depend_on_the_request_are_worth_their_number() -> None:
    groups = [Cluster(2, 4, times=10)]
    assert likeness([groups]) == 0.0
    assert clustered(groups, 0.0).effective_n == 40


@pytest.mark.parametrize("entries", [[], [[Cluster(3, 9)]], [[Cluster(4, 4), Cluster(4, 4)]]])
def test_what_cannot_be_told_is_taken_for_alike(entries: list[list[Cluster]]) -> None:
    assert likeness(entries) == 1.0
