"""A floor against a window's counts, decided in integers (sla.md, Assessment)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from harness.sla.binomial import is_rarer
from harness.sla.model import Assessment, Counted, Status
from harness.testset.model import Floor, Terms, Tier

_WORST_FIRST: Final = (Status.BREACHED, Status.NOT_RUN, Status.INSUFFICIENT_DATA, Status.MET, Status.NO_FLOOR)

NO_CREDIT: Final = "0"


def assess(terms: Terms, floor: Floor, counted: Counted, missed_nights: int | None = None) -> Assessment:
    """Status, tier and target credit of one floor and window; no float takes part.

    `missed_nights`: of a month's nights under the terms, those that were not run or insufficient; None for a night.
    Raises ValueError where the counts contradict each other: a decision about money is never made from those.
    """
    if not 0 <= counted.good <= counted.valid <= counted.outcomes.valid:
        raise ValueError(f"good {counted.good}, valid {counted.valid} of {counted.outcomes.valid} measured")
    status, reasons = _status(terms, floor, counted, missed_nights)
    tier = tier_of(floor, Fraction(counted.good, counted.valid)) if status is Status.BREACHED else None
    return Assessment(
        floor=floor,
        status=status,
        counted=counted,
        tier=tier,
        target_percent=NO_CREDIT if tier is None else tier.credit_percent,
        reasons=reasons,
    )


def worst(statuses: Iterable[Status]) -> Status:
    """The status of a page with these floors; `no_floor` where there is none."""
    return min(statuses, key=_WORST_FIRST.index, default=Status.NO_FLOOR)


def is_below(floor: Floor, good: int, valid: int) -> bool:
    """Whether the counts breach the floor under its rule; `valid` is positive."""
    if floor.rule == "exact_binomial_95":
        return is_rarer(good, valid, floor.value)
    return Fraction(good, valid) < floor.value


def tier_of(floor: Floor, ratio: Fraction) -> Tier:
    """The half-open band of the point ratio. Under the binomial rule a breach always has a ratio below the floor.

    Raises ValueError where no tier holds it: a breach is never left without its credit.
    """
    for tier in floor.tiers:
        if Fraction(tier.at_least) <= ratio < Fraction(tier.below):
            return tier
    raise ValueError(f"no tier of {floor.measure} holds {ratio}; tiers tile [0, {floor.floor})")


def _status(terms: Terms, floor: Floor, counted: Counted, missed: int | None) -> tuple[Status, tuple[str, ...]]:
    outcomes = counted.outcomes
    if counted.calls_sent == 0:
        return Status.NOT_RUN, ("no call was sent",)
    reasons = []
    # A month's nights were each held to that share: those above it are among the missed ones.
    if missed is None and outcomes.harness_error > Fraction(terms.max_error_rate) * outcomes.planned:
        reasons.append(
            f"{outcomes.harness_error} of {outcomes.planned} expectations ended in a failure of our own, "
            f"more than a share of {terms.max_error_rate}"
        )
    if counted.valid < terms.min_sample:
        reasons.append(f"{counted.valid} valid expectations, fewer than {terms.min_sample}")
    if counted.valid == 0 or reasons:
        return Status.INSUFFICIENT_DATA, tuple(reasons) or ("no valid expectation",)
    if not is_below(floor, counted.good, counted.valid):
        if missed is not None and missed > terms.max_missed_nights:
            return Status.INSUFFICIENT_DATA, (
                f"{missed} nights were not run or had no sufficient data, more than {terms.max_missed_nights}",
            )
        return Status.MET, ()
    if outcomes.gateway_error and counted.valid == outcomes.valid:  # a base of what was retrieved holds none of them
        reasons.append(
            f"{outcomes.gateway_error} of {outcomes.valid} expectations had no usable answer from the gateway "
            "and count as incorrect"
        )
    return Status.BREACHED, tuple(reasons)
