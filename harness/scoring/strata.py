"""Running sums of one stratum: what its measures are made of, without keeping an item (scoring.md, Measures).

Memory grows with the clusters that are tagged, never with the items: an item without a tag is a cluster of its own
and goes into the sums at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from harness.scoring.intervals import ClusterSums
from harness.scoring.model import Outcome, Outcomes

Exact: TypeAlias = int | Fraction
Pair: TypeAlias = tuple[Exact, int]
"""Good and valid of one measure; good is fractional only for means of per-item values."""

OUTCOMES = tuple(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one item adds to one stratum: `pairs` by measure, and its expectations by outcome, in `OUTCOMES` order.

    `headline` is the position in `pairs` of the share that weights apply to; `retrieved` counts only the expectations
    in the base of correctness_when_retrieved.
    """

    pairs: tuple[Pair, ...]
    outcomes: tuple[int, ...]
    retrieved: tuple[int, ...]
    weight: Fraction


class Sums:
    """Sums over clusters of k, n and their products, exact."""

    __slots__ = ("clusters", "k", "kk", "kn", "n", "nn")

    def __init__(self) -> None:
        self.clusters = 0
        self.n = 0
        self.nn = 0
        self.k: Exact = 0
        self.kk: Exact = 0
        self.kn: Exact = 0

    def fold(self, pair: Pair, times: int = 1) -> None:
        """Take in `times` clusters of that good and valid; a cluster without units is none."""
        k, n = pair
        if n:
            self.clusters += times
            self.n += times * n
            self.nn += times * n * n
            if k:
                self.k += times * k
                self.kk += times * k * k
                self.kn += times * k * n

    def total(self, open_clusters: Iterable[Pair]) -> ClusterSums:
        """These sums and the clusters that are still open, as values."""
        whole = Sums()
        for name in self.__slots__:
            setattr(whole, name, getattr(self, name))
        for pair in open_clusters:
            whole.fold(pair)
        return ClusterSums(
            clusters=whole.clusters,
            k=Fraction(whole.k),
            n=whole.n,
            kk=Fraction(whole.kk),
            kn=Fraction(whole.kn),
            nn=whole.nn,
        )


class Stratum:
    """The sums of all measures over one subset of the items. `weights_differ` looks at every planned expectation."""

    def __init__(self, measures: int, headline: int) -> None:
        self._headline = headline
        self._finished = [Sums() for _ in range(measures)]
        self._open: dict[str, tuple[Pair, ...]] = {}
        self._outcomes = [0] * len(OUTCOMES)
        self._retrieved = [0] * len(OUTCOMES)
        self._first_weight: Fraction | None = None
        self.weights_differ = False
        self.weight = Fraction(0)
        self.weighted_good = Fraction(0)
        self.squared_weight = Fraction(0)

    def add(self, part: Contribution, cluster: str | None, times: int = 1) -> None:
        """Take in `times` equal items, all of that cluster, or each its own cluster where it is None."""
        if cluster is None:
            for sums, pair in zip(self._finished, part.pairs, strict=True):
                sums.fold(pair, times)
        else:
            for _ in range(times):
                known = self._open.get(cluster)
                self._open[cluster] = part.pairs if known is None else add_pairs((known, part.pairs))
        for position, count in enumerate(part.outcomes):
            self._outcomes[position] += times * count
            self._retrieved[position] += times * part.retrieved[position]
        if any(part.outcomes):
            self._add_weight(part, times)

    def _add_weight(self, part: Contribution, times: int) -> None:
        if self._first_weight is None:
            self._first_weight = part.weight
        elif part.weight != self._first_weight:
            self.weights_differ = True
        good, valid = part.pairs[self._headline]
        self.weight += times * valid * part.weight
        self.weighted_good += times * good * part.weight
        self.squared_weight += times * valid * part.weight**2

    def sums(self, measure: int) -> ClusterSums:
        """The cluster sums of the measure at that position."""
        return self._finished[measure].total(pairs[measure] for pairs in self._open.values())

    @property
    def outcomes(self) -> Outcomes:
        """All expectations of the stratum; they add up to its part of the plan."""
        return _outcomes(self._outcomes)

    @property
    def retrieved_outcomes(self) -> Outcomes:
        """The expectations in the base of correctness_when_retrieved."""
        return _outcomes(self._retrieved)


def add_pairs(rows: Iterable[tuple[Pair, ...]]) -> tuple[Pair, ...]:
    """Good and valid summed measure by measure; one row or more."""
    return tuple((sum(k for k, _ in column), sum(n for _, n in column)) for column in zip(*rows, strict=True))


def _outcomes(counts: list[int]) -> Outcomes:
    return Outcomes(**{outcome.value: count for outcome, count in zip(OUTCOMES, counts, strict=True)})
