"""The life of a settlement: what an assessment changes of it, what the passing of time does, and when."""

from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from harness.sla.acts import draft_dispute
from harness.sla.model import LedgerEvent, Status
from harness.sla.settlement import (
    after_draft,
    clock_of,
    draft_clock,
    draft_events,
    fold,
    is_news,
    settlement_after,
    utc_seconds,
)
from tests.sla.factories import (
    NOW,
    SUBJECT,
    act,
    breach,
    counted,
    data_of,
    evaluated,
    extend,
    folded,
    kinds,
    ledger,
    said,
    settlement,
    standing,
    terms,
    tick,
)

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
TICK = timedelta(microseconds=1)
LATER = timedelta(days=30)


@pytest.mark.parametrize(
    ("goods", "events", "end"),
    [
        ((190,), ["evaluated", "finalized"], ("final", "met", "0", "0")),
        ((189,), ["evaluated", "finalized"], ("final", "breached", "10", "10")),
        ((190, 190, 200), ["evaluated", "finalized"], ("final", "met", "0", "0")),
        (
            (189, 179),
            ["evaluated", "finalized", "revised", "finalized"],
            ("final", "breached", "25", "25"),
        ),
        ((179, 189), ["evaluated", "finalized"], ("final", "breached", "25", "25")),
        ((179, 190), ["evaluated", "finalized", "revised"], ("final", "met", "25", "25")),
        (
            (179, 190, 0),
            ["evaluated", "finalized", "revised", "revised", "finalized"],
            ("final", "breached", "100", "100"),
        ),
    ],
)
def test_without_a_time_to_dispute(goods: tuple[int, ...], events: list[str], end: tuple[str, ...]) -> None:
    written = ledger(*goods)
    assert (kinds(written), standing(written)) == (events, end)


@pytest.mark.parametrize(
    ("goods", "events", "end"),
    [
        ((189,), ["evaluated"], ("open", "breached", "10", "0")),
        ((189, 189, 188), ["evaluated"], ("open", "breached", "10", "0")),
        ((189, 190), ["evaluated", "revised"], ("open", "met", "0", "0")),
        ((189, 179, 189), ["evaluated", "revised", "revised"], ("open", "breached", "10", "0")),
    ],
)
def test_before_it_is_final(goods: tuple[int, ...], events: list[str], end: tuple[str, ...]) -> None:
    written = ledger(*goods, under=terms(dispute_days=30))
    assert (kinds(written), standing(written)) == (events, end)


def test_a_status_that_turns_after_final_is_told_though_the_target_stays() -> None:
    events = extend(extend([], evaluated(counts=counted(40, 40))), evaluated(200), NOW + timedelta(hours=1))
    assert kinds(events) == ["evaluated", "finalized", "revised"]
    assert standing(events) == ("final", "met", "0", "0")
    assert data_of(events[2])["finalized_at"] == data_of(events[1])["finalized_at"]


def test_a_target_that_stays_keeps_its_tier_and_the_times_of_its_clock() -> None:
    first = ledger(179)
    data = data_of(extend(first, evaluated(190), NOW + timedelta(hours=1))[-1])
    assert (data["status"], data["measured"]["good"], data["target_percent"]) == ("met", 190, "25")
    assert {name: data[name] for name in ("tier", "dispute", "finalized_at")} == {
        "tier": {"below": "0.90", "at_least": "0.80", "credit_percent": "25"},
        "dispute": {"opens": "2026-11-30T02:30:00Z", "closes": "2026-11-30T02:30:00Z", "decide_by": None},
        "finalized_at": "2026-11-30T02:30:00Z",
    }


def test_a_rise_after_final_opens_again_and_what_was_final_stays_billable() -> None:
    _, final, opened, closed = ledger(189, 100)
    assert data_of(final)["billable_percent"] == "10"
    assert (data_of(opened)["state"], data_of(opened)["target_percent"]) == ("open", "100")
    assert (data_of(opened)["billable_percent"], data_of(opened)["finalized_at"]) == (
        "10",
        "2026-11-30T02:30:00Z",
    )
    assert (data_of(closed)["state"], data_of(closed)["billable_percent"]) == ("final", "100")


def test_what_was_final_stays_the_least_while_a_rise_is_open() -> None:
    under = terms(dispute_days=1)
    events: list[LedgerEvent] = []
    for hours, good in ((0, 189), (24, 100), (25, 190)):
        events = extend(events, evaluated(good, under=under), NOW + timedelta(hours=hours))
    assert kinds(events) == ["evaluated", "finalized", "revised", "revised"]
    assert standing(events) == ("open", "met", "10", "10")
    (final,) = draft_clock(folded(events), NOW + timedelta(hours=49))
    assert (final.data["target_percent"], final.data["billable_percent"]) == ("10", "10")


@pytest.mark.parametrize(
    ("seconds", "events", "end"),
    [
        (-1, ["evaluated", "revised"], ("open", "met", "0", "0")),
        (0, ["evaluated", "finalized", "revised"], ("final", "met", "25", "25")),
    ],
)
def test_a_clock_that_ran_out_is_final_before_an_assessment_that_comes_late(
    seconds: int, events: list[str], end: tuple[str, ...]
) -> None:
    under = terms(dispute_days=30)
    late = NOW + timedelta(days=30, seconds=seconds)
    written = extend(ledger(179, under=under), evaluated(190, under=under), late)
    assert (kinds(written), standing(written)) == (events, end)
    assert extend(written, evaluated(190, under=under), late) == written


def test_a_revision_says_its_code() -> None:
    events = extend(ledger(190), evaluated(189, reason="gold_corrected"), NOW + timedelta(hours=1))
    assert [data_of(event)["reason"] for event in events] == [None, None, "gold_corrected", "gold_corrected"]


def test_error_finalizing_would_take_a_credit_back() -> None:
    lowered = replace(settlement(breach("10")), billable_percent="25")
    with pytest.raises(ValueError) as caught:
        draft_clock(lowered, NOW + LATER)
    assert str(caught.value) == f"{SUBJECT}: finalizing would lower what is billable"


def test_what_is_final_is_not_finalized_again() -> None:
    assert draft_clock(folded(ledger(189)), NOW + timedelta(days=400)) == ()


def test_without_events_there_is_no_settlement() -> None:
    assert fold([]) is None


def test_error_a_revision_is_missing() -> None:
    first, _, third, _ = ledger(189, 179)
    with pytest.raises(ValueError) as caught:
        fold([first, third])
    assert str(caught.value) == f"{SUBJECT}: revision 3 stands where 2 is due"


def test_error_a_first_event_is_no_revision() -> None:
    _, second = ledger(189)
    with pytest.raises(ValueError) as caught:
        fold([second])
    assert str(caught.value) == f"{SUBJECT}: revision 2 stands where 1 is due"


def test_the_fold_is_the_last_event_and_needs_no_other() -> None:
    events = ledger(189, 179)
    for count in range(1, len(events) + 1):
        assert fold(events[:count]) == settlement_after(events[count - 1])


@pytest.mark.parametrize("evaluation", [breach("25"), said(Status.MET, under=terms(dispute_days=30))])
@pytest.mark.parametrize("late", [timedelta(0), TICK, SECOND - TICK])
def test_it_is_final_when_the_days_to_dispute_have_passed_and_never_before(evaluation: Any, late: timedelta) -> None:
    recorded_at = NOW + late
    written = extend([], evaluation, recorded_at)
    closes = NOW + LATER + (SECOND if late else timedelta(0))
    assert folded(written).data["dispute"]["closes"] == utc_seconds(closes)
    assert closes - recorded_at >= LATER
    assert kinds(tick(written, recorded_at + LATER - TICK)) == ["evaluated"]
    assert kinds(tick(written, closes - TICK)) == ["evaluated"]
    assert kinds(tick(written, closes)) == ["evaluated", "finalized"]
    assert data_of(tick(written, closes)[-1])["finalized_at"] == utc_seconds(closes)


def test_no_days_to_dispute_have_passed_at_once_in_whatever_part_of_a_second() -> None:
    for part in (timedelta(0), TICK, SECOND - TICK):
        events = extend([], breach("25", days=0), NOW + part)
        assert kinds(events) == ["evaluated", "finalized"]
        assert [data_of(event)["dispute"]["closes"] for event in events] == ["2026-11-30T02:30:00Z"] * 2


def test_times_are_utc_whatever_zone_the_clock_is_in() -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    (there,) = draft_events(None, breach("25"), NOW.astimezone(india))
    (here,) = draft_events(None, breach("25"), NOW)
    assert there == here
    assert draft_clock(after_draft(here), (NOW + LATER).astimezone(india)) == draft_clock(
        after_draft(here), NOW + LATER
    )


def test_a_late_look_finalizes_when_it_looks() -> None:
    (final,) = draft_clock(settlement(breach("25")), NOW + 40 * DAY)
    assert (final.data["finalized_at"], final.data["billable_percent"]) == ("2027-01-09T02:30:00Z", "25")


def test_every_revision_before_final_has_a_clock_of_its_own() -> None:
    events = extend(extend([], breach("25")), breach("10"), NOW + 29 * DAY)
    assert data_of(events[-1])["dispute"] == {
        "opens": "2026-12-29T02:30:00Z",
        "closes": "2027-01-28T02:30:00Z",
        "decide_by": None,
    }
    assert tick(events, NOW + 59 * DAY - TICK) == events
    assert standing(tick(events, NOW + 59 * DAY)) == ("final", "breached", "10", "10")


def test_a_reopened_settlement_keeps_its_last_finalization_until_it_is_final_again() -> None:
    events = tick(extend([], breach("10")), NOW + LATER)
    events = extend(events, breach("25"), NOW + 40 * DAY)
    events = extend(events, said(Status.MET, under=terms(dispute_days=30)), NOW + 41 * DAY)
    events = extend(events, breach("100"), NOW + 42 * DAY)
    events = act(events, lambda stands: draft_dispute(stands, NOW + 43 * DAY), NOW + 43 * DAY)
    assert kinds(events) == ["evaluated", "finalized", "revised", "revised", "revised", "disputed"]
    for event in events[1:]:
        data = data_of(event)
        assert (data["billable_percent"], data["finalized_at"]) == ("10", "2026-12-30T02:30:00Z")
    assert [data_of(event)["target_percent"] for event in events[2:]] == ["25", "10", "100", "100"]
    closed = tick(events, NOW + 73 * DAY)
    assert kinds(closed)[6:] == ["resolved", "finalized"]
    assert data_of(closed[-2])["finalized_at"] == "2026-12-30T02:30:00Z"
    assert (data_of(closed[-1])["billable_percent"], data_of(closed[-1])["finalized_at"]) == (
        "100",
        "2027-02-11T02:30:00Z",
    )


def test_what_is_held_at_the_billable_target_hears_nothing_of_lower_ones() -> None:
    events = extend(tick(extend([], breach("25")), NOW + LATER), breach("100"), NOW + 31 * DAY)
    held = extend(events, breach("10"), NOW + 32 * DAY)
    assert standing(held) == ("open", "breached", "25", "25")
    assert extend(held, breach("5"), NOW + 33 * DAY) == held
    assert extend(held, breach("25"), NOW + 33 * DAY) == held


def test_a_lower_assessment_after_final_changes_nothing_at_all() -> None:
    events = extend([], breach("25", days=0))
    assert extend(events, breach("10", days=0), NOW + HOUR) == events


def test_a_status_told_after_final_starts_no_clock_and_stays_final() -> None:
    events = tick(extend([], breach("25")), NOW + LATER)
    told = extend(events, said(Status.NOT_RUN, under=terms(dispute_days=30)), NOW + 31 * DAY)
    assert kinds(told) == ["evaluated", "finalized", "revised"]
    assert standing(told) == ("final", "not_run", "25", "25")
    assert data_of(told[-1])["dispute"] == data_of(events[-1])["dispute"]
    assert data_of(told[-1])["assessed_percent"] == "0"
    assert tick(told, NOW + 400 * DAY) == told


@pytest.mark.parametrize("days", [0, 30])
@pytest.mark.parametrize(
    ("one", "other"), [("0", "0.0"), ("0.0", "0"), ("10", "10.0"), ("12.50", "12.5"), ("100", "100.00")]
)
def test_two_spellings_of_a_percent_are_one_target(one: str, other: str, days: int) -> None:
    events = extend([], breach(one, days=days))
    assert extend(events, breach(other, days=days), NOW + HOUR) == events
    assert not is_news(folded(events), breach(other, days=days).assessment)


def test_the_contracts_own_spelling_of_a_percent_is_kept() -> None:
    assert standing(extend([], breach("12.50", days=0))) == ("final", "breached", "12.50", "12.50")


def test_an_event_is_news_exactly_when_it_is_written() -> None:
    before = extend([], breach("10", days=0))
    for status, percent in (
        (Status.MET, "0"),
        (Status.BREACHED, "5"),
        (Status.BREACHED, "10"),
        (Status.BREACHED, "25"),
    ):
        evaluation = said(status, percent, under=terms(dispute_days=0))
        written = extend(before, evaluation, NOW + HOUR)
        assert is_news(folded(before), evaluation.assessment) == (written != before)


def test_a_first_evaluation_has_no_reason_whichever_scoring_came_first() -> None:
    assert data_of(extend([], breach("10", reason="gold_corrected"))[0])["reason"] is None


def test_the_clock_says_when_it_moves_a_settlement_next() -> None:
    opened = extend([], breach("10"))
    assert clock_of(folded(opened).data) == "2026-12-30T02:30:00Z"
    disputed = act(opened, lambda stands: draft_dispute(stands, NOW + DAY), NOW + DAY)
    assert clock_of(folded(disputed).data) == "2026-12-31T02:30:00Z"
    assert clock_of({"dispute": {"opens": "2026-11-30T02:30:00Z", "closes": "2026-12-30T02:30:00Z"}}) == (
        "2026-12-30T02:30:00Z"
    )
