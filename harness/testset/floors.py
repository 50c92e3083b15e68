"""[[terms.floors]]: objectives and their credit tiers (sla.md, Terms)."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, Literal

from harness.citation.model import FIELDS
from harness.testset.fields import Place, Record, choice, decimal
from harness.testset.model import COUNT_MEASURES, Floor, Tier

_KEYS: Final = ("measure", "floor", "rule", "tiers")
_TIER_KEYS: Final = ("below", "at_least", "credit_percent")
_RELEVANCE: Final = ("society", "standard", "edition_year", "section_path")
"""Fields by which a passage is relevant (scoring.md)."""
_MEASURE: Final = choice(*COUNT_MEASURES)
_FLOOR: Final = decimal("above 0 and at most 1", lambda value: 0 < value <= 1)
_RULE: Final = choice("point", "exact_binomial_95")
_EDGE: Final = decimal("from 0 to 1", lambda value: value <= 1)
_PERCENT: Final = decimal("from 0 to 100", lambda value: value <= 100)


def read_floors(record: Record, *, checks: tuple[str, ...], window: str) -> tuple[Floor, ...]:
    """The floors of a version in file order; what is wrong is noted, and a floor with a defect is left out."""
    floors: list[Floor] = []
    for table, place in record.tables("floors"):
        floor = _read_floor(table, place, checks, window)
        if floor is None:
            continue
        if any(floor.measure == other.measure for other in floors):
            place.note(
                "measure",
                found=f"{floor.measure} again",
                expected="one floor per measure",
                remedy="Take one of them out.",
            )
        floors.append(floor)
    return tuple(floors)


def fields_of(measure: str) -> tuple[tuple[str, ...], int]:
    """The fields that a count measure looks at, and how many of them must be contracted (scoring.md, Measures)."""
    if measure == "citation_correctness":
        return FIELDS, 1
    if measure == "correctness_when_retrieved":
        return _RELEVANCE, len(_RELEVANCE)
    if measure == "string_correctness":
        return ("citation",), 1
    if measure == "field_correctness":
        return tuple(name for name in FIELDS if name != "citation"), 1
    return (measure.removesuffix("_correctness"),), 1


def _read_floor(table: Mapping[str, Any], place: Place, checks: tuple[str, ...], window: str) -> Floor | None:
    record = Record(table, place, _KEYS)
    measure = record.need("measure", _MEASURE)
    floor = record.need("floor", _FLOOR)
    rule = record.need("rule", _RULE)
    rows = record.tables("tiers", required=True)
    tiers = [tier for row, at in rows if (tier := _read_tier(row, at))]
    if measure is not None:
        _check_contracted(place, measure, checks)
    if rule == "exact_binomial_95" and window != "night":
        place.note(
            "rule",
            found=f"{rule} with the window {window}",
            expected='"point", or the window "night"',
            remedy="Change the rule or the window.",
        )
    if floor is not None and len(tiers) == len(rows) and "tiers" in table:
        _check_tiling(place, floor, tiers)
    if measure is None or floor is None or rule is None:
        return None
    kind: Literal["point", "exact_binomial_95"] = "point" if rule == "point" else "exact_binomial_95"
    return Floor(measure=measure, floor=floor, rule=kind, tiers=tuple(tiers))


def _read_tier(table: Mapping[str, Any], place: Place) -> Tier | None:
    record = Record(table, place, _TIER_KEYS)
    below = record.need("below", _EDGE)
    at_least = record.need("at_least", _EDGE)
    percent = record.need("credit_percent", _PERCENT)
    if below is None or at_least is None or percent is None:
        return None
    if Fraction(at_least) >= Fraction(below):
        place.note(
            "at_least",
            found=f"{at_least!r}, not under below = {below!r}",
            expected="a decimal less than below",
            remedy="A tier is at_least ≤ ratio < below; swap or correct the two.",
        )
        return None
    return Tier(below=below, at_least=at_least, credit_percent=percent)


def _check_contracted(place: Place, measure: str, checks: tuple[str, ...]) -> None:
    fields, least = fields_of(measure)
    missing = [name for name in fields if name not in checks]
    if len(fields) - len(missing) < least:
        place.note(
            "measure",
            found=f"{measure}, which needs the check {' and '.join(missing) if least > 1 else ' or '.join(missing)}",
            expected=f"a measure of the contracted checks, {', '.join(checks)}",
            remedy="Add the check to checks or name another measure.",
        )


def _check_tiling(place: Place, floor: str, tiers: list[Tier]) -> None:
    """Half-open tiers must tile [0, floor): each starts where the next lower one ends."""
    edge, shown, name = Fraction(floor), floor, "the floor"
    for tier in sorted(tiers, key=lambda tier: Fraction(tier.below), reverse=True):
        if Fraction(tier.below) != edge:
            word = "a gap" if Fraction(tier.below) < edge else "an overlap"
            place.note(
                "tiers",
                found=f"{word} at below = {tier.below!r}",
                expected=f"below = {shown!r}, {name}",
                remedy="Tiers are half-open and tile [0, floor): each one's below is the at_least of the one above it.",
            )
            return
        edge, shown, name = Fraction(tier.at_least), tier.at_least, "the at_least of the tier above it"
    if edge != 0:
        place.note(
            "tiers",
            found=f"no tier below {shown}",
            expected="tiers down to 0",
            remedy='Set at_least = "0" in the lowest tier.',
        )
