"""eval.json: every number of a society's night as the strings that all its pages print (publishing.md, law 2).

`eval.schema.json` beside this module is the promise to readers; keys are added, never changed.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import msgspec

from harness.claims.part import ClaimPart
from harness.scoring.decimals import format_bound, format_ratio, places_for
from harness.scoring.model import Interval, Measure
from harness.site.model import EvalResult, Previous
from harness.site.text import encodable
from harness.sla.model import Assessment

SCHEMA_VERSION: Final = 1

HEADLINE: Final = "citation_correctness"
"""The measure that pages lead with (scoring.md, Measures)."""

SMALLEST_STRATUM: Final = 10
"""A stratum with a smaller base is not published (scoring.md, Measures)."""

SAMPLE_WARNING: Final = "sample output of a demonstration: says nothing about any society, standard or gateway"

_PUBLIC_STRATA: Final = ("standard=", "kind=")

_OWN_SUM: Final = ("recall_at_k", "mrr", "weighted_citation_correctness")
"""Measures whose `good` is a sum of exact fractions and no count."""


class SocietyEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    slug: str
    name: str


class FloorEntry(msgspec.Struct, frozen=True, kw_only=True):
    """`measure` names the whole-society entry of `measures` that the floor is decided from; its claim is there.

    `shortfall` is the floor less the printed value, "0.000000" at or above it, None without a value.
    """

    measure: str
    floor: str
    rule: str
    window: str
    status: str
    shortfall: str | None


class IntervalEntry(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    confidence: str
    low: str
    high: str


class MeasureEntry(msgspec.Struct, frozen=True, kw_only=True):
    """`good` is an integer for a share and a decimal string for a mean or a weighted share, whose terms are exact."""

    name: str
    stratum: str | None
    good: int | str
    valid: int
    value: str | None
    interval: IntervalEntry | None
    claim: dict[str, Any] | None


class OutcomesEntry(msgspec.Struct, frozen=True, kw_only=True):
    planned: int
    correct: int
    incorrect: int
    missing: int
    gateway_error: int
    harness_error: int


class FaultsEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Counts by name: `gateway` by reason of a call without a usable answer, `citation` by shape of a wrong one."""

    gateway: dict[str, int]
    citation: dict[str, int]


class LatencyEntry(msgspec.Struct, frozen=True, kw_only=True):
    p50: int | None
    p95: int | None
    max: int | None


class CallsEntry(msgspec.Struct, frozen=True, kw_only=True):
    asked: int
    retried: int
    billed: int
    tokens_returned: int


class TestsetEntry(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    sha256: str
    items: int
    expectations: int


class GatewayEntry(msgspec.Struct, frozen=True, kw_only=True):
    transport: str
    version: str


class RunEntry(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    started_at: str
    finished_at: str


class PreviousEntry(msgspec.Struct, frozen=True, kw_only=True):
    """`change` is better less worse over the expectations compared, None where none could be. The counts are None in
    what releases before 0.2 wrote."""

    night: str
    value: str
    change: str | None
    mcnemar_p: str
    better: int | None = None
    worse: int | None = None
    compared: int | None = None


class EvalDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What eval.json holds, in the order of its keys. Those from `reason` on are absent from what releases before 0.2
    wrote. `reason` says why a revision came after another; `scored_at` when it was scored, UTC."""

    schema_version: int
    society: SocietyEntry
    night: str
    revision: int
    official: bool
    status: str
    floors: list[FloorEntry]
    measures: list[MeasureEntry]
    outcomes: OutcomesEntry
    faults: FaultsEntry
    latency_ms: LatencyEntry
    calls: CallsEntry
    testset: TestsetEntry
    editions: dict[str, list[int]]
    scorer_version: int
    harness_version: str
    gateway: GatewayEntry
    run: RunEntry
    previous: PreviousEntry | None
    warnings: list[str]
    reason: str | None = None
    scored_at: str | None = None
    terms_version: int | None = None
    top_k: int | None = None
    checks: list[str] = []
    clusters: int | None = None

    def measure(self, name: str, stratum: str | None = None) -> MeasureEntry | None:
        """The entry of that measure and stratum, or None where it is not published."""
        return next((entry for entry in self.measures if entry.name == name and entry.stratum == stratum), None)


def published_measures(result: EvalResult) -> tuple[Measure, ...]:
    """The measures that go out: the whole, and strata by standard and kind with a base of at least ten."""
    return tuple(
        measure
        for measure in result.measures
        if measure.stratum is None or (measure.stratum.startswith(_PUBLIC_STRATA) and measure.valid >= SMALLEST_STRATUM)
    )


def warnings_of(result: EvalResult) -> tuple[str, ...]:
    """What holds for every number of the result, in every part of it too (claims.md, Producer)."""
    told = [encodable(text) for text in result.warnings]
    if not result.official:
        told.append("provisional: not the official run of its night")
    if result.window == "calendar_month" and not result.pooled:
        told.append("indicative: the floor's window is a calendar month, of which this is one night")
    if result.demo:
        told.append(SAMPLE_WARNING)
    return tuple(told)


def places_of(result: EvalResult, measure: str) -> int:
    """Decimals that a measure is printed with: six, or as many as a floor on it has."""
    return max(
        (places_for(entry.floor.floor) for entry in result.assessments if entry.floor.measure == measure), default=6
    )


def document_of(result: EvalResult, claim_for: Callable[[Measure], ClaimPart]) -> EvalDocument:
    """eval.json as values; `claim_for` makes the claim part of a measure that has a value."""
    return EvalDocument(
        schema_version=SCHEMA_VERSION,
        society=SocietyEntry(id=result.society, slug=result.slug, name=result.name),
        night=result.night,
        revision=result.revision,
        official=result.official,
        status=result.status.value,
        floors=[_floor(assessment, result) for assessment in result.assessments],
        measures=[
            _measure(measure, places_of(result, measure.name), claim_for) for measure in published_measures(result)
        ],
        outcomes=OutcomesEntry(
            planned=result.outcomes.planned,
            correct=result.outcomes.correct,
            incorrect=result.outcomes.incorrect,
            missing=result.outcomes.missing,
            gateway_error=result.outcomes.gateway_error,
            harness_error=result.outcomes.harness_error,
        ),
        faults=FaultsEntry(gateway=_counts(result.gateway_faults), citation=_counts(result.citation_faults)),
        latency_ms=LatencyEntry(p50=result.latency.p50, p95=result.latency.p95, max=result.latency.max),
        calls=CallsEntry(
            asked=result.calls.asked,
            retried=result.calls.retried,
            billed=result.calls.billed,
            tokens_returned=result.calls.tokens_returned,
        ),
        testset=TestsetEntry(
            version=result.testset_version,
            sha256=result.testset_sha256,
            items=result.items,
            expectations=result.outcomes.planned,
        ),
        editions={standard: list(years) for standard, years in sorted(result.editions.items())},
        scorer_version=result.scorer_version,
        harness_version=result.harness_version,
        gateway=GatewayEntry(transport=result.transport, version=encodable(result.gateway_version)),
        run=RunEntry(id=result.run_id, started_at=result.started_at, finished_at=result.finished_at),
        previous=None if result.previous is None else _previous(result.previous),
        warnings=list(warnings_of(result)),
        reason=result.reason,
        scored_at=result.scored_at,
        terms_version=result.terms_version,
        top_k=result.top_k,
        checks=list(result.checks),
        clusters=result.clusters,
    )


def encode(document: EvalDocument) -> bytes:
    """The file's bytes: UTF-8, indented, keys in the promised order, one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def decode(content: bytes) -> EvalDocument:
    """A document as written by this release or a later one: keys it does not know are ignored.

    Raises msgspec.ValidationError for anything else.
    """
    return msgspec.json.decode(content, type=EvalDocument)


def good_text(measure: Measure) -> int | str:
    """`good` as printed: an integer for a share, six decimals for a sum of fractions."""
    if measure.name in _OWN_SUM or measure.good.denominator != 1:
        return format_ratio(measure.good)
    return int(measure.good)


def interval_entry(interval: Interval, places: int) -> IntervalEntry:
    """The interval rounded outward, so that what holds the value holds the printed value too."""
    return IntervalEntry(
        method=interval.method,
        confidence=interval.confidence,
        low=format_bound(interval.low, direction="down", places=places),
        high=format_bound(interval.high, direction="up", places=places),
    )


def _measure(measure: Measure, places: int, claim_for: Callable[[Measure], ClaimPart]) -> MeasureEntry:
    return MeasureEntry(
        name=measure.name,
        stratum=measure.stratum,
        good=good_text(measure),
        valid=measure.valid,
        value=None if measure.value is None else format_ratio(measure.value, places),
        interval=None if measure.interval is None else interval_entry(measure.interval, places),
        claim=None if measure.value is None else claim_for(measure).to_wire(),
    )


def _floor(assessment: Assessment, result: EvalResult) -> FloorEntry:
    floor = assessment.floor
    counted = assessment.counted
    shortfall = None
    if counted.valid:
        places = places_of(result, floor.measure)
        printed = Fraction(format_ratio(Fraction(counted.good, counted.valid), places))
        shortfall = format_ratio(max(floor.value - printed, Fraction(0)), places)
    return FloorEntry(
        measure=floor.measure,
        floor=floor.floor,
        rule=floor.rule,
        window=result.window,
        status=assessment.status.value,
        shortfall=shortfall,
    )


def _previous(previous: Previous) -> PreviousEntry:
    change = Fraction(previous.better - previous.worse, previous.compared) if previous.compared else None
    return PreviousEntry(
        night=previous.night,
        value=previous.value,
        change=None if change is None else format_ratio(change),
        mcnemar_p=previous.mcnemar_p,
        better=previous.better,
        worse=previous.worse,
        compared=previous.compared,
    )


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {encodable(name): count for name, count in sorted(counts.items())}
