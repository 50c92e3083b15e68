"""Laws of the intervals, and the cluster cases that the reference rows leave out."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.intervals import clopper_pearson, cluster_interval, weighted_interval, wilson
from tests.scoring.test_stats_reference import sums_of

Pairs = list[tuple[int, int]]
clusters = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=12
)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0.5, 1e6))
def test_wilson_holds_the_share_and_stays_a_share(share: float, n: float) -> None:
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1


@settings(deadline=None)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_exact_limits_mirror_when_good_and_bad_change_places(counts: tuple[int, int]) -> None:
    good, n = counts
    low, high = clopper_pearson(good, n)
    mirrored_low, mirrored_high = clopper_pearson(n - good, n)
    assert (low, high) == pytest.approx((1 - mirrored_high, 1 - mirrored_low), abs=1e-12)
    assert 0 <= low <= good / n <= high <= 1


@settings(deadline=None)
@given(clusters)
def test_clusters_never_narrow_the_interval(pairs: Pairs) -> None:
    sums = sums_of(pairs)
    interval, _ = cluster_interval(sums)
    low, high = wilson(float(sums.k / sums.n), sums.n)
    assert 0 < interval.n_effective <= sums.n
    assert interval.low <= low + 1e-12
    assert interval.high >= high - 1e-12
    assert interval.low <= float(sums.k / sums.n) <= interval.high


@pytest.mark.parametrize(
    ("pairs", "method", "n_effective", "warnings"),
    [
        ([(1, 1), (0, 1), (1, 1)], "wilson", 3.0, ()),
        ([(1, 1), (1, 1)], "wilson", 2.0, ()),
        ([(3, 4)], "wilson_cluster", 1.0, ("only one cluster: interval at the number of clusters, 1, for 4 units",)),
        (
            [(4, 4), (2, 2)],
            "wilson_cluster",
            2.0,
            ("all or none correct: interval at the number of clusters, 2, for 6 units",),
        ),
        (
            [(0, 4), (0, 2), (0, 1)],
            "wilson_cluster",
            3.0,
            ("all or none correct: interval at the number of clusters, 3, for 7 units",),
        ),
        # Each cluster as good as the whole: the design effect would be 0 and counts as 1.
        ([(1, 2), (1, 2), (1, 2)], "wilson_cluster", 6.0, ()),
        # One cluster all right and one all wrong: 20 units tell as much as one.
        ([(10, 10), (0, 10)], "wilson_cluster", 1.0, ()),
    ],
)
def test_effective_n_by_hand(pairs: Pairs, method: str, n_effective: float, warnings: tuple[str, ...]) -> None:
    interval, told = cluster_interval(sums_of(pairs))
    assert (interval.method, interval.n_effective, told) == (method, n_effective, warnings)


def test_weights_and_clusters_both_shrink_the_effective_n() -> None:
    sums = sums_of([(10, 10), (0, 10)])
    interval, _ = weighted_interval(sums, Fraction(10), Fraction(20), Fraction(40))
    assert interval.n_effective == 20 * 20 / 40 / 20
