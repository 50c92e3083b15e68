"""Confidence limits for display; money never looks at them (scoring.md, Intervals)."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Final

from harness.scoring.model import Interval

Z_TWO_SIDED: Final = 1.959963984540054
"""Standard normal quantile at 0.975: 95 % between two limits."""

Z_ONE_SIDED: Final = 1.6448536269514722
"""Standard normal quantile at 0.95: 95 % above or below one limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSums:
    """What the cluster adjustment needs of a base, as sums over its clusters: k good of n units in each.

    `k` may be fractional (means of per-item values in [0, 1]); all sums are exact.
    """

    clusters: int
    k: Fraction
    n: int
    kk: Fraction
    kn: Fraction
    nn: int


def wilson(share: float, n: float, z: float = Z_TWO_SIDED) -> tuple[float, float]:
    """Wilson (1927) score limits for a share observed on `n` units; `n` is above 0 and may be an effective one.

    The limits hold the share and stay in [0, 1]. With `Z_ONE_SIDED` each limit alone is a 95 % bound.
    """
    shrink = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / shrink
    # At the ends the exact limit is the end itself; elsewhere rounding may pass the share or the end by one ulp.
    low = 0.0 if share <= 0 else min(max(centre - reach, 0.0), share)
    high = 1.0 if share >= 1 else max(min(centre + reach, 1.0), share)
    return low, high


def clopper_pearson(good: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's (1934) exact two-sided 95 % limits for `good` of `n`."""
    return _lower(good, n, 0.025), _upper(good, n, 0.025)


def clopper_pearson_bounds(good: int, n: int) -> tuple[float, float]:
    """The exact lower and the exact upper bound, each alone at 95 %."""
    return _lower(good, n, 0.05), _upper(good, n, 0.05)


def naive_variance(sums: ClusterSums) -> Fraction:
    """The squared standard error of the share if all units were independent: p (1 - p) / n (row K01)."""
    share = sums.k / sums.n
    return share * (1 - share) / sums.n


def cluster_variance(sums: ClusterSums) -> Fraction:
    """The squared cluster-robust standard error, corrected by G / (G - 1), CR1 (row K03); two clusters or more."""
    share = sums.k / sums.n
    residuals = sums.kk - 2 * share * sums.kn + share * share * sums.nn
    return Fraction(sums.clusters, sums.clusters - 1) * residuals / sums.n**2


def kish_effective_n(weight: Fraction, squared_weight: Fraction) -> Fraction:
    """Kish's effective n: the squared sum of the weights over the sum of their squares (row D01)."""
    return weight * weight / squared_weight


def cluster_interval(sums: ClusterSums) -> tuple[Interval, tuple[str, ...]]:
    """The Wilson interval of k / n with its warnings, at the effective n where some cluster holds several units.

    Effective n is n over the design effect (CR1 over naive variance), which counts as 1 at least (row K05). All or
    none good, or a single cluster, tell nothing of the spread between clusters: then it is the number of clusters.
    `n` is 1 at least. For a mean of values in [0, 1] the interval is wide enough, since no such values spread more
    than k of n with the same mean.
    """
    share = sums.k / sums.n
    if sums.nn == sums.n:
        return _interval("wilson", share, Fraction(sums.n)), ()
    naive = naive_variance(sums)
    if naive == 0 or sums.clusters == 1:
        reason = "only one cluster" if sums.clusters == 1 else "all or none correct"
        warning = f"{reason}: interval at the number of clusters, {sums.clusters}, for {sums.n} units"
        return _interval("wilson_cluster", share, Fraction(sums.clusters)), (warning,)
    effect = max(cluster_variance(sums) / naive, Fraction(1))
    return _interval("wilson_cluster", share, sums.n / effect), ()


def weighted_interval(
    sums: ClusterSums, good: Fraction, weight: Fraction, squared_weight: Fraction
) -> tuple[Interval, tuple[str, ...]]:
    """The Wilson interval of a weighted share with its warnings, at Kish's effective n (row D04).

    Weights and clusters cost precision each for itself (Kish 1965, deff as a product): where the same units without
    weights, `sums`, have a smaller effective n than n, the weighted one shrinks in that proportion. The weights' sum
    is above 0.
    """
    unweighted, warnings = cluster_interval(sums)
    n = kish_effective_n(weight, squared_weight) * Fraction(unweighted.n_effective) / sums.n
    return _interval("wilson_kish", good / weight, n), warnings


def _interval(method: str, share: Fraction, n: Fraction) -> Interval:
    low, high = wilson(float(share), float(n))
    return Interval(method=method, low=low, high=high, n_effective=float(n))


def _lower(good: int, n: int, tail: float) -> float:
    if good == 0:
        return 0.0
    from scipy.special import betaincinv  # half a second to import, for a bound that few commands print

    return float(betaincinv(good, n - good + 1, tail))


def _upper(good: int, n: int, tail: float) -> float:
    return 1.0 - _lower(n - good, n, tail)
