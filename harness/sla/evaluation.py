"""An assessment with all that a settlement event says of it: counts, evidence, coverage (sla.md, Event `data`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from harness.scoring.decimals import format_bound, format_ratio, places_for
from harness.scoring.model import Interval, Outcomes
from harness.sla.model import Assessment
from harness.sla.windows import Window, subject_of
from harness.testset.model import Terms

ReasonCode = Literal[
    "gold_corrected",
    "scorer_corrected",
    "harness_fault",
    "night_resumed",
    "voided_duplicate",
    "dispute_upheld",
    "dispute_rejected",
]
"""Why a settlement was revised, as the feed says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a window's numbers can be seen and re-run. Digests are SHA-256 in hex; a window that nothing ran in has the
    versions only."""

    scorer_version: int
    harness_version: str
    page_url: str | None = None
    scores_url: str | None = None
    scores_sha256: str | None = None
    testset_version: str | None = None
    testset_sha256: str | None = None
    run_id: str | None = None

    def wire(self) -> dict[str, Any]:
        """The keys in the order of sla.md."""
        return {
            "page_url": self.page_url,
            "scores_url": self.scores_url,
            "scores_sha256": self.scores_sha256,
            "testset_version": self.testset_version,
            "testset_sha256": self.testset_sha256,
            "scorer_version": self.scorer_version,
            "harness_version": self.harness_version,
            "run_id": self.run_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The nights of a window under the terms: how many, and the ISO dates of those not run or insufficient."""

    expected: int
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One floor's assessment over a window with all that an event says of it.

    `interval` and `claim` (a Citations v1 part as wire mapping) are None where nothing valid was measured. `reason` is
    the code of a rescore or of a superseded run, None for the window's first evaluation.
    """

    society_id: str
    slug: str
    terms: Terms
    assessment: Assessment
    window: Window
    coverage: Coverage
    interval: Interval | None
    evidence: Evidence
    warnings: tuple[str, ...] = ()
    reason: ReasonCode | None = None
    claim: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def subject(self) -> str:
        return subject_of(self.slug, self.assessment.floor.measure, self.window)


def measured(evaluated: Evaluated) -> dict[str, Any]:
    """Counts, and where there is a base the ratio with its interval: decimals as strings, never across the floor."""
    counted = evaluated.assessment.counted
    counts: dict[str, Any] = {"good": counted.good, "valid": counted.valid}
    if not counted.valid:
        return counts
    places = places_for(evaluated.assessment.floor.floor)
    counts["ratio"] = format_ratio(Fraction(counted.good, counted.valid), places)
    if evaluated.interval is not None:
        counts["interval"] = {
            "method": evaluated.interval.method,
            "confidence": evaluated.interval.confidence,
            "low": format_bound(evaluated.interval.low, direction="down", places=places),
            "high": format_bound(evaluated.interval.high, direction="up", places=places),
        }
    return counts


def outcome_counts(outcomes: Outcomes) -> dict[str, int]:
    """Planned expectations and where each ended."""
    return {
        "planned": outcomes.planned,
        "correct": outcomes.correct,
        "incorrect": outcomes.incorrect,
        "missing": outcomes.missing,
        "gateway_error": outcomes.gateway_error,
        "harness_error": outcomes.harness_error,
    }


def coverage(evaluated: Evaluated) -> dict[str, Any]:
    """Nights that the terms want measured, those that were, and the others by date."""
    missed = evaluated.coverage.missed
    return {
        "nights_expected": evaluated.coverage.expected,
        "nights_measured": evaluated.coverage.expected - len(missed),
        "nights_missed": list(missed),
    }
