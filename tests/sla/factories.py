"""One-line makers of floors, terms, counts, evaluations and ledgers; the default is 190 of 200 against 0.95."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from harness.scoring.model import Interval, Outcomes
from harness.sla.assess import assess
from harness.sla.evaluation import Coverage, Evaluated, Evidence
from harness.sla.ledger import LedgerSettings, record_event
from harness.sla.model import Assessment, Counted, EventDraft, LedgerEvent, Settlement, Status
from harness.sla.settlement import after_draft, draft_clock, draft_events, fold
from harness.sla.windows import night_window
from harness.testset.model import Floor, Terms, Tier

TIERS: Final = (
    Tier(below="0.95", at_least="0.90", credit_percent="10"),
    Tier(below="0.90", at_least="0.80", credit_percent="25"),
    Tier(below="0.80", at_least="0", credit_percent="100"),
)
NIGHT: Final = date(2026, 11, 29)
SUBJECT: Final = "slf_asme_citation_correctness_2026-11-29"
NOW: Final = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
SETTINGS: Final = LedgerSettings(source="urn:citehouse:test", type_prefix="com.citehouse.eval.")
EVIDENCE: Final = Evidence(
    page_url="https://eval.example/standards/asme/eval/2026-11-29/r1/",
    scores_url="https://eval.example/standards/asme/eval/2026-11-29/r1/scores.csv",
    scores_sha256="5" * 64,
    testset_version="2026.11",
    testset_sha256="7" * 64,
    scorer_version=1,
    harness_version="0.1.0",
    run_id="run-1",
)


def floor(value: str = "0.95", rule: Any = "point", tiers: tuple[Tier, ...] | None = None, **changes: Any) -> Floor:
    """A floor on the headline; tiers follow sla.md at 0.95, and are one tier of 10 % at any other value."""
    if tiers is None:
        tiers = TIERS if value == "0.95" else (Tier(below=value, at_least="0", credit_percent="10"),)
    return Floor(**({"measure": "citation_correctness", "floor": value, "rule": rule, "tiers": tiers} | changes))


def terms(**changes: Any) -> Terms:
    """Version 3, from 2026-01-01 on, with a minimum sample of 59 and no time to dispute."""
    fields: dict[str, Any] = {
        "version": 3,
        "effective_from": date(2026, 1, 1),
        "effective_to": None,
        "editions": {"B31.3": (2022,)},
        "min_sample": 59,
        "dispute_days": 0,
        "floors": (floor(),),
        "sha256": "3" * 64,
    }
    return Terms(**(fields | changes))


def counted(
    good: int = 190, valid: int = 200, *, gateway: int = 0, harness: int = 0, sent: int | None = None
) -> Counted:
    """Counts of the headline: what is neither good nor failed is incorrect; one call for each valid expectation."""
    outcomes = Outcomes(correct=good, incorrect=valid - good - gateway, gateway_error=gateway, harness_error=harness)
    return Counted(good=good, valid=valid, outcomes=outcomes, calls_sent=valid if sent is None else sent)


def evaluated(good: int = 190, valid: int = 200, *, under: Terms | None = None, **changes: Any) -> Evaluated:
    """That count's assessment with all an event says of it; `counts` takes other counts."""
    in_force = under or terms()
    counts = changes.pop("counts", None) or counted(good, valid)
    fields: dict[str, Any] = {
        "society_id": "ASME",
        "slug": "asme",
        "terms": in_force,
        "assessment": assess(in_force, in_force.floors[0], counts),
        "window": night_window(NIGHT),
        "coverage": Coverage(expected=1),
        "interval": Interval(method="wilson", low=0.9104218518612240, high=0.9726173545974364, n_effective=200.0)
        if counts.valid
        else None,
        "evidence": EVIDENCE,
        "claim": {"study": "s"} if counts.valid else None,
    }
    return Evaluated(**(fields | changes))


def said(status: Status, percent: str = "0", *, under: Terms | None = None, **changes: Any) -> Evaluated:
    """An evaluation that comes to this status and, where it is a breach, to a tier with this credit."""
    breached = status is Status.BREACHED
    tier = Tier(below="0.95", at_least="0", credit_percent=percent) if breached else None
    in_force = under or terms()
    counts = counted(0, 0, sent=0) if status is Status.NOT_RUN else counted(150)
    assessment = Assessment(
        floor=in_force.floors[0],
        status=status,
        counted=counts,
        tier=tier,
        target_percent=percent if breached else "0",
    )
    return evaluated(counts=counts, under=in_force, assessment=assessment, **changes)


def breach(percent: str, *, days: int = 30, **changes: Any) -> Evaluated:
    """A breach with that credit, under terms with so many days to dispute."""
    return said(Status.BREACHED, percent, under=terms(dispute_days=days), **changes)


def record(
    events: Iterable[LedgerEvent], drafts: Iterable[EventDraft], now: datetime = NOW, by: LedgerSettings = SETTINGS
) -> list[LedgerEvent]:
    """The ledger with the drafts as its next events."""
    recorded = list(events)
    for draft in drafts:
        recorded.append(record_event(draft, by, recorded[-1] if recorded else None, now.isoformat()))
    return recorded


def extend(
    ledger: Iterable[LedgerEvent], evaluation: Evaluated, now: datetime = NOW, settings: LedgerSettings = SETTINGS
) -> list[LedgerEvent]:
    """The ledger with the events that the evaluation adds at `now`."""
    events = list(ledger)
    settlement = fold(event for event in events if event.subject == evaluation.subject)
    return record(events, draft_events(settlement, evaluation, now), now, settings)


def act(
    events: Sequence[LedgerEvent],
    decide: Callable[[Settlement], EventDraft],
    now: datetime = NOW,
    subject: str = SUBJECT,
) -> list[LedgerEvent]:
    """The ledger with what a person decides at `now`: after what the clock has done by then, before what it does at
    once. Nothing is added where the decision is refused."""
    before, after = act_drafts(folded(events, subject), decide, now)
    return record(events, (*before, *after), now)


def act_drafts(
    settlement: Settlement, decide: Callable[[Settlement], EventDraft], now: datetime
) -> tuple[tuple[EventDraft, ...], tuple[EventDraft, ...]]:
    """What the clock has done by `now`, and the decision with what the clock does at once."""
    before = draft_clock(settlement, now)
    decided = decide(after_draft(before[-1]) if before else settlement)
    return before, (decided, *draft_clock(after_draft(decided), now))


def tick(events: Sequence[LedgerEvent], now: datetime, subject: str = SUBJECT) -> list[LedgerEvent]:
    """The ledger with what the passing of time alone adds to a settlement by `now`."""
    return record(events, draft_clock(folded(events, subject), now), now)


def folded(events: Iterable[LedgerEvent], subject: str = SUBJECT) -> Settlement:
    """The settlement of a subject that the ledger has."""
    settlement = fold(event for event in events if event.subject == subject)
    assert settlement is not None
    return settlement


def settlement(evaluation: Evaluated, now: datetime = NOW) -> Settlement:
    """The settlement that a first evaluation makes."""
    return after_draft(draft_events(None, evaluation, now)[-1])


def kinds(events: Sequence[LedgerEvent]) -> list[str]:
    """What happened: `evaluated`, `revised` and so on."""
    prefix, suffix = "com.citehouse.eval.window.", ".v1"
    assert all(event.type.startswith(prefix) and event.type.endswith(suffix) for event in events)
    return [event.type.removeprefix(prefix).removesuffix(suffix) for event in events]


def standing(events: Iterable[LedgerEvent], subject: str = SUBJECT) -> tuple[str, str, str, str]:
    """State, status, target and billable percent as they are now."""
    now = folded(events, subject)
    return now.state.value, now.status.value, now.target_percent, now.billable_percent


def data_of(event: LedgerEvent) -> dict[str, Any]:
    """The data that an event's body carries."""
    found: dict[str, Any] = json.loads(event.body)["data"]
    return found


def ledger(*goods: int, under: Terms | None = None) -> list[LedgerEvent]:
    """A ledger of one subject assessed again and again, an hour apart, with these counts of good out of 200."""
    events: list[LedgerEvent] = []
    for hours, good in enumerate(goods):
        events = extend(events, evaluated(good, under=under), NOW + timedelta(hours=hours))
    return events
