"""What a settlement's event says, whole: every key in its order, and nothing where nothing was measured."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from harness.sla.acts import draft_dispute
from harness.sla.evaluation import Coverage, Evidence
from harness.sla.settlement import after_draft, draft_events
from harness.sla.windows import month_window
from tests.sla.factories import (
    NOW,
    SUBJECT,
    act,
    breach,
    counted,
    data_of,
    evaluated,
    extend,
    floor,
    ledger,
    standing,
    terms,
)

HOUR = timedelta(hours=1)


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
        "assessed_percent": "10",
        "billable_percent": "0",
        "tier": {"below": "0.95", "at_least": "0.90", "credit_percent": "10"},
        "reason": None,
        "dispute": {"opens": "2026-11-30T02:30:00Z", "closes": "2026-11-30T02:30:00Z", "decide_by": None},
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


def test_the_first_event_of_a_window_in_which_nothing_ran_says_so() -> None:
    evaluation = evaluated(
        counts=counted(0, 0, sent=0),
        under=terms(dispute_days=30),
        coverage=Coverage(expected=1, missed=("2026-11-29",)),
        evidence=Evidence(scorer_version=1, harness_version="0.1.0"),
    )
    (first,) = draft_events(None, evaluation, NOW)
    expected: dict[str, Any] = {
        "subject": SUBJECT,
        "revision": 1,
        "state": "open",
        "status": "not_run",
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
        "measured": {"good": 0, "valid": 0},
        "outcomes": {
            "planned": 0,
            "correct": 0,
            "incorrect": 0,
            "missing": 0,
            "gateway_error": 0,
            "harness_error": 0,
        },
        "coverage": {"nights_expected": 1, "nights_measured": 0, "nights_missed": ["2026-11-29"]},
        "target_percent": "0",
        "assessed_percent": "0",
        "billable_percent": "0",
        "tier": None,
        "reason": None,
        "dispute": {"opens": "2026-11-30T02:30:00Z", "closes": "2026-12-30T02:30:00Z", "decide_by": None},
        "finalized_at": None,
        "evidence": {
            "page_url": None,
            "scores_url": None,
            "scores_sha256": None,
            "testset_version": None,
            "testset_sha256": None,
            "scorer_version": 1,
            "harness_version": "0.1.0",
            "run_id": None,
        },
        "warnings": ["no call was sent"],
        "claim": None,
    }
    assert first.data == expected
    assert list(first.data) == list(expected)
    assert list(first.data["evidence"]) == list(expected["evidence"])


def test_an_event_that_an_assessment_revises_has_the_same_keys_in_the_same_order() -> None:
    (first,) = draft_events(None, breach("10"), NOW)
    (revised,) = draft_events(after_draft(first), breach("25"), NOW + HOUR)
    assert list(revised.data) == list(first.data)
    assert list(revised.data["dispute"]) == ["opens", "closes", "decide_by"]


def test_the_event_of_a_month_names_its_nights_and_its_window() -> None:
    missed = ("2026-11-03", "2026-11-04", "2026-11-17")
    under = terms(window="calendar_month", dispute_days=30)
    window = month_window(date(2026, 11, 1))
    month = evaluated(189, under=under, window=window, coverage=Coverage(expected=30, missed=missed))
    (first,) = draft_events(None, month, datetime(2026, 12, 1, 2, tzinfo=UTC))
    assert (first.subject, first.time) == ("slf_asme_citation_correctness_2026-11", "2026-12-01T00:00:00Z")
    assert first.data["window"] == {
        "kind": "calendar_month",
        "label": "2026-11",
        "start": "2026-11-01T00:00:00Z",
        "end": "2026-12-01T00:00:00Z",
    }
    assert first.data["coverage"] == {"nights_expected": 30, "nights_measured": 27, "nights_missed": list(missed)}


def test_no_valid_expectation_has_no_ratio_and_no_claim_though_calls_were_sent() -> None:
    events = extend([], evaluated(counts=counted(0, 0, harness=200, sent=5)))
    data = data_of(events[0])
    assert (data["status"], data["measured"], data["claim"]) == ("insufficient_data", {"good": 0, "valid": 0}, None)
    assert data["outcomes"]["harness_error"] == 200
    assert standing(events) == ("final", "insufficient_data", "0", "0")


def test_a_base_without_an_interval_has_its_ratio_alone() -> None:
    data = data_of(extend([], evaluated(189, interval=None))[0])
    assert data["measured"] == {"good": 189, "valid": 200, "ratio": "0.945000"}


def test_why_nothing_was_decided_stands_among_the_warnings() -> None:
    data = data_of(extend([], evaluated(40, 40, warnings=("test set changed",)))[0])
    assert data["warnings"] == ["40 valid expectations, fewer than 59", "test set changed"]


def test_a_ratio_has_as_many_decimals_as_its_floor_and_never_crosses_it() -> None:
    under = terms(floors=(floor("0.99999999"),))
    data = data_of(extend([], evaluated(199_999_997, 199_999_999, under=under))[0])
    assert data["status"] == "breached"
    assert data["measured"]["ratio"] == "0.99999998"


def test_no_event_carries_a_float() -> None:
    def numbers(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [number for each in value.values() for number in numbers(each)]
        if isinstance(value, list):
            return [number for each in value for number in numbers(each)]
        return [value]

    events = act(ledger(189, under=terms(dispute_days=30)), lambda stands: draft_dispute(stands, NOW))
    leaves = [leaf for event in (*ledger(189, 100), *events) for leaf in numbers(data_of(event))]
    assert {type(leaf) for leaf in leaves} == {str, int, type(None)}
