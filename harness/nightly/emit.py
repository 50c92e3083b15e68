"""Emit: assessments become settlement events in the ledger, each written once (sla.md, Settlements)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from harness import __version__
from harness.clock import Clock, utc_text
from harness.nightly.official import reason_of
from harness.nightly.results import ScoredSociety, whole
from harness.scoring.model import SCORER_VERSION, Outcomes
from harness.site.model import EvalResult
from harness.sla.assess import assess
from harness.sla.evaluation import Coverage, Evaluated, Evidence, ReasonCode
from harness.sla.ledger import LedgerSettings, record_event
from harness.sla.model import Assessment, Counted, EventDraft, LedgerEvent, Settlement, Status
from harness.sla.period import Contract
from harness.sla.settlement import draft_clock, draft_events, fold, utc_seconds
from harness.sla.windows import Window, night_window
from harness.store.ledger import Act, Ledger, Query
from harness.testset.model import Floor, Terms

Drafts = Callable[[Settlement | None, datetime], Sequence[EventDraft]]
"""From a settlement as it stands (None: there is none) and the time to its next events."""

NOTHING = Counted(good=0, valid=0, outcomes=Outcomes(), calls_sent=0)
"""The counts of a window in which nothing ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitter:
    """Where events go and what they say of their origin."""

    ledger: Ledger
    clock: Clock
    settings: LedgerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """What an event cites of a published revision. `claims` has the wire form of each floor's claim part by measure."""

    page_url: str
    scores_url: str
    scores_sha256: str
    claims: Mapping[str, Mapping[str, Any]]


def emit_society(emitter: Emitter, scored: ScoredSociety, result: EvalResult, cited: Cited) -> int:
    """Write the events of a society's night; the number written, 0 where nothing changed.

    A night of a month window has no settlement of its own: it counts in its month's.
    """
    terms = scored.plan.terms
    if terms is None or terms.window != "night" or not result.official:
        return 0
    window = night_window(date.fromisoformat(result.night))
    reason = reason_of(emitter.ledger.engine, scored.run, scored.revision)
    covered = {each.floor.measure: Coverage(expected=1, missed=_missed(each, window)) for each in result.assessments}
    return emit_result(emitter, result, cited, Settled(terms=terms, window=window, coverage=covered, reason=reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What an event says beside a result's numbers: terms, window, nights covered by measure, why it was revised."""

    terms: Terms
    window: Window
    coverage: Mapping[str, Coverage]
    reason: ReasonCode | None


def emit_result(emitter: Emitter, result: EvalResult, cited: Cited, settled: Settled) -> int:
    """Write the events of a result's floors; the number written."""
    written = 0
    for assessment in result.assessments:
        measure = whole(result.measures, assessment.floor.measure)
        evaluated = Evaluated(
            society_id=result.society,
            slug=result.slug,
            terms=settled.terms,
            assessment=assessment,
            window=settled.window,
            coverage=settled.coverage[assessment.floor.measure],
            interval=measure.interval,
            evidence=Evidence(
                page_url=cited.page_url,
                scores_url=cited.scores_url,
                scores_sha256=cited.scores_sha256,
                testset_version=result.testset_version,
                testset_sha256=result.testset_sha256,
                scorer_version=result.scorer_version,
                harness_version=result.harness_version,
                run_id=result.run_id,
            ),
            warnings=tuple(dict.fromkeys((*measure.warnings, *result.warnings))),
            reason=settled.reason,
            claim=cited.claims.get(assessment.floor.measure),
        )
        written += len(_emit(emitter, evaluated))
    return written


def emit_not_run(emitter: Emitter, contract: Contract, terms: Terms, window: Window, nights: Sequence[date]) -> int:
    """Record a window in which nothing ran; the number of events written. What is settled already is left alone: its
    run may be missing from a database that was restored."""
    written = 0
    for floor in terms.floors:
        evaluated = _not_run(contract, terms, floor, window, nights)

        def drafts(settlement: Settlement | None, now: datetime, this: Evaluated = evaluated) -> Sequence[EventDraft]:
            return () if settlement is not None else draft_events(None, this, now)

        written += len(append(emitter, evaluated.subject, drafts))
    return written


def close_clocks(emitter: Emitter) -> Sequence[LedgerEvent]:
    """End every dispute and finalize every settlement whose clock has run out; the events written."""
    due = Query(closed_by=utc_seconds(emitter.clock.now()))
    subjects = [stand.event.subject for stand in emitter.ledger.settlements(due)]

    def drafts(settlement: Settlement | None, now: datetime) -> Sequence[EventDraft]:
        return () if settlement is None else draft_clock(settlement, now)

    return [event for subject in subjects for event in append(emitter, subject, drafts)]


def append(emitter: Emitter, subject: str, drafts: Drafts, act: Act | None = None) -> Sequence[LedgerEvent]:
    """Decide on the subject's history and append, in one transaction."""

    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        now = emitter.clock.now()
        events = list[LedgerEvent]()
        for draft in drafts(fold(history), now):
            last = record_event(draft, emitter.settings, last, utc_text(now))
            events.append(last)
        return events

    return emitter.ledger.append(subject, decide, act)


def _emit(emitter: Emitter, evaluated: Evaluated) -> Sequence[LedgerEvent]:
    return append(emitter, evaluated.subject, lambda settlement, now: draft_events(settlement, evaluated, now))


def _not_run(contract: Contract, terms: Terms, floor: Floor, window: Window, nights: Sequence[date]) -> Evaluated:
    return Evaluated(
        society_id=contract.society_id,
        slug=contract.slug,
        terms=terms,
        assessment=assess(terms, floor, NOTHING, None if window.kind == "night" else len(nights)),
        window=window,
        coverage=Coverage(expected=len(nights), missed=tuple(night.isoformat() for night in nights)),
        interval=None,
        evidence=Evidence(scorer_version=SCORER_VERSION, harness_version=__version__),
    )


def _missed(assessment: Assessment, window: Window) -> tuple[str, ...]:
    return () if assessment.status in (Status.MET, Status.BREACHED) else (window.label,)
