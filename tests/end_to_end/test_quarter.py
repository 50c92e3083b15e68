"""A quarter lived through from end to end: what it came to, and what its events alone come to."""

import json
from collections.abc import Mapping
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.sla.settlement import fold, settlement_after
from harness.store.ledger import Query
from tests.end_to_end.deployment import Deployment
from tests.end_to_end.quarter import END, settle

pytestmark = [pytest.mark.xdist_group("quarter"), pytest.mark.timeout(900)]

STANDING = {
    # subject: (revision, status, target, assessed, billable, finalized on)
    "slf_alpha_citation_correctness_2026-07": (2, "met", "0", "0", "0", "2026-08-11"),
    "slf_alpha_citation_correctness_2026-08": (2, "breached", "10", "10", "10", "2026-09-11"),
    "slf_alpha_citation_correctness_2026-09": (3, "met", "0", "0", "0", "2026-10-15"),
    "slf_beta_citation_correctness_2026-07": (2, "met", "0", "0", "0", "2026-08-11"),
    "slf_beta_citation_correctness_2026-08": (2, "insufficient_data", "0", "0", "0", "2026-09-11"),
    "slf_beta_citation_correctness_2026-09": (2, "met", "0", "0", "0", "2026-10-11"),
    "slf_gamma_citation_correctness_2026-07-05": (3, "met", "25", "0", "25", "2026-07-15"),
    "slf_gamma_citation_correctness_2026-07-08": (2, "met", "0", "0", "0", "2026-07-18"),
    "slf_gamma_citation_correctness_2026-07-10": (4, "breached", "25", "25", "25", "2026-08-30"),
    "slf_gamma_edition_year_correctness_2026-07-10": (2, "breached", "20", "20", "20", "2026-07-20"),
    "slf_gamma_citation_correctness_2026-07-12": (2, "not_run", "0", "0", "0", "2026-07-23"),
    "slf_gamma_citation_correctness_2026-07-20": (2, "breached", "25", "25", "25", "2026-07-31"),
    "slf_gamma_citation_correctness_2026-08-03": (3, "met", "0", "0", "0", "2026-08-16"),
    "slf_gamma_citation_correctness_2026-08-15": (3, "breached", "0", "25", "0", "2026-08-27"),
    "slf_gamma_citation_correctness_2026-08-18": (4, "breached", "10", "25", "10", "2026-09-03"),
    "slf_gamma_citation_correctness_2026-08-22": (4, "breached", "25", "25", "25", "2026-09-01"),
    "slf_gamma_citation_correctness_2026-09-01": (4, "breached", "10", "10", "10", "2026-09-15"),
}
"""Worked out by hand from the script of the quarter."""


def _data(deployment: Deployment) -> list[dict[str, Any]]:
    return [json.loads(event.body)["data"] for event in deployment.ledger.events()]


def test_every_settlement_is_what_the_hand_came_to(quarter: Deployment) -> None:
    found = {stand.event.subject: stand.settlement for stand in quarter.ledger.settlements(Query())}
    assert len(found) == 6 + 2 * 92  # two months societies, and two floors of 92 nights
    assert {each.state for each in found.values()} == {"final"}
    seen = {
        subject: (
            each.revision,
            each.status,
            each.target_percent,
            each.assessed_percent,
            each.billable_percent,
            each.data["finalized_at"][:10],
        )
        for subject, each in found.items()
    }
    assert {subject: seen[subject] for subject in STANDING} == STANDING
    others = {subject: each for subject, each in seen.items() if subject not in STANDING}
    assert {each[2:5] for subject, each in others.items() if "07-20" not in subject} == {("0", "0", "0")}
    assert quarter.ledger.find_fault() is None


def test_the_events_alone_come_to_the_same(quarter: Deployment) -> None:
    events = list(quarter.ledger.events())
    by_subject: dict[str, list[Any]] = {}
    for event in events:
        by_subject.setdefault(event.subject, []).append(event)
    folded = {subject: fold(each) for subject, each in by_subject.items()}
    assert folded == {stand.event.subject: stand.settlement for stand in quarter.ledger.settlements(Query())}
    for each in by_subject.values():
        for before, after in pairwise(each):
            one, other = settlement_after(before).data, settlement_after(after).data
            assert any(one[name] != other[name] for name in ("state", "status", "target_percent"))


def test_reasons_coverage_and_evidence_are_those_of_each_event(quarter: Deployment) -> None:
    data = _data(quarter)
    reasons = {(each["subject"], each["revision"]): each["reason"] for each in data if each["reason"]}
    gamma = "slf_gamma_citation_correctness_2026-"
    assert reasons == {
        (f"{gamma}07-05", 3): "gold_corrected",
        (f"{gamma}07-10", 3): "gold_corrected",
        (f"{gamma}07-10", 4): "gold_corrected",
        (f"{gamma}08-03", 2): "gold_corrected",
        (f"{gamma}08-03", 3): "gold_corrected",
        (f"{gamma}08-15", 2): "harness_fault",
        (f"{gamma}08-15", 3): "harness_fault",
        (f"{gamma}08-18", 3): "dispute_upheld",
        (f"{gamma}08-18", 4): "dispute_upheld",
        (f"{gamma}08-22", 3): "dispute_rejected",
        (f"{gamma}08-22", 4): "dispute_rejected",
        ("slf_alpha_citation_correctness_2026-09", 2): "gold_corrected",
        ("slf_alpha_citation_correctness_2026-09", 3): "gold_corrected",
    }
    missed = {each["subject"]: each["coverage"]["nights_missed"] for each in data if each["coverage"]["nights_missed"]}
    assert missed == {
        "slf_alpha_citation_correctness_2026-07": ["2026-07-12"],
        "slf_beta_citation_correctness_2026-07": ["2026-07-12"],
        "slf_beta_citation_correctness_2026-08": ["2026-08-10", "2026-08-11", "2026-08-12", "2026-08-13"],
        "slf_gamma_citation_correctness_2026-07-12": ["2026-07-12"],
        "slf_gamma_edition_year_correctness_2026-07-12": ["2026-07-12"],
    }
    assert all(_file_of(quarter, each) == each["evidence"]["scores_sha256"] for each in data if each["claim"])
    assert {each["measured"]["valid"] > 0 for each in data if each["claim"] is None} == {False}
    assert {each["claim"]["value"] == each["measured"]["ratio"] for each in data if each["claim"]} == {True}


def _file_of(deployment: Deployment, data: Mapping[str, Any]) -> str:
    """The digest of the very file that an event names, as it lies on the site."""
    place = data["evidence"]["scores_url"].removeprefix("https://eval.example/")
    return sha256((deployment.folder / "site" / Path(place)).read_bytes()).hexdigest()


def test_settling_all_of_it_again_writes_nothing(quarter: Deployment) -> None:
    before = quarter.ledger.count()
    settle(quarter, END)
    assert quarter.ledger.count() == before
