"""The life of a settlement: its first events whole, and the laws over any history of assessments."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sla.ledger import find_broken_link
from harness.sla.model import LedgerEvent, Settlement
from harness.sla.settlement import draft_events, draft_finalization, fold
from harness.sla.windows import night_window, subject_of
from tests.sla.factories import NOW, counted, evaluated, extend, floor, ledger, terms

SUBJECT = "slf_asme_citation_correctness_2026-11-29"


def folded(events: Sequence[LedgerEvent]) -> Settlement:
    settlement = fold(events)
    assert settlement is not None
    return settlement


def kinds(events: Sequence[LedgerEvent]) -> list[str]:
    return [event.type.removeprefix("com.citehouse.eval.window.") for event in events]


def standing(events: Sequence[LedgerEvent]) -> tuple[str, str, str, str]:
    now = folded(events)
    return now.state.value, now.status.value, now.target_percent, now.billable_percent


def data_of(event: LedgerEvent) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event.body)["data"]
    return found


def test_a_night_is_its_whole_utc_date() -> None:
    window = night_window(date(2026, 12, 31))
    assert (window.kind, window.label) == ("night", "2026-12-31")
    assert (window.start, window.end) == (datetime(2026, 12, 31, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert subject_of("asme", "mrr", window) == "slf_asme_mrr_2026-12-31"


def test_the_first_event_says_everything() -> None:
    evaluation = evaluated(189, warnings=("test set changed",))
    first, second = draft_events(None, evaluation, NOW)
    expected = {
        "subject": SUBJECT,
        "revision": 1,
        "state": "open",
        "status": "breached",
        "society": {"id": "ASME", "slug": "asme"},
        "terms_version": 3,
        "terms_sha256": "3" * 64,
        "objective": {"measure": "citation_correctness", "floor": "0.95", "rule": "point"},
        "window": {
            "kind": "night",
            "label": "2026-11-29",
            "start": "2026-11-29T00:00:00Z",
            "end": "2026-11-30T00:00:00Z",
        },
        "measured": {
            "good": 189,
            "valid": 200,
            "ratio": "0.945000",
            "interval": {"method": "wilson", "confidence": "0.95", "low": "0.910421", "high": "0.972618"},
        },
        "outcomes": {
            "planned": 200,
            "correct": 189,
            "incorrect": 11,
            "missing": 0,
            "gateway_error": 0,
            "harness_error": 0,
        },
        "coverage": {"nights_expected": 1, "nights_measured": 1, "nights_missed": []},
        "target_percent": "10",
        "billable_percent": "0",
        "tier": {"below": "0.95", "at_least": "0.90", "credit_percent": "10"},
        "reason": None,
        "dispute": {"opens": "2026-11-30T02:30:00Z", "closes": "2026-11-30T02:30:00Z"},
        "finalized_at": None,
        "evidence": {
            "page_url": "https://eval.example/standards/asme/eval/2026-11-29/r1/",
            "scores_url": "https://eval.example/standards/asme/eval/2026-11-29/r1/scores.csv",
            "scores_sha256": "5" * 64,
            "testset_version": "2026.11",
            "testset_sha256": "7" * 64,
            "scorer_version": 1,
            "harness_version": "0.1.0",
            "run_id": "run-1",
        },
        "warnings": ["test set changed"],
        "claim": {"study": "s"},
    }
    assert (first.subject, first.revision, first.type, first.time) == (
        SUBJECT,
        1,
        "window.evaluated.v1",
        "2026-11-30T00:00:00Z",
    )
    assert first.data == expected
    assert list(first.data) == list(expected)
    assert (second.subject, second.revision, second.type, second.time) == (
        SUBJECT,
        2,
        "window.finalized.v1",
        "2026-11-30T00:00:00Z",
    )
    assert second.data == expected | {
        "revision": 2,
        "state": "final",
        "billable_percent": "10",
        "finalized_at": "2026-11-30T02:30:00Z",
    }


@pytest.mark.parametrize(
    ("counts", "status", "missed"),
    [
        (counted(0, 0, harness=200, sent=0), "not_run", ["2026-11-29"]),
        (counted(0, 0, harness=200, sent=5), "insufficient_data", []),
    ],
)
def test_without_a_valid_expectation_there_is_no_ratio_and_no_claim(
    counts: Any, status: str, missed: list[str]
) -> None:
    events = extend([], evaluated(counts=counts))
    data = data_of(events[0])
    assert (data["status"], data["measured"], data["claim"]) == (status, {"good": 0, "valid": 0}, None)
    assert data["coverage"]["nights_missed"] == missed
    assert standing(events) == ("final", status, "0", "0")


def test_why_nothing_was_decided_stands_among_the_warnings() -> None:
    data = data_of(extend([], evaluated(40, 40, warnings=("test set changed",)))[0])
    assert data["warnings"] == ["40 valid expectations, fewer than 59", "test set changed"]


def test_a_ratio_has_as_many_decimals_as_its_floor_and_never_crosses_it() -> None:
    under = terms(floors=(floor("0.99999999"),))
    data = data_of(extend([], evaluated(199_999_997, 199_999_999, under=under))[0])
    assert data["status"] == "breached"
    assert data["measured"]["ratio"] == "0.99999998"


@pytest.mark.parametrize(
    ("goods", "events", "end"),
    [
        ((190,), ["evaluated.v1", "finalized.v1"], ("final", "met", "0", "0")),
        ((189,), ["evaluated.v1", "finalized.v1"], ("final", "breached", "10", "10")),
        ((190, 190, 200), ["evaluated.v1", "finalized.v1"], ("final", "met", "0", "0")),
        (
            (189, 179),
            ["evaluated.v1", "finalized.v1", "revised.v1", "finalized.v1"],
            ("final", "breached", "25", "25"),
        ),
        ((179, 189), ["evaluated.v1", "finalized.v1"], ("final", "breached", "25", "25")),
        ((179, 190), ["evaluated.v1", "finalized.v1", "revised.v1"], ("final", "met", "25", "25")),
        (
            (179, 190, 0),
            ["evaluated.v1", "finalized.v1", "revised.v1", "revised.v1", "finalized.v1"],
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
        ((189,), ["evaluated.v1"], ("open", "breached", "10", "0")),
        ((189, 189, 188), ["evaluated.v1"], ("open", "breached", "10", "0")),
        ((189, 190), ["evaluated.v1", "revised.v1"], ("open", "met", "0", "0")),
        ((189, 179, 189), ["evaluated.v1", "revised.v1", "revised.v1"], ("open", "breached", "10", "0")),
    ],
)
def test_before_it_is_final(goods: tuple[int, ...], events: list[str], end: tuple[str, ...]) -> None:
    written = ledger(*goods, under=terms(dispute_days=30))
    assert (kinds(written), standing(written)) == (events, end)


def test_a_status_that_turns_after_final_is_told_though_the_target_stays() -> None:
    events = extend(extend([], evaluated(counts=counted(40, 40))), evaluated(200), NOW + timedelta(hours=1))
    assert kinds(events) == ["evaluated.v1", "finalized.v1", "revised.v1"]
    assert standing(events) == ("final", "met", "0", "0")
    assert data_of(events[2])["finalized_at"] == data_of(events[1])["finalized_at"]


def test_a_target_that_stays_keeps_its_tier_and_the_times_of_its_clock() -> None:
    first = ledger(179)
    data = data_of(extend(first, evaluated(190), NOW + timedelta(hours=1))[-1])
    assert (data["status"], data["measured"]["good"], data["target_percent"]) == ("met", 190, "25")
    assert {name: data[name] for name in ("tier", "dispute", "finalized_at")} == {
        "tier": {"below": "0.90", "at_least": "0.80", "credit_percent": "25"},
        "dispute": {"opens": "2026-11-30T02:30:00Z", "closes": "2026-11-30T02:30:00Z"},
        "finalized_at": "2026-11-30T02:30:00Z",
    }


def test_a_rise_after_final_opens_again_and_what_was_final_stays_billable() -> None:
    _, final, opened, closed = ledger(189, 100)
    assert data_of(final)["billable_percent"] == "10"
    assert (data_of(opened)["state"], data_of(opened)["target_percent"]) == ("open", "100")
    assert (data_of(opened)["billable_percent"], data_of(opened)["finalized_at"]) == ("10", None)
    assert (data_of(closed)["state"], data_of(closed)["billable_percent"]) == ("final", "100")


def test_what_was_final_stays_the_least_while_a_rise_is_open() -> None:
    under = terms(dispute_days=1)
    events: list[LedgerEvent] = []
    for hours, good in ((0, 189), (24, 100), (25, 190)):
        events = extend(events, evaluated(good, under=under), NOW + timedelta(hours=hours))
    assert kinds(events) == ["evaluated.v1", "finalized.v1", "revised.v1", "revised.v1"]
    assert standing(events) == ("open", "met", "10", "10")
    (final,) = draft_finalization(folded(events), NOW + timedelta(hours=49))
    assert (final.data["target_percent"], final.data["billable_percent"]) == ("10", "10")


@pytest.mark.parametrize(
    ("seconds", "events", "end"),
    [
        (-1, ["evaluated.v1", "revised.v1"], ("open", "met", "0", "0")),
        (0, ["evaluated.v1", "finalized.v1", "revised.v1"], ("final", "met", "25", "25")),
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


@pytest.mark.parametrize(("seconds", "final"), [(-1, False), (0, True), (1, True)])
def test_it_is_final_when_the_days_to_dispute_have_passed(seconds: int, final: bool) -> None:
    settlement = folded(ledger(189, under=terms(dispute_days=30)))
    closes = NOW + timedelta(days=30, seconds=seconds)
    drafts = draft_finalization(settlement, closes)
    assert len(drafts) == final
    for draft in drafts:
        assert (draft.revision, draft.data["state"], draft.data["billable_percent"]) == (2, "final", "10")


def test_error_finalizing_would_take_a_credit_back() -> None:
    settlement = replace(folded(ledger(189, under=terms(dispute_days=30))), billable_percent="25")
    with pytest.raises(ValueError) as caught:
        draft_finalization(settlement, NOW + timedelta(days=30))
    assert str(caught.value) == f"{SUBJECT}: finalizing would lower what is billable"


def test_what_is_final_is_not_finalized_again() -> None:
    assert draft_finalization(folded(ledger(189)), NOW + timedelta(days=400)) == ()


def test_without_events_there_is_no_settlement() -> None:
    assert fold([]) is None


def test_error_a_revision_is_missing() -> None:
    first, _, third, _ = ledger(189, 179)
    with pytest.raises(ValueError) as caught:
        fold([first, third])
    assert str(caught.value) == f"{SUBJECT}: revision 3 stands where 2 is due"


@dataclass
class Life:
    """A settlement told again in plain numbers: what sla.md says of it, without events."""

    target: int = 0
    billable: int = 0
    final: bool = False
    closes: int | None = None

    def assess(self, percent: int, status_changed: bool, hour: int, days: int) -> None:
        if self.closes is not None and hour >= self.closes:
            self._end()
        kept = percent <= self.target if self.final else max(percent, self.billable) == self.target
        if kept and (self.final or not status_changed):
            return
        self.target, self.final, self.closes = max(percent, self.billable), False, hour + 24 * days
        if days == 0:
            self._end()

    def _end(self) -> None:
        self.billable, self.final, self.closes = self.target, True, None


STEPS = st.lists(st.tuples(st.integers(0, 30), st.sampled_from([200, 189, 179, 100])), min_size=1, max_size=10)
PERCENT = {200: 0, 189: 10, 179: 25, 100: 100}


@settings(max_examples=150)
@given(steps=STEPS, days=st.sampled_from([0, 1, 2]))
def test_any_history_comes_to_what_the_plain_rules_say(steps: list[tuple[int, int]], days: int) -> None:
    events: list[LedgerEvent] = []
    life, hour, before = Life(), 0, None
    for passed, good in steps:
        hour += passed
        evaluation = evaluated(good, under=terms(dispute_days=days))
        events = extend(events, evaluation, NOW + timedelta(hours=hour))
        assert extend(events, evaluation, NOW + timedelta(hours=hour)) == events
        status = "met" if good == 200 else "breached"
        life.assess(PERCENT[good], before != status, hour, days)
        before = status
        state = "final" if life.final else "open"
        assert standing(events) == (state, status, str(life.target), str(life.billable))


@settings(max_examples=60)
@given(steps=STEPS, days=st.sampled_from([0, 1, 2]))
def test_every_event_of_any_history_says_something_new_and_takes_no_credit_back(
    steps: list[tuple[int, int]], days: int
) -> None:
    events: list[LedgerEvent] = []
    hour = 0
    for passed, good in steps:
        hour += passed
        events = extend(events, evaluated(good, under=terms(dispute_days=days)), NOW + timedelta(hours=hour))
    assert [event.revision for event in events] == list(range(1, len(events) + 1))
    for event, following in pairwise(map(data_of, events)):
        assert any(event[name] != following[name] for name in ("status", "state", "target_percent"))
        assert Fraction(event["billable_percent"]) <= Fraction(following["billable_percent"])
        assert Fraction(following["billable_percent"]) <= Fraction(following["target_percent"])
    assert find_broken_link(events) is None


def test_no_event_carries_a_float() -> None:
    def numbers(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [number for each in value.values() for number in numbers(each)]
        if isinstance(value, list):
            return [number for each in value for number in numbers(each)]
        return [value]

    leaves = [leaf for event in ledger(189, 100) for leaf in numbers(data_of(event))]
    assert {type(leaf) for leaf in leaves} == {str, int, type(None)}
