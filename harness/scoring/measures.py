"""One pass over scores that computes every measure of descriptions.py (scoring.md, Measures)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from harness.scoring.checks import RELEVANCE_FIELDS
from harness.scoring.descriptions import DESCRIPTIONS, Description
from harness.scoring.intervals import cluster_interval, weighted_interval
from harness.scoring.model import ItemScore, Measure, Outcome, Outcomes
from harness.scoring.strata import OUTCOMES, Contribution, Pair, Stratum

__all__ = ["DESCRIPTIONS", "SMALL_BASE", "Description", "Tally"]

SMALL_BASE: Final = 100
"""A base below this many units carries a warning."""

_PENDING: Final = 4096
"""Distinct item shapes that are counted before they are folded into the sums."""


class _Row(NamedTuple):
    """What a tally reads of an expectation."""

    standard: str
    kind: str
    outcome: Outcome
    checks: tuple[bool, ...]
    retrieved: bool | None


class _Shape(NamedTuple):
    """What a tally reads of an item; items of one shape are counted together. `passages`: pairs by passage measure."""

    standard: str
    kind: str
    weight: str
    status: str
    recall: Fraction | None
    reciprocal_rank: Fraction | None
    rows: tuple[_Row, ...]
    passages: tuple[Pair, ...]


class Tally:
    """All measures of a society's scores in one pass: whole, by standard and by kind.

    Memory grows with tagged clusters and strata, not with items. The order of the items changes nothing.
    """

    def __init__(self, checks: Sequence[str]) -> None:
        self._checks = tuple(checks)
        self._descriptions = tuple(row for row in DESCRIPTIONS if row.published(self._checks))
        self._names = tuple(row.name for row in self._descriptions)
        self._pending: Counter[_Shape] = Counter()
        self._whole = self._new_stratum()
        self._by_standard: dict[str, Stratum] = {}
        self._by_kind: dict[str, Stratum] = {}

    def add(self, score: ItemScore) -> None:
        """Take in one item's score; each planned item exactly once."""
        shape = _Shape(
            score.standard,
            score.kind,
            score.weight,
            score.status,
            score.recall,
            score.reciprocal_rank,
            tuple([_Row(row.standard, row.kind, row.outcome, row.checks, row.retrieved) for row in score.expectations]),
            _passage_pairs(score),
        )
        if score.cluster is not None:
            self._fold(shape, score.cluster, 1)
            return
        self._pending[shape] += 1
        if len(self._pending) >= _PENDING:
            self._settle()

    def measures(self) -> tuple[Measure, ...]:
        """Every published measure: first the whole, then each standard, then each kind, in name order.

        A stratum's measures are those with a base of at least 1; the whole has all, with value None on an empty base.
        """
        self._settle()
        found = list(self._of_stratum(self._whole, None))
        for label, strata in (("standard", self._by_standard), ("kind", self._by_kind)):
            for name in sorted(strata):
                rows = self._of_stratum(strata[name], f"{label}={name}")
                found.extend(row for row in rows if row.valid)
        return tuple(found)

    @property
    def outcomes(self) -> Outcomes:
        """All expectations taken in, by outcome: they add up to the plan (law 1)."""
        self._settle()
        return self._whole.outcomes

    @property
    def not_retrieved(self) -> int | None:
        """Valid expectations outside the base of correctness_when_retrieved; None where that is not published."""
        if not set(RELEVANCE_FIELDS).issubset(self._checks):
            return None
        self._settle()
        return self._whole.outcomes.valid - self._whole.retrieved_outcomes.valid

    def _new_stratum(self) -> Stratum:
        return Stratum(measures=len(self._names), headline=self._names.index("citation_correctness"))

    def _settle(self) -> None:
        for shape, times in self._pending.items():
            self._fold(shape, None, times)
        self._pending.clear()

    def _fold(self, shape: _Shape, cluster: str | None, times: int) -> None:
        self._whole.add(self._contribution(shape, shape.rows, own=True), cluster, times)
        for strata, own, names in (
            (self._by_standard, shape.standard, [row.standard for row in shape.rows]),
            (self._by_kind, shape.kind, [row.kind for row in shape.rows]),
        ):
            for name in {own, *names}:
                if name not in strata:
                    strata[name] = self._new_stratum()
                rows = tuple(row for row, row_name in zip(shape.rows, names, strict=True) if row_name == name)
                strata[name].add(self._contribution(shape, rows, own=name == own), cluster, times)

    def _contribution(self, shape: _Shape, rows: tuple[_Row, ...], *, own: bool) -> Contribution:
        """What an item of that shape adds to a stratum that holds these of its expectations.

        `own`: the stratum is the item's own, so that its passages and the item itself count there too.
        """
        pairs = dict.fromkeys(self._names, (0, 0)) | self._expectation_pairs(rows)
        if own:
            pairs |= _item_pairs(shape)
        return Contribution(
            pairs=tuple(pairs[name] for name in self._names),
            outcomes=_by_outcome(rows),
            retrieved=_by_outcome(row for row in rows if _in_retrieved_base(row)),
            weight=_weight(shape.weight),
        )

    def _expectation_pairs(self, rows: tuple[_Row, ...]) -> dict[str, Pair]:
        valid = [row for row in rows if row.outcome is not Outcome.HARNESS_ERROR]
        headline = _share(row.outcome is Outcome.CORRECT for row in valid)
        pairs: dict[str, Pair] = {
            "citation_correctness": headline,
            "weighted_citation_correctness": headline,
            "correctness_when_retrieved": _share(
                row.outcome is Outcome.CORRECT for row in valid if _in_retrieved_base(row)
            ),
            "field_correctness": _share(
                all(true for name, true in zip(self._checks, row.checks, strict=True) if name != "citation")
                for row in valid
            ),
        }
        for position, name in enumerate(self._checks):
            measure = "string_correctness" if name == "citation" else f"{name}_correctness"
            pairs[measure] = _share(row.checks[position] for row in valid)
        return {name: pair for name, pair in pairs.items() if name in self._names}

    def _of_stratum(self, stratum: Stratum, label: str | None) -> Iterable[Measure]:
        for position, description in enumerate(self._descriptions):
            if description.name == "weighted_citation_correctness":
                if stratum.weights_differ:
                    yield _weighted(description, stratum, position, label)
                continue
            measure = _measure(description, stratum, position, label)
            if measure.valid or description.name != "catalogue_membership":
                yield measure


def _measure(description: Description, stratum: Stratum, position: int, label: str | None) -> Measure:
    sums = stratum.sums(position)
    interval, warnings = cluster_interval(sums) if sums.n else (None, ())
    outcomes = stratum.outcomes if description.unit == "expectation" else None
    if outcomes is not None and description.name == "correctness_when_retrieved":
        left_out = outcomes.valid - stratum.retrieved_outcomes.valid
        if left_out:
            warnings = (f"not retrieved and outside the base: {left_out} of {outcomes.valid} expectations", *warnings)
        outcomes = stratum.retrieved_outcomes
    return Measure(
        name=description.name,
        stratum=label,
        unit=description.unit,
        good=sums.k,
        valid=sums.n,
        value=sums.k / sums.n if sums.n else None,
        interval=interval,
        outcomes=outcomes,
        clusters=sums.clusters,
        warnings=_base_warnings(sums.n) + warnings,
    )


def _weighted(description: Description, stratum: Stratum, position: int, label: str | None) -> Measure:
    sums = stratum.sums(position)
    interval, warnings = (
        weighted_interval(sums, stratum.weighted_good, stratum.weight, stratum.squared_weight)
        if stratum.weight
        else (None, ())
    )
    return Measure(
        name=description.name,
        stratum=label,
        unit=description.unit,
        good=stratum.weighted_good,
        valid=sums.n,
        value=stratum.weighted_good / stratum.weight if stratum.weight else None,
        interval=interval,
        outcomes=stratum.outcomes,
        clusters=sums.clusters,
        weight_total=stratum.weight,
        warnings=_base_warnings(sums.n) + warnings,
    )


def _base_warnings(valid: int) -> tuple[str, ...]:
    return (f"base {valid} is below {SMALL_BASE}",) if 0 < valid < SMALL_BASE else ()


def _in_retrieved_base(row: _Row) -> bool:
    # A call that failed is kept: left out, an outage would raise the share (law 1), and floors may name this measure.
    return row.outcome is Outcome.GATEWAY_ERROR or bool(row.retrieved)


def _share(verdicts: Iterable[bool]) -> Pair:
    told = list(verdicts)
    return sum(told), len(told)


def _by_outcome(rows: Iterable[_Row]) -> tuple[int, ...]:
    counts = Counter(row.outcome for row in rows)
    return tuple(counts[outcome] for outcome in OUTCOMES)


def _passage_pairs(score: ItemScore) -> tuple[Pair, ...]:
    compliant = consistent = listed = judged_edition = judged_string = judged_listing = 0
    for passage in score.passages:
        if passage.edition_compliant is not None:
            judged_edition += 1
            compliant += passage.edition_compliant
        if passage.consistent is not None:
            judged_string += 1
            consistent += passage.consistent
        if passage.in_catalogue is not None:
            judged_listing += 1
            listed += passage.in_catalogue
    return (compliant, judged_edition), (consistent, judged_string), (listed, judged_listing)


def _item_pairs(shape: _Shape) -> dict[str, Pair]:
    compliance, consistency, membership = shape.passages
    valid = int(shape.status != "harness_error")
    return {
        "edition_compliance": compliance,
        "passage_consistency": consistency,
        "catalogue_membership": membership,
        "recall_at_k": (0, 0) if shape.recall is None else (shape.recall, 1),
        "mrr": (0, 0) if shape.reciprocal_rank is None else (shape.reciprocal_rank, 1),
        "answered": (int(shape.status == "ok"), valid),
    }


@lru_cache(maxsize=1024)
def _weight(text: str) -> Fraction:
    return Fraction(text)
