"""The laws of sla.md over random histories of two settlements in one ledger: assessed, disputed, decided, voided."""

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

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

STATUSES: Final = st.sampled_from([Status.BREACHED] * 5 + [Status.MET, Status.NOT_RUN, Status.INSUFFICIENT_DATA])
CREDITS: Final = st.sampled_from(["0", "0.0", "1", "2", "2.0", "5", "10", "10.0", "25", "100"])
UPHELD: Final = st.sampled_from(["0", "1", "2", "5", "10", "12.5", "25", "100"])
WHICH: Final = st.sampled_from(SUBJECTS)
WAITS: Final = st.sampled_from(
    [
        timedelta(microseconds=1),
        timedelta(microseconds=999_999),
        timedelta(seconds=1),
        timedelta(hours=7),
        timedelta(days=1),
        timedelta(days=31),
    ]
)
RISES: Final = st.sampled_from(["1", "2", "5", "10", "50"])

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


class Histories(RuleBasedStateMachine):
    """Two settlements, their lives retold beside them, and a clock that only moves on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.days = 0
        self.events: list[LedgerEvent] = []
        self.running: dict[str, Settlement] = {}
        self.lives: dict[str, Life] = {}
        self.checked = 0

    @initialize(days=st.sampled_from([0, 1, 30, 30]))
    def begin(self, days: int) -> None:
        self.days = days
        self.lives = {subject: Life(days=days) for subject in SUBJECTS}

    @rule(subject=WHICH, status=STATUSES, percent=CREDITS)
    def assess(self, subject: str, status: Status, percent: str) -> None:
        evaluation = self.evaluation(subject, status, percent)
        self.lives[subject].assess(status.value, Fraction(evaluation.assessment.target_percent), self.now)
        self.write(draft_events(self.running.get(subject), evaluation, self.now))
        assert draft_events(self.running[subject], evaluation, self.now) == ()

    @precondition(lambda self: self.running)
    @rule(data=st.data(), by=RISES)
    def assess_a_rise(self, data: st.DataObject, by: str) -> None:
        """More than the target that stands, so that what is final opens again, as long as there is more."""
        subject = self.likely(data, "final")
        risen = min(Decimal(100), Decimal(self.running[subject].target_percent) + Decimal(by))
        self.assess(subject, Status.BREACHED, str(risen))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def assess_again(self, data: st.DataObject) -> None:
        """Saying what the last assessment of a settlement said adds nothing that the clock does not."""
        subject = data.draw(st.sampled_from(sorted(self.running)))
        stands, life = self.running[subject], self.lives[subject]
        evaluation = self.evaluation(subject, stands.status, stands.assessed_percent)
        life.pass_time(self.now)
        drafts = draft_events(stands, evaluation, self.now)
        assert drafts == draft_clock(stands, self.now)
        self.write(drafts)

    @rule(wait=WAITS)
    def wait(self, wait: timedelta) -> None:
        self.now += wait

    @precondition(lambda self: self.running)
    @rule(data=st.data(), off=st.sampled_from([-1, 0, 1]))
    def wait_for_a_clock(self, data: st.DataObject, off: int) -> None:
        settlement = self.running[data.draw(st.sampled_from(sorted(self.running)))]
        moment = datetime.fromisoformat(clock_of(settlement.data)) + timedelta(microseconds=off)
        self.now = max(self.now, moment)

    @precondition(lambda self: self.running)
    @rule()
    def emit(self) -> None:
        for subject, settlement in list(self.running.items()):
            self.lives[subject].pass_time(self.now)
            drafts = draft_clock(settlement, self.now)
            alive = settlement.state != "final"
            assert bool(drafts) == (alive and datetime.fromisoformat(clock_of(settlement.data)) <= self.now)
            self.write(drafts)
            assert draft_clock(self.running[subject], self.now) == ()

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def let_a_clock_run_out(self, data: st.DataObject) -> None:
        self.wait_for_a_clock(data, 0)
        self.emit()

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def dispute(self, data: st.DataObject) -> None:
        subject = self.likely(data, "open")
        self.decide(subject, lambda life: life.dispute(self.now), lambda stands: draft_dispute(stands, self.now))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), percent=UPHELD)
    def uphold(self, data: st.DataObject, percent: str) -> None:
        self.decide(
            self.likely(data, "disputed"),
            lambda life: life.uphold(Fraction(percent), self.now),
            lambda stands: draft_upheld(stands, percent, self.now),
        )

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        self.decide(self.likely(data, "disputed"), lambda life: life.reject(self.now), draft_rejected)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), reason=st.sampled_from(VOID_REASONS))
    def void(self, data: st.DataObject, reason: Any) -> None:
        subject = self.likely(data, "open")
        self.decide(subject, lambda life: life.void(self.now), lambda stands: draft_void(stands, reason, self.now))

    def likely(self, data: st.DataObject, state: str) -> str:
        """A subject, more often one in that state: an act that is refused teaches less than one that is done."""
        fitting = [subject for subject, settlement in self.running.items() if settlement.state == state]
        return data.draw(st.sampled_from(fitting * 4 + list(self.running)))

    def evaluation(self, subject: str, status: Status, percent: str) -> Evaluated:
        window = WINDOWS[SUBJECTS.index(subject)]
        return said(status, percent, under=terms(dispute_days=self.days), window=window)

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

    @invariant()
    def both_tellings_agree(self) -> None:
        for subject, settlement in self.running.items():
            life, data = self.lives[subject], settlement.data
            assert kinds([event for event in self.events if event.subject == subject]) == life.told
            assert (settlement.state, settlement.status) == (life.state, life.status)
            assert Fraction(settlement.target_percent) == life.target
            assert Fraction(settlement.assessed_percent) == life.assessed
            assert Fraction(settlement.billable_percent) == life.billable
            assert data["dispute"]["closes"] == (life.closes and utc_seconds(life.closes))
            assert data["dispute"]["decide_by"] == (life.decide_by and utc_seconds(life.decide_by))
            assert data["finalized_at"] == (life.finalized and utc_seconds(life.finalized))

    @invariant()
    def the_events_alone_tell_it(self) -> None:
        if len(self.events) == self.checked:
            return
        self.checked = len(self.events)
        for subject, settlement in self.running.items():
            assert fold(event for event in self.events if event.subject == subject) == settlement

    def teardown(self) -> None:
        assert find_broken_link(self.events) is None
        for event in self.events:
            body = json.loads(event.body)
            assert event.body == json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            assert (data_of(event)["subject"], data_of(event)["revision"]) == (event.subject, event.revision)


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


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=150, stateful_step_count=40)
