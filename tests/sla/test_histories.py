"""The laws of sla.md over random histories of two settlements in one ledger: assessed, disputed, decided, voided."""

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.sla.acts import VOID_REASONS, draft_dispute, draft_rejected, draft_upheld, draft_void
from harness.sla.evaluation import Evaluated
from harness.sla.ledger import find_broken_link
from harness.sla.model import EventDraft, LedgerEvent, Settlement, Status
from harness.sla.settlement import after_draft, clock_of, draft_clock, draft_events, fold, utc_seconds
from harness.sla.windows import night_window
from tests.sla.factories import NIGHT, NOW, act_drafts, data_of, kinds, record, said, terms
from tests.sla.retold import Life, Refused

WINDOWS: Final = (night_window(NIGHT), night_window(NIGHT + timedelta(days=1)))
SUBJECTS: Final = tuple(f"slf_asme_citation_correctness_{window.label}" for window in WINDOWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happens; `place` chooses the settlement, `percent` is the target of what needs one."""

    action: str
    place: int
    percent: str


WAITS: Final = {
    "a moment": timedelta(microseconds=1),
    "almost a second": timedelta(microseconds=999_999),
    "a second": timedelta(seconds=1),
    "hours": timedelta(hours=7),
    "a day": timedelta(days=1),
    "a month": timedelta(days=31),
}
ASSESSED: Final = {
    "breached": Status.BREACHED,
    "met": Status.MET,
    "not run": Status.NOT_RUN,
    "insufficient": Status.INSUFFICIENT_DATA,
}
ACTIONS: Final = (
    *("breached", "breached", "breached", "met", "not run", "insufficient", "rise", "rise", "again"),
    *("dispute", "dispute", "dispute", "uphold", "uphold", "reject", "void", "void"),
    *("run out", "run out", "look around a clock", "emit", *WAITS),
)
STEPS: Final = st.lists(
    st.builds(
        Step,
        action=st.sampled_from(ACTIONS),
        place=st.integers(0, 7),
        percent=st.sampled_from(["0", "0.0", "1", "2", "2.0", "5", "10", "10.0", "12.5", "25", "100"]),
    ),
    min_size=20,
    max_size=50,
)

ALLOWED: Final = {
    ("evaluated", None, "open"),
    ("revised", "open", "open"),
    ("revised", "disputed", "disputed"),
    ("revised", "final", "final"),
    ("revised", "final", "open"),
    ("disputed", "open", "disputed"),
    ("resolved", "disputed", "open"),
    ("finalized", "open", "final"),
}
"""Kind of event, state before, state after: every transition that sla.md has."""


@dataclass(kw_only=True)
class History:
    """Two settlements, their lives retold beside them, and a time that only moves on."""

    days: int
    now: datetime = NOW
    events: list[LedgerEvent] = field(default_factory=list)
    running: dict[str, Settlement] = field(default_factory=dict)
    lives: dict[str, Life] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        match step.action:
            case action if action in ASSESSED:
                self.assess(SUBJECTS[step.place % 2], ASSESSED[action], step.percent)
            case action if action in WAITS:
                self.now += WAITS[action]
            case _ if not self.running:
                pass
            case "rise":
                subject = self.likely(step, "final")
                risen = Decimal(self.running[subject].target_percent) + Decimal(step.percent)
                self.assess(subject, Status.BREACHED, str(min(risen, Decimal(100))))
            case "again":
                self.assess_again(self.likely(step, "open"))
            case "emit":
                self.emit()
            case "run out":
                self.now = max(self.now, self.clock(self.likely(step, "disputed")))
                self.emit()
            case "look around a clock":
                off = timedelta(microseconds=step.place % 3 - 1)
                self.now = max(self.now, self.clock(self.likely(step, "open")) + off)
            case _:
                self.act(step)

    def act(self, step: Step) -> None:
        subject = self.likely(step, "disputed" if step.action in ("uphold", "reject") else "open")
        percent = step.percent.removesuffix(".0")
        match step.action:
            case "dispute":
                self.decide(
                    subject, lambda life: life.dispute(self.now), lambda stands: draft_dispute(stands, self.now)
                )
            case "uphold":
                self.decide(
                    subject,
                    lambda life: life.uphold(Fraction(percent), self.now),
                    lambda stands: draft_upheld(stands, percent, self.now),
                )
            case "reject":
                self.decide(subject, lambda life: life.reject(self.now), draft_rejected)
            case "void":
                reason = VOID_REASONS[step.place % 2]
                self.decide(
                    subject, lambda life: life.void(self.now), lambda stands: draft_void(stands, reason, self.now)
                )
            case unknown:
                raise AssertionError(unknown)

    def likely(self, step: Step, state: str) -> str:
        """A subject, mostly one in that state: an act that is refused teaches less than one that is done."""
        fitting = [subject for subject, settlement in self.running.items() if settlement.state == state]
        among = fitting if fitting and step.place < 7 else list(self.running)
        return among[step.place % len(among)]

    def clock(self, subject: str) -> datetime:
        return datetime.fromisoformat(clock_of(self.running[subject].data))

    def assess(self, subject: str, status: Status, percent: str) -> None:
        evaluation = self.evaluation(subject, status, percent)
        life = self.lives.setdefault(subject, Life(days=self.days))
        life.assess(status.value, Fraction(evaluation.assessment.target_percent), self.now)
        self.write(draft_events(self.running.get(subject), evaluation, self.now))
        assert draft_events(self.running[subject], evaluation, self.now) == ()

    def assess_again(self, subject: str) -> None:
        """Saying what the last assessment of a settlement said adds nothing that the clock does not."""
        stands = self.running[subject]
        self.lives[subject].pass_time(self.now)
        drafts = draft_events(stands, self.evaluation(subject, stands.status, stands.assessed_percent), self.now)
        assert drafts == draft_clock(stands, self.now)
        self.write(drafts)

    def evaluation(self, subject: str, status: Status, percent: str) -> Evaluated:
        window = WINDOWS[SUBJECTS.index(subject)]
        return said(status, percent, under=terms(dispute_days=self.days), window=window)

    def emit(self) -> None:
        for subject, settlement in list(self.running.items()):
            self.lives[subject].pass_time(self.now)
            drafts = draft_clock(settlement, self.now)
            assert bool(drafts) == (settlement.state != "final" and self.clock(subject) <= self.now)
            self.write(drafts)
            assert draft_clock(self.running[subject], self.now) == ()

    def decide(
        self, subject: str, retold: Callable[[Life], None], decision: Callable[[Settlement], EventDraft]
    ) -> None:
        """The act in both tellings: allowed in both, or refused in both and then without a trace."""
        life = deepcopy(self.lives[subject])
        try:
            retold(life)
        except Refused:
            with pytest.raises(UsageError):
                act_drafts(self.running[subject], decision, self.now)
            return
        self.lives[subject] = life
        before, after = act_drafts(self.running[subject], decision, self.now)
        self.write((*before, *after))

    def write(self, drafts: Sequence[EventDraft]) -> None:
        """Record events one by one, each held against the settlement before it."""
        for draft in drafts:
            before = self.running.get(draft.subject)
            after = after_draft(draft)
            self.events = record(self.events, [draft], self.now)
            check_step(kinds(self.events[-1:])[0], before, after, self.now)
            self.running[draft.subject] = after

    def check(self) -> None:
        """Both tellings agree."""
        for subject, settlement in self.running.items():
            life, data = self.lives[subject], settlement.data
            assert (settlement.state, settlement.status) == (life.state, life.status)
            assert Fraction(settlement.target_percent) == life.target
            assert Fraction(settlement.assessed_percent) == life.assessed
            assert Fraction(settlement.billable_percent) == life.billable
            assert data["dispute"]["closes"] == (life.closes and utc_seconds(life.closes))
            assert data["dispute"]["decide_by"] == (life.decide_by and utc_seconds(life.decide_by))
            assert data["finalized_at"] == (life.finalized and utc_seconds(life.finalized))


def check_step(kind: str, before: Settlement | None, after: Settlement, now: datetime) -> None:
    """What holds of every event, whatever brought it about."""
    assert (kind, None if before is None else before.state.value, after.state.value) in ALLOWED
    assert 0 <= Fraction(after.billable_percent) <= Fraction(after.target_percent) <= 100
    if before is None:
        assert (after.revision, after.billable_percent, after.data["finalized_at"]) == (1, "0", None)
        return
    assert after.revision == before.revision + 1
    moved = Fraction(after.target_percent) - Fraction(before.target_percent)
    if after.state == before.state and after.status == before.status and not moved:
        assert (kind, after.state == "final") == ("revised", False)
        assert Fraction(after.assessed_percent) != Fraction(before.assessed_percent)
        assert after.data["dispute"] == before.data["dispute"]
    assert Fraction(after.billable_percent) >= Fraction(before.billable_percent)
    if before.state == "final":
        assert (after.state == "open") == (moved > 0)
        assert moved >= 0
    if kind == "finalized":
        assert after.billable_percent == after.target_percent == before.target_percent
        assert after.data["finalized_at"] == utc_seconds(now)
        assert now >= datetime.fromisoformat(before.data["dispute"]["closes"])
    else:
        assert after.billable_percent == before.billable_percent
        assert after.data["finalized_at"] == before.data["finalized_at"]
    if after.state == "disputed":
        assert after.data["dispute"]["decide_by"] is not None
        if before.state == "disputed":
            assert after.data["dispute"]["decide_by"] == before.data["dispute"]["decide_by"]
    else:
        assert after.data["dispute"]["decide_by"] is None
    if kind == "resolved" and after.data["reason"] is None:
        assert Fraction(after.target_percent) == max(
            Fraction(before.assessed_percent), Fraction(before.billable_percent)
        )
    if after.data["tier"] is not None:
        assert Fraction(after.data["tier"]["credit_percent"]) == Fraction(after.target_percent)


@settings(max_examples=250)
@given(steps=STEPS, days=st.sampled_from([0, 1, 30, 30, 30]))
def test_any_history_keeps_the_laws_and_comes_to_what_the_plain_rules_say(steps: list[Step], days: int) -> None:
    history = History(days=days)
    for step in steps:
        history.take(step)
        history.check()
    assert find_broken_link(history.events) is None
    for subject, settlement in history.running.items():
        own = [event for event in history.events if event.subject == subject]
        assert fold(own) == settlement
        assert kinds(own) == history.lives[subject].told
        assert [event.revision for event in own] == list(range(1, len(own) + 1))
    for event in history.events:
        body = json.loads(event.body)
        assert event.body == json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert (data_of(event)["subject"], data_of(event)["revision"]) == (event.subject, event.revision)
