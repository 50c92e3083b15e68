"""What must hold of a result before anything of it goes live; a breach names itself and nothing is published
(publishing.md, What a page must never do; laws 1 and 2)."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from harness.errors import PublishRefused
from harness.scoring.decimals import format_ratio
from harness.scoring.model import Measure
from harness.site.eval_json import HEADLINE, interval_entry, places_of, published_measures
from harness.site.model import EvalResult
from harness.site.tables import SavedTables

_SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", re.ASCII)
_NIGHT: Final = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?", re.ASCII)

_OTHER_BASE: Final = ("correctness_when_retrieved",)
"""Measures over expectations whose base is a part of the valid ones."""


def refuse_address(result: EvalResult) -> None:
    """Raise PublishRefused for a slug, night or revision that cannot be a part of an address."""
    if not _SLUG.fullmatch(result.slug) or not _NIGHT.fullmatch(result.night) or result.revision < 1:
        raise PublishRefused(f"{result.slug!r} {result.night!r} r{result.revision}: no address can be made of these")


def refuse_broken(result: EvalResult, tables: SavedTables) -> None:
    """Raise PublishRefused with every invariant that the result and its written tables break."""
    broken = [*_plan(result, tables), *_measures(result), *_floors(result)]
    if broken:
        raise refusal(result, broken)


def refusal(result: EvalResult, broken: list[str]) -> PublishRefused:
    """The exception that names what broke, one line each."""
    place = f"{result.slug} {result.night} r{result.revision}"
    return PublishRefused("\n".join(f"{place}: {line}" for line in broken))


def _plan(result: EvalResult, tables: SavedTables) -> Iterator[str]:
    if tables.outcomes != result.outcomes:
        yield f"outcomes do not add up: the table has {_counts(tables.outcomes)}, the result {_counts(result.outcomes)}"
    if tables.items != result.items:
        yield f"items do not add up: the table has {tables.items}, the result {result.items}"
    if not any(measure.name == HEADLINE and measure.stratum is None for measure in result.measures):
        yield f"{HEADLINE} is not among the measures"


def _measures(result: EvalResult) -> Iterator[str]:
    for measure in published_measures(result):
        name = measure.name if measure.stratum is None else f"{measure.name} {measure.stratum}"
        yield from (f"{name}: {line}" for line in _measure(result, measure))
        if measure.value is None:
            continue
        places = places_of(result, measure.name)
        if measure.interval is None:
            yield f"{name}: a value without an interval"
            continue
        printed = interval_entry(measure.interval, places)
        if not Fraction(printed.low) <= measure.value <= Fraction(printed.high):
            value = format_ratio(measure.value, places)
            yield f"{name}: the interval {printed.low} to {printed.high} does not hold {value}"


def _measure(result: EvalResult, measure: Measure) -> Iterator[str]:
    divisor = Fraction(measure.valid) if measure.weight_total is None else measure.weight_total
    value = measure.good / divisor if measure.valid and divisor else None
    if measure.value != value:
        yield f"value {measure.value} is not good / valid, {measure.good} / {divisor}"
    elif value is not None and not 0 <= value <= 1:
        yield f"value {value} is not a share"
    outcomes = measure.outcomes
    if outcomes is None:
        return
    if outcomes.valid != measure.valid:
        yield f"valid {measure.valid} is not the {outcomes.valid} that its outcomes leave"
    if measure.name == HEADLINE and measure.good != outcomes.correct:
        yield f"good {measure.good} is not the {outcomes.correct} correct outcomes"
    if measure.stratum is None and measure.name not in _OTHER_BASE and outcomes != result.outcomes:
        yield f"outcomes do not add up to the plan: {_counts(outcomes)} of {_counts(result.outcomes)}"


def _floors(result: EvalResult) -> Iterator[str]:
    if result.window != "night" and not result.pooled:
        return  # a month pools its nights: its counts are not this night's
    for assessment in result.assessments:
        name, counted = assessment.floor.measure, assessment.counted
        measure = next((row for row in result.measures if row.name == name and row.stratum is None), None)
        if measure is None:
            yield f"floor on {name}: the measure is not published"
        elif counted.good != measure.good or counted.valid != measure.valid:
            yield (
                f"floor on {name}: decided from {counted.good} / {counted.valid}, "
                f"published is {measure.good} / {measure.valid}"
            )
        if counted.outcomes != result.outcomes:
            yield f"floor on {name}: decided from {_counts(counted.outcomes)}, published is {_counts(result.outcomes)}"


def _counts(outcomes: object) -> str:
    return ", ".join(f"{getattr(outcomes, name)} {name}" for name in _OUTCOMES)


_OUTCOMES: Final = ("correct", "incorrect", "missing", "gateway_error", "harness_error")
