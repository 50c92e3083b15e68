"""A settlement's life as a pure fold of its events (sla.md, Settlements)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final, Literal

from harness.scoring.decimals import format_bound, format_ratio, places_for
from harness.scoring.model import Interval, Outcomes
from harness.sla.assess import NO_CREDIT
from harness.sla.model import Assessment, EventDraft, LedgerEvent, Settlement, State, Status
from harness.sla.windows import Window, subject_of
from harness.testset.model import Terms

EVALUATED: Final = "window.evaluated.v1"
REVISED: Final = "window.revised.v1"
FINALIZED: Final = "window.finalized.v1"

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

_KEPT_WHEN_FINAL: Final = ("state", "target_percent", "billable_percent", "tier", "dispute", "finalized_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a window's numbers can be seen and re-run. Digests are SHA-256 in hex."""

    page_url: str
    scores_url: str
    scores_sha256: str
    testset_version: str
    testset_sha256: str
    scorer_version: int
    harness_version: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One floor's assessment over a window with all that an event says of it.

    `interval` and `claim` (a Citations v1 part as wire mapping) are None where nothing valid was measured. `reason` is
    the code of a revision, None for a first evaluation.
    """

    society_id: str
    slug: str
    terms: Terms
    assessment: Assessment
    window: Window
    interval: Interval | None
    evidence: Evidence
    warnings: tuple[str, ...] = ()
    reason: ReasonCode | None = None
    claim: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def subject(self) -> str:
        return subject_of(self.slug, self.assessment.floor.measure, self.window)


def fold(events: Iterable[LedgerEvent]) -> Settlement | None:
    """The settlement that its events, in revision order, come to; None before the first. Raises ValueError on a gap."""
    settlement: Settlement | None = None
    for event in events:
        expected = 1 if settlement is None else settlement.revision + 1
        if event.revision != expected:
            raise ValueError(f"{event.subject}: revision {event.revision} stands where {expected} is due")
        settlement = settlement_after(event)
    return settlement


def settlement_after(event: LedgerEvent) -> Settlement:
    """The settlement as an event leaves it: each event states it whole."""
    return _settlement(event.subject, event.revision, json.loads(event.body)["data"])


def draft_events(previous: Settlement | None, evaluated: Evaluated, now: datetime) -> tuple[EventDraft, ...]:
    """The events that an assessment adds at `now`: none where status and target are what they were.

    A final target never falls: where an assessment would lower it, it stays as it is, final, and only a change of
    status is told. Where it rises the settlement opens again, what was final stays billable, and no later assessment
    goes below that. An open settlement whose dispute clock has run out by `now` is final first: the days make it so,
    not the moment that it is written.
    """
    closed = () if previous is None else draft_finalization(previous, now)
    for draft in closed:
        previous = _settlement(draft.subject, draft.revision, draft.data)
    return (*closed, *_draft_evaluation(previous, evaluated, now))


def _draft_evaluation(previous: Settlement | None, evaluated: Evaluated, now: datetime) -> tuple[EventDraft, ...]:
    """What the assessment itself adds to a settlement whose clock is up to date."""
    data = _data(previous, evaluated, now)
    if previous is not None:
        if previous.state is State.FINAL and not _rises(previous.target_percent, evaluated.assessment.target_percent):
            data |= {name: previous.data[name] for name in _KEPT_WHEN_FINAL}
        elif _rises(data["target_percent"], previous.billable_percent):
            data["target_percent"] = previous.billable_percent  # once final, also when it has been reopened since
        if all(data[name] == previous.data[name] for name in ("status", "target_percent")):
            return ()
    end = utc_seconds(evaluated.window.end)
    opened = EventDraft(
        subject=evaluated.subject,
        revision=data["revision"],
        type=EVALUATED if previous is None else REVISED,
        time=end,
        data=data,
    )
    return (opened, *draft_finalization(_settlement(opened.subject, opened.revision, data), now))


def draft_finalization(settlement: Settlement, now: datetime) -> tuple[EventDraft, ...]:
    """The finalized event of an open settlement whose dispute clock has run out at `now`, else nothing."""
    if settlement.state is not State.OPEN or now < datetime.fromisoformat(settlement.data["dispute"]["closes"]):
        return ()
    if _rises(settlement.target_percent, settlement.billable_percent):
        raise ValueError(f"{settlement.subject}: finalizing would lower what is billable")
    data = {
        **settlement.data,
        "revision": settlement.revision + 1,
        "state": State.FINAL,
        "billable_percent": settlement.target_percent,
        "finalized_at": utc_seconds(now),
    }
    return (
        EventDraft(
            subject=settlement.subject,
            revision=settlement.revision + 1,
            type=FINALIZED,
            time=data["window"]["end"],
            data=data,
        ),
    )


def utc_seconds(moment: datetime) -> str:
    """A time as events print it: RFC 3339, UTC, `Z`, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _data(previous: Settlement | None, evaluated: Evaluated, now: datetime) -> dict[str, Any]:
    assessment, terms, window = evaluated.assessment, evaluated.terms, evaluated.window
    floor, tier = assessment.floor, assessment.tier
    measured = assessment.status is not Status.NOT_RUN
    return {
        "subject": evaluated.subject,
        "revision": 1 if previous is None else previous.revision + 1,
        "state": State.OPEN,
        "status": assessment.status,
        "society": {"id": evaluated.society_id, "slug": evaluated.slug},
        "terms_version": terms.version,
        "terms_sha256": terms.sha256,
        "objective": {"measure": floor.measure, "floor": floor.floor, "rule": floor.rule},
        "window": {
            "kind": window.kind,
            "label": window.label,
            "start": utc_seconds(window.start),
            "end": utc_seconds(window.end),
        },
        "measured": _measured(evaluated),
        "outcomes": outcome_counts(assessment.counted.outcomes),
        "coverage": {
            "nights_expected": 1,
            "nights_measured": int(measured),
            "nights_missed": [] if measured else [window.label],
        },
        "target_percent": assessment.target_percent,
        "billable_percent": NO_CREDIT if previous is None else previous.billable_percent,
        "tier": None
        if tier is None
        else {"below": tier.below, "at_least": tier.at_least, "credit_percent": tier.credit_percent},
        "reason": evaluated.reason,
        "dispute": {
            "opens": utc_seconds(now),
            "closes": utc_seconds(now + timedelta(days=terms.dispute_days)),
        },
        "finalized_at": None,
        "evidence": {name: getattr(evaluated.evidence, name) for name in Evidence.__slots__},
        "warnings": [*assessment.reasons, *evaluated.warnings],
        "claim": None if evaluated.claim is None else dict(evaluated.claim),
    }


def _measured(evaluated: Evaluated) -> dict[str, Any]:
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


def _rises(before: str, after: str) -> bool:
    return Fraction(after) > Fraction(before)


def _settlement(subject: str, revision: int, data: Mapping[str, Any]) -> Settlement:
    return Settlement(
        subject=subject,
        revision=revision,
        state=State(data["state"]),
        status=Status(data["status"]),
        target_percent=data["target_percent"],
        billable_percent=data["billable_percent"],
        data=data,
    )
