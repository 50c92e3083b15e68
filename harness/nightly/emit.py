"""Emit: assessments become settlement events in the ledger, each written once (sla.md, Settlements)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Engine

from harness.clock import Clock, utc_text
from harness.nightly.results import ScoredSociety, whole
from harness.site.model import EvalResult
from harness.sla.ledger import LedgerSettings, record_event
from harness.sla.model import EventDraft, LedgerEvent
from harness.sla.settlement import Evaluated, Evidence, draft_events, draft_finalization, fold, settlement_after
from harness.sla.windows import night_window
from harness.store.ledger import append_events, iter_events


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitter:
    """Where events go and what they say of their origin."""

    engine: Engine
    clock: Clock
    ledger: LedgerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """What an event cites of a published revision. `claims` has the wire form of each floor's claim part by measure."""

    page_url: str
    scores_url: str
    scores_sha256: str
    claims: Mapping[str, Mapping[str, Any]]


def emit_society(emitter: Emitter, scored: ScoredSociety, result: EvalResult, cited: Cited) -> int:
    """Write the events of a society's night; the number written, 0 where nothing changed."""
    terms = scored.plan.terms
    if terms is None or terms.window != "night" or not result.official:
        return 0
    written = 0
    for assessment in result.assessments:
        measure = whole(list(result.measures), assessment.floor.measure)
        evaluated = Evaluated(
            society_id=result.society,
            slug=result.slug,
            terms=terms,
            assessment=assessment,
            window=night_window(date.fromisoformat(result.night)),
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
            claim=cited.claims.get(assessment.floor.measure),
        )
        written += len(_append(emitter, evaluated.subject, evaluated))
    return written


def finalize_expired(emitter: Emitter) -> int:
    """Finalize every open settlement whose dispute clock has run out; the number of events written."""
    latest: dict[str, LedgerEvent] = {event.subject: event for event in iter_events(emitter.engine)}
    now = emitter.clock.now()
    due = [subject for subject, event in latest.items() if draft_finalization(settlement_after(event), now)]
    return sum(len(_append(emitter, subject, None)) for subject in due)


def _append(emitter: Emitter, subject: str, evaluated: Evaluated | None) -> Sequence[LedgerEvent]:
    """Decide on the subject's history and append, in one transaction; without an assessment only the clock decides."""

    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        now = emitter.clock.now()
        settlement = fold(history)
        drafts: tuple[EventDraft, ...] = ()
        if evaluated is not None:
            drafts = draft_events(settlement, evaluated, now)
        elif settlement is not None:
            drafts = draft_finalization(settlement, now)
        events = list[LedgerEvent]()
        for draft in drafts:
            last = record_event(draft, emitter.ledger, last, utc_text(now))
            events.append(last)
        return events

    return append_events(emitter.engine, subject, decide)
