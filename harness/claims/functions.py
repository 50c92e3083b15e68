"""The closed registry of functions that a claim may name (claims.md, Re-run). A name never changes meaning.

Every function is computed from exact sums over the cells that are not empty; a float appears only in the Wilson
limits, from the same code that computed the published ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, Protocol

from harness.claims.source import CannotRerun
from harness.claims.tables import Kind
from harness.scoring.decimals import PLACES, format_bound, format_ratio
from harness.scoring.intervals import ClusterSums, cluster_interval, weighted_interval

Direction = Literal["down", "up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over the cells of a column that are not empty: by cluster, and weighted where a function asks for it."""

    sums: ClusterSums
    weighted_good: Fraction
    weight: Fraction
    squared_weight: Fraction


class Figure(Protocol):
    """A re-derived number, exact until it is printed."""

    def text(self, places: int = PLACES) -> str:
        """As published: a ratio cut off after `places` decimals, a bound rounded outward, a count as an integer."""


@dataclass(frozen=True, slots=True)
class _Ratio:
    value: Fraction

    def text(self, places: int = PLACES) -> str:
        return format_ratio(self.value, places)


@dataclass(frozen=True, slots=True)
class _Limit:
    value: float
    direction: Direction

    def text(self, places: int = PLACES) -> str:
        return format_bound(self.value, direction=self.direction, places=places)


@dataclass(frozen=True, slots=True)
class _Count:
    value: int

    def text(self, places: int = PLACES) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A registered function: the kinds of column it is defined over, and the columns it `reads` beside that one.

    `figure` raises CannotRerun where there is nothing to compute with.
    """

    says: str
    kinds: frozenset[Kind]
    figure: Callable[[Totals], Figure]
    reads: tuple[str, ...] = ()


def _mean(totals: Totals) -> Figure:
    return _Ratio(_divide(totals.sums.k, Fraction(totals.sums.n)))


def _weighted_share(totals: Totals) -> Figure:
    return _Ratio(_divide(totals.weighted_good, totals.weight))


def _count(totals: Totals) -> Figure:
    return _Count(totals.sums.n)


def _wilson(direction: Direction) -> Callable[[Totals], Figure]:
    def figure(totals: Totals) -> Figure:
        if not totals.sums.n:
            raise _no_data()
        interval, _ = cluster_interval(totals.sums)
        return _Limit(interval.low if direction == "down" else interval.high, direction)

    return figure


def _weighted_wilson(direction: Direction) -> Callable[[Totals], Figure]:
    def figure(totals: Totals) -> Figure:
        if not totals.weight:
            raise _no_data()
        interval, _ = weighted_interval(totals.sums, totals.weighted_good, totals.weight, totals.squared_weight)
        return _Limit(interval.low if direction == "down" else interval.high, direction)

    return figure


def _divide(good: Fraction, base: Fraction) -> Fraction:
    if not base:
        raise _no_data()
    return good / base


def _no_data() -> CannotRerun:
    return CannotRerun("no data: no row has a value to compute with")


_VERDICTS: Final = frozenset({Kind.VERDICT})
_SHARES: Final = frozenset({Kind.VERDICT, Kind.SHARE})

FUNCTIONS: Final[Mapping[str, Function]] = {
    "share": Function(says="ones over the cells that are not empty", kinds=_VERDICTS, figure=_mean),
    "weighted_share": Function(
        says="weight of the ones over the weight of the cells that are not empty",
        kinds=_VERDICTS,
        figure=_weighted_share,
        reads=("weight",),
    ),
    "count": Function(says="cells that are not empty", kinds=frozenset(Kind), figure=_count),
    "mean": Function(
        says="sum over number of the cells that are not empty",
        kinds=frozenset({Kind.SHARE, Kind.NUMBER}),
        figure=_mean,
    ),
    "wilson_low": Function(
        says="lower 95 % Wilson limit of the share or mean, adjusted for clusters, rounded down",
        kinds=_SHARES,
        figure=_wilson("down"),
        reads=("item", "cluster"),
    ),
    "wilson_high": Function(
        says="upper 95 % Wilson limit of the share or mean, adjusted for clusters, rounded up",
        kinds=_SHARES,
        figure=_wilson("up"),
        reads=("item", "cluster"),
    ),
    "weighted_wilson_low": Function(
        says="lower 95 % Wilson limit of the weighted share, adjusted for clusters and weights, rounded down",
        kinds=_VERDICTS,
        figure=_weighted_wilson("down"),
        reads=("item", "cluster", "weight"),
    ),
    "weighted_wilson_high": Function(
        says="upper 95 % Wilson limit of the weighted share, adjusted for clusters and weights, rounded up",
        kinds=_VERDICTS,
        figure=_weighted_wilson("up"),
        reads=("item", "cluster", "weight"),
    ),
}
