"""A settlement's life as a pure fold of its events (sla.md, Settlements).

open → final when the dispute clock has run out; open ↔ disputed; final → open only where the target rises.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from harness.sla.assess import NO_CREDIT
from harness.sla.evaluation import Evaluated, coverage, measured, outcome_counts
from harness.sla.model import Assessment, EventDraft, LedgerEvent, Settlement, State, Status

EVALUATED: Final = "window.evaluated.v1"
REVISED: Final = "window.revised.v1"
DISPUTED: Final = "window.disputed.v1"
RESOLVED: Final = "window.resolved.v1"
FINALIZED: Final = "window.finalized.v1"


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
    return settlement_of(event.subject, event.revision, json.loads(event.body)["data"])


def settlement_of(subject: str, revision: int, data: Mapping[str, Any]) -> Settlement:
    """The settlement that an event's data states."""
    return Settlement(
        subject=subject,
        revision=revision,
        state=State(data["state"]),
        status=Status(data["status"]),
        target_percent=data["target_percent"],
        assessed_percent=data.get("assessed_percent", data["target_percent"]),  # events before acts by hand lack it
        billable_percent=data["billable_percent"],
        data=data,
    )


def after_draft(draft: EventDraft) -> Settlement:
    """The settlement as an event will leave it."""
    return settlement_of(draft.subject, draft.revision, draft.data)


def draft_events(previous: Settlement | None, evaluated: Evaluated, now: datetime) -> tuple[EventDraft, ...]:
    """The events that an assessment adds at `now`: none where it says what the last one said.

    A final target never falls: where an assessment would lower it, it stays as it is, final, and only a change of
    status is told. Where it rises the settlement opens again, what was final stays billable, and no later target goes
    below that. A dispute goes on over the new target. A clock that has run out by `now` is told first: the days make
    it so, not the moment that it is written.
    """
    if previous is None:
        opened = _first(evaluated, now)
        return (opened, *draft_clock(after_draft(opened), now))
    closed = draft_clock(previous, now)
    current = after_draft(closed[-1]) if closed else previous
    revised = _revised(current, evaluated, now)
    return closed if revised is None else (*closed, revised, *draft_clock(after_draft(revised), now))


def is_news(previous: Settlement, assessment: Assessment) -> bool:
    """Whether an assessment says anything that a settlement does not: another status, another target that stands, or,
    before it is final, another assessed target, which is what an undecided dispute ends with."""
    target = assessment.target_percent
    if assessment.status is not previous.status:
        return True
    if previous.state is State.FINAL:
        return not _at_least(previous.target_percent, target) and not _same(target, previous.assessed_percent)
    least = Fraction(previous.billable_percent)
    return max(Fraction(target), least) != max(Fraction(previous.assessed_percent), least)


def draft_clock(settlement: Settlement, now: datetime) -> tuple[EventDraft, ...]:
    """What the passing of time alone adds by `now`: the end of a dispute that was not decided, with the assessed target
    and no reason code, and the final event of an open settlement whose dispute clock has run out."""
    drafts = list[EventDraft]()
    if settlement.state is State.DISPUTED and now >= _moment(settlement.data["dispute"]["decide_by"]):
        ended = {"state": State.OPEN, "reason": None, "dispute": _undisputed(settlement)}
        drafts.append(draft_next(settlement, RESOLVED, ended | with_target(settlement, settlement.assessed_percent)))
        settlement = after_draft(drafts[-1])
    if settlement.state is State.OPEN and now >= _moment(settlement.data["dispute"]["closes"]):
        if not _at_least(settlement.target_percent, settlement.billable_percent):
            raise ValueError(f"{settlement.subject}: finalizing would lower what is billable")
        final = {
            "state": State.FINAL,
            "billable_percent": settlement.target_percent,
            "finalized_at": utc_seconds(now),
        }
        drafts.append(draft_next(settlement, FINALIZED, final))
    return tuple(drafts)


def clock_of(data: Mapping[str, Any]) -> str:
    """When time alone moves the settlement next, if it is not final: UTC text as events print it."""
    text: str = data["dispute"].get("decide_by") or data["dispute"]["closes"]
    return text


def draft_next(settlement: Settlement, kind: str, changes: Mapping[str, Any]) -> EventDraft:
    """The settlement's next event of that type, saying what it said but for the changes."""
    revision = settlement.revision + 1
    return EventDraft(
        subject=settlement.subject,
        revision=revision,
        type=kind,
        time=settlement.data["window"]["end"],
        data={
            **settlement.data,
            "revision": revision,
            "assessed_percent": settlement.assessed_percent,
            **changes,
        },
    )


def with_target(settlement: Settlement, target: str) -> dict[str, Any]:
    """A new target that is never below what is billable, with the tier that it is the credit of, if any."""
    held = target if _at_least(target, settlement.billable_percent) else settlement.billable_percent
    tier = settlement.data["tier"]
    fits = tier is not None and Fraction(tier["credit_percent"]) == Fraction(held)
    return {"target_percent": held, "tier": tier if fits else None}


def new_clock(now: datetime, days: int) -> dict[str, Any]:
    """A dispute clock that starts at `now`. It is rounded up to whole seconds, so that it never runs out early; one of
    no days has run out at once."""
    opens = now.replace(microsecond=0)
    if days and opens != now:
        opens += timedelta(seconds=1)
    return {"opens": utc_seconds(opens), "closes": utc_seconds(opens + timedelta(days=days)), "decide_by": None}


def dispute_days(settlement: Settlement) -> int:
    """The contract's days to dispute, and to decide a dispute: what the clock was set to."""
    dispute = settlement.data["dispute"]
    return (_moment(dispute["closes"]) - _moment(dispute["opens"])).days


def utc_seconds(moment: datetime) -> str:
    """A time as events print it: RFC 3339, UTC, `Z`, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _first(evaluated: Evaluated, now: datetime) -> EventDraft:
    data = _data(evaluated, 1) | {"reason": None}  # nothing was revised, whichever run or scoring came first
    return EventDraft(
        subject=evaluated.subject,
        revision=1,
        type=EVALUATED,
        time=data["window"]["end"],
        data=_ordered(
            data
            | {
                "state": State.OPEN,
                "target_percent": evaluated.assessment.target_percent,
                "billable_percent": NO_CREDIT,
                "tier": _tier(evaluated),
                "dispute": new_clock(now, evaluated.terms.dispute_days),
                "finalized_at": None,
            }
        ),
    )


def _revised(previous: Settlement, evaluated: Evaluated, now: datetime) -> EventDraft | None:
    """What a later assessment says anew; None where it says nothing new."""
    assessment = evaluated.assessment
    if not is_news(previous, assessment):
        return None
    life = {name: previous.data[name] for name in ("state", "billable_percent", "dispute", "finalized_at")}
    if previous.state is State.FINAL and _at_least(previous.target_percent, assessment.target_percent):
        life |= {"target_percent": previous.target_percent, "tier": previous.data["tier"]}
    else:
        clock = new_clock(now, evaluated.terms.dispute_days)
        if previous.state is State.DISPUTED:
            clock["decide_by"] = previous.data["dispute"]["decide_by"]
        else:
            life["state"] = State.OPEN
        life["dispute"] = clock
        if _at_least(assessment.target_percent, previous.billable_percent):
            life |= {"target_percent": assessment.target_percent, "tier": _tier(evaluated)}
        else:
            life |= with_target(previous, previous.billable_percent)
        if assessment.status is previous.status and _same(life["target_percent"], previous.target_percent):
            life["dispute"] = previous.data["dispute"]  # nothing new to dispute
    data = _data(evaluated, previous.revision + 1) | life
    return EventDraft(
        subject=previous.subject,
        revision=data["revision"],
        type=REVISED,
        time=data["window"]["end"],
        data=_ordered(data),
    )


def _data(evaluated: Evaluated, revision: int) -> dict[str, Any]:
    """What an assessment states, apart from where its settlement stands in its life."""
    assessment, terms, window = evaluated.assessment, evaluated.terms, evaluated.window
    floor = assessment.floor
    return {
        "subject": evaluated.subject,
        "revision": revision,
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
        "measured": measured(evaluated),
        "outcomes": outcome_counts(assessment.counted.outcomes),
        "coverage": coverage(evaluated),
        "assessed_percent": assessment.target_percent,
        "reason": evaluated.reason,
        "evidence": evaluated.evidence.wire(),
        "warnings": [*assessment.reasons, *evaluated.warnings],
        "claim": None if evaluated.claim is None else dict(evaluated.claim),
    }


_ORDER: Final = (
    *("subject", "revision", "state", "status", "society", "terms_version", "terms_sha256", "objective", "window"),
    *("measured", "outcomes", "coverage", "target_percent", "assessed_percent", "billable_percent", "tier", "reason"),
    *("dispute", "finalized_at", "evidence", "warnings", "claim"),
)


def _ordered(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in _ORDER}


def _tier(evaluated: Evaluated) -> dict[str, str] | None:
    tier = evaluated.assessment.tier
    return None if tier is None else {name: getattr(tier, name) for name in ("below", "at_least", "credit_percent")}


def _undisputed(settlement: Settlement) -> dict[str, Any]:
    return {**settlement.data["dispute"], "decide_by": None}


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _same(one: str, other: str) -> bool:
    return Fraction(one) == Fraction(other)


def _at_least(one: str, other: str) -> bool:
    return Fraction(one) >= Fraction(other)
