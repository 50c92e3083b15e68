"""What a person does to a settlement: disputes, their decisions and ends, and voids."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sla.acts import VOID_REASONS, draft_dispute, draft_upheld
from harness.sla.model import EventDraft, LedgerEvent, Status
from harness.sla.settlement import draft_events
from tests.sla.acting import Events, after, dispute, opened, reject, upheld, uphold, void, voided
from tests.sla.factories import NOW, act, breach, data_of, extend, folded, kinds, record, said, standing, terms, tick

DAY: Final = timedelta(days=1)
TICK: Final = timedelta(microseconds=1)
MET: Final = said(Status.MET, under=terms(dispute_days=30))


def changed(events: Sequence[LedgerEvent]) -> dict[str, Any]:
    """What the last event says that the one before did not, but for the revision."""
    before, last = (data_of(event) for event in events[-2:])
    assert before.keys() == last.keys()
    return {name: last[name] for name in last if last[name] != before[name] and name != "revision"}


def test_a_dispute_says_until_when_it_is_decided_and_nothing_else() -> None:
    events = dispute(opened(), 10)
    assert kinds(events) == ["evaluated", "disputed"]
    assert changed(events) == {
        "state": "disputed",
        "dispute": {
            "opens": "2026-11-30T02:30:00Z",
            "closes": "2026-12-30T02:30:00Z",
            "decide_by": "2027-01-09T02:30:00Z",
        },
    }


def test_a_dispute_in_the_middle_of_a_second_is_decided_no_earlier_than_its_days_allow() -> None:
    moment = NOW + TICK
    events = act(opened(), lambda stands: draft_dispute(stands, moment), moment)
    assert data_of(events[-1])["dispute"]["decide_by"] == "2026-12-30T02:30:01Z"
    assert tick(events, moment + 30 * DAY) == events


def test_an_upheld_dispute_has_its_target_and_a_clock_of_its_own() -> None:
    events = uphold(dispute(opened(), 10), 20, "12.5")
    assert kinds(events) == ["evaluated", "disputed", "resolved"]
    assert changed(events) == {
        "state": "open",
        "target_percent": "12.5",
        "tier": None,
        "reason": "dispute_upheld",
        "dispute": {"opens": "2026-12-20T02:30:00Z", "closes": "2027-01-19T02:30:00Z", "decide_by": None},
    }
    assert data_of(events[-1])["assessed_percent"] == "25"
    assert standing(tick(events, after(50) - TICK)) == ("open", "breached", "12.5", "0")
    assert standing(tick(events, after(50))) == ("final", "breached", "12.5", "12.5")


def test_an_upheld_dispute_may_leave_the_target_as_it_was() -> None:
    events = uphold(dispute(opened(), 10), 20, "25")
    assert changed(events).keys() == {"state", "reason", "dispute"}
    assert data_of(events[-1])["tier"]["credit_percent"] == "25"


def test_a_rejected_dispute_leaves_the_target_and_the_clock_as_they_were() -> None:
    before = opened()
    events = reject(dispute(before, 10), 20)
    assert kinds(events) == ["evaluated", "disputed", "resolved"]
    assert changed(events) == {
        "state": "open",
        "reason": "dispute_rejected",
        "dispute": data_of(before[0])["dispute"],
    }
    assert tick(events, after(30) - TICK) == events
    assert standing(tick(events, after(30))) == ("final", "breached", "25", "25")


def test_a_dispute_rejected_after_the_clock_had_run_out_is_final_at_once() -> None:
    events = reject(dispute(opened(), 10), 35)
    assert kinds(events) == ["evaluated", "disputed", "resolved", "finalized"]
    assert standing(events) == ("final", "breached", "25", "25")
    assert data_of(events[-1])["finalized_at"] == "2027-01-04T02:30:00Z"


def test_a_dispute_stops_the_clock_of_the_settlement_until_it_is_decided() -> None:
    events = dispute(opened(), 29)
    assert tick(events, after(30)) == events
    assert tick(events, after(59) - TICK) == events


def test_an_undecided_dispute_ends_after_its_days_without_a_reason_code() -> None:
    events = tick(dispute(opened(), 10), after(40))
    assert kinds(events) == ["evaluated", "disputed", "resolved", "finalized"]
    assert [data_of(event)["reason"] for event in events] == [None] * 4
    assert [data_of(event)["dispute"]["decide_by"] for event in events[2:]] == [None, None]
    assert standing(events) == ("final", "breached", "25", "25")


def test_the_end_of_a_dispute_does_not_repeat_the_reason_of_a_rescore_within_it() -> None:
    events = tick(extend(dispute(opened(), 10), breach("10", reason="gold_corrected"), after(20)), after(40))
    assert kinds(events) == ["evaluated", "disputed", "revised", "resolved"]
    assert [data_of(event)["reason"] for event in events[2:]] == ["gold_corrected", None]


def test_an_undecided_dispute_over_an_upheld_target_ends_with_the_assessed_one() -> None:
    events = dispute(uphold(dispute(opened(), 1), 2, "50"), 3)
    assert standing(events) == ("disputed", "breached", "50", "0")
    assert standing(tick(events, after(33))) == ("final", "breached", "25", "25")


def test_an_undecided_dispute_never_ends_below_what_is_billable() -> None:
    events = extend(tick(opened("25"), after(30)), breach("100"), after(31))
    events = extend(dispute(events, 32), breach("10"), after(33))
    assert standing(events) == ("disputed", "breached", "25", "25")
    assert data_of(events[-1])["assessed_percent"] == "10"
    assert standing(tick(events, after(62))) == ("open", "breached", "25", "25")
    assert standing(tick(events, after(63))) == ("final", "breached", "25", "25")


def test_a_revision_of_what_is_disputed_stays_disputed_until_the_same_moment() -> None:
    events = extend(dispute(opened(), 10), breach("10"), after(20))
    assert kinds(events) == ["evaluated", "disputed", "revised"]
    assert standing(events) == ("disputed", "breached", "10", "0")
    assert data_of(events[-1])["dispute"] == {
        "opens": "2026-12-20T02:30:00Z",
        "closes": "2027-01-19T02:30:00Z",
        "decide_by": "2027-01-09T02:30:00Z",
    }
    assert tick(events, after(40) - TICK) == events
    assert standing(tick(events, after(40))) == ("open", "breached", "10", "0")
    assert standing(tick(events, after(50))) == ("final", "breached", "10", "10")


def test_a_dispute_may_follow_a_rejected_one_while_the_clock_runs() -> None:
    events = dispute(reject(dispute(opened(), 1), 2), 3)
    assert data_of(events[-1])["dispute"]["decide_by"] == "2027-01-02T02:30:00Z"


@pytest.mark.parametrize("reason", VOID_REASONS)
def test_a_void_takes_the_credit_off_and_may_be_disputed(reason: str) -> None:
    events = void(opened(), 10, reason)
    assert kinds(events) == ["evaluated", "revised"]
    assert changed(events) == {
        "target_percent": "0",
        "tier": None,
        "reason": reason,
        "dispute": {"opens": "2026-12-10T02:30:00Z", "closes": "2027-01-09T02:30:00Z", "decide_by": None},
    }
    assert standing(tick(events, after(40))) == ("final", "breached", "0", "0")
    assert standing(dispute(events, 11))[0] == "disputed"


def test_a_void_after_a_rise_leaves_what_is_billable() -> None:
    events = void(extend(tick(opened("10"), after(30)), breach("100"), after(31)), 32)
    assert standing(events) == ("open", "breached", "10", "10")
    assert standing(tick(events, after(62))) == ("final", "breached", "10", "10")


@pytest.mark.parametrize("decided", [voided, upheld])
@pytest.mark.parametrize("again", [breach("25"), breach("25.0")])
@pytest.mark.parametrize("days", [2, 40])
def test_what_a_person_decided_is_not_undone_by_assessing_the_same(
    decided: Callable[[], Events], again: Any, days: int
) -> None:
    events = tick(decided(), after(days))
    assert extend(events, again, after(days)) == events


@pytest.mark.parametrize("decided", [voided, upheld])
@pytest.mark.parametrize(("says", "percent"), [(breach("10"), "10"), (breach("100"), "100"), (MET, "0")])
def test_what_a_person_decided_gives_way_to_an_assessment_that_says_something_new(
    decided: Callable[[], Events], says: Any, percent: str
) -> None:
    events = extend(decided(), says, after(2))
    assert kinds(events)[-1] == "revised"
    assert standing(events) == ("open", str(says.assessment.status), percent, "0")
    assert extend(events, says, after(3)) == events


def test_a_status_that_turns_and_turns_back_is_something_new() -> None:
    events = extend(extend(voided(), MET, after(2)), breach("25"), after(3))
    assert standing(events) == ("open", "breached", "25", "0")


@given(percent=st.integers(0, 10000).map(lambda hundredths: f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")))
def test_any_percent_in_its_shortest_form_can_be_upheld(percent: str) -> None:
    disputed = folded(dispute(opened(), 1))
    assert draft_upheld(disputed, percent, after(2)).data["target_percent"] == percent


def test_the_clock_comes_before_an_act_that_comes_late() -> None:
    """A dispute that ran out while nobody looked is resolved first: only then is the settlement judged."""
    events = dispute(opened(), 1)
    extended = extend(events, breach("10"), after(20))
    assert kinds(dispute(extended, 40)) == ["evaluated", "disputed", "revised", "resolved", "disputed"]


def test_the_assessed_target_that_a_dispute_ends_with_is_the_one_assessed_last() -> None:
    """sla.md: a dispute not decided within `dispute_days` ends with the assessed target."""
    events = uphold(dispute(opened("10"), 1), 2, "25")
    events = extend(events, breach("25"), after(3))
    events = tick(dispute(events, 4), after(34))
    assert standing(events) == ("final", "breached", "25", "25")


def test_an_assessment_of_what_was_upheld_before_is_told_and_starts_no_clock() -> None:
    before = uphold(dispute(opened("10"), 1), 2, "25")
    events = extend(before, breach("25"), after(3))
    assert kinds(events)[-1] == "revised"
    assert changed(events) == {
        "assessed_percent": "25",
        "tier": {"below": "0.95", "at_least": "0", "credit_percent": "25"},
        "reason": None,
    }
    assert extend(events, breach("25.0"), after(4)) == events
    assert standing(extend(events, breach("10"), after(4))) == ("open", "breached", "10", "0")


def test_a_target_that_the_clock_brings_back_has_no_tier() -> None:
    """A tier is told by the assessment that picked it, and stays as long as its credit does."""
    events = tick(dispute(voided(1), 2), after(32))
    assert standing(events) == ("final", "breached", "25", "25")
    assert data_of(events[-1])["tier"] is None


def of_old() -> Events:
    """A ledger from before acts by hand: its event states no assessed percent and no time to decide by."""
    (first,) = draft_events(None, breach("25"), NOW)
    data = {name: value for name, value in first.data.items() if name != "assessed_percent"}
    data["dispute"] = {name: data["dispute"][name] for name in ("opens", "closes")}
    old = EventDraft(subject=first.subject, revision=1, type=first.type, time=first.time, data=data)
    return record([], [old])


def test_an_event_from_before_acts_by_hand_folds_disputes_and_is_final() -> None:
    events = of_old()
    assert folded(events).assessed_percent == "25"
    assert kinds(tick(events, after(30))) == ["evaluated", "finalized"]
    assert standing(tick(dispute(events, 1), after(31))) == ("final", "breached", "25", "25")
    assert extend(events, breach("25"), after(1)) == events


def test_a_void_of_an_event_from_before_acts_by_hand_is_not_undone_by_assessing_the_same() -> None:
    events = void(of_old(), 1)
    assert extend(events, breach("25"), after(2)) == events
