"""Terms over time: frozen by their first use, changed only by a new version (sla.md, Terms); what a floor's rule means
for the plan that measures it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil

from harness.sla.binomial import at_most, critical_count
from harness.testset.model import Floor, Terms, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A version that has been assessed: its digest then, and the last night it was used for."""

    version: int
    sha256: str
    last_night: date


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenFault:
    """An edit that frozen terms do not allow: the version, the field, and the words of a Problem."""

    version: int
    field: str
    found: str
    expected: str
    remedy: str


def frozen_faults(
    used: Sequence[Usage], offered: Sequence[Terms], without_terms: Sequence[date] = ()
) -> list[FrozenFault]:
    """What the offered terms change of those already used. The digest leaves `effective_to` out, which may be set to a
    night not yet assessed. A version that ended before the first one used began is history, not a new version.

    `without_terms` are nights that were measured with no terms in force: no used version may be drawn out over one.
    """
    by_version = {terms.version: terms for terms in offered}
    last = max((usage.last_night for usage in used), default=None)
    first = min((by_version[each.version].effective_from for each in used if each.version in by_version), default=None)
    faults = [fault for usage in used for fault in _edits(usage, by_version.get(usage.version))]
    faults += [fault for usage in used for fault in _drawn_out(usage, by_version.get(usage.version), without_terms)]
    versions_used = {usage.version for usage in used}
    for terms in offered:
        over = first is not None and terms.effective_to is not None and terms.effective_to < first
        if last is not None and terms.version not in versions_used and terms.effective_from <= last and not over:
            faults.append(
                FrozenFault(
                    version=terms.version,
                    field="effective_from",
                    found=terms.effective_from.isoformat(),
                    expected=f"a night after {last}, the last one assessed",
                    remedy="Let the new version start later.",
                )
            )
    return faults


def _edits(usage: Usage, offered: Terms | None) -> list[FrozenFault]:
    if offered is None or offered.sha256 != usage.sha256:
        found = "no such version any more" if offered is None else "terms that differ from those already used"
        return [
            FrozenFault(
                version=usage.version,
                field="version",
                found=found,
                expected=f"version {usage.version} as it was when first used",
                remedy="Restore it, and write the change as a new version.",
            )
        ]
    if offered.effective_to is not None and offered.effective_to < usage.last_night:
        return [
            FrozenFault(
                version=usage.version,
                field="effective_to",
                found=offered.effective_to.isoformat(),
                expected=f"{usage.last_night} or later: that night is assessed under it",
                remedy="Set it to a night not yet assessed.",
            )
        ]
    return []


def _drawn_out(usage: Usage, offered: Terms | None, without_terms: Sequence[date]) -> list[FrozenFault]:
    over = [] if offered is None else [night for night in without_terms if offered.in_force_on(night)]
    over = [night for night in over if night > usage.last_night]
    if offered is None or not over:
        return []
    ends = "open" if offered.effective_to is None else offered.effective_to.isoformat()
    return [
        FrozenFault(
            version=usage.version,
            field="effective_to",
            found=ends,
            expected=f"a night before {min(over)}, which was measured when this version had ended",
            remedy="Restore it, and write what follows as a new version.",
        )
    ]


def false_flag_chance(floor: Floor, n: int, true_rate: Fraction) -> Fraction:
    """The chance that n independent expectations, each good with probability `true_rate`, breach the floor.

    Exact; rows R03 to R05 of the reference table are the point rule's.
    """
    last = _last_breaching(floor, n)
    return Fraction(*at_most(last, n, true_rate)) if last >= 0 else Fraction(0)


def unreachable_tiers(floor: Floor, n: int) -> list[Tier]:
    """Tiers that no breach of n expectations falls into."""
    last = _last_breaching(floor, n)
    unreachable = []
    for tier in floor.tiers:
        fewest = ceil(Fraction(tier.at_least) * n)
        if fewest > last or fewest >= Fraction(tier.below) * n:
            unreachable.append(tier)
    return unreachable


def _last_breaching(floor: Floor, n: int) -> int:
    """The largest count of good out of n that breaches, -1 where none does; every smaller one breaches too."""
    if floor.rule == "exact_binomial_95":
        return critical_count(n, floor.value)
    return ceil(floor.value * n) - 1
