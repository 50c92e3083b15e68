"""Settlements as they stand, their table, one with its history, and a month."""

import csv
import io
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from harness.sla.export import COLUMNS
from tests.api.conftest import Served

BREACHED = "slf_asme_citation_correctness_2026-12-02"


def _subjects(served: Served, query: str = "") -> list[str]:
    return [each["subject"] for each in served.caller.get(f"/v1/sla/settlements?limit=1000{query}").json["settlements"]]


def test_all_of_them_by_subject(served: Served) -> None:
    subjects = _subjects(served)
    assert len(subjects) == 13 and subjects == sorted(subjects)


def test_pages_follow_each_other_without_gap_or_repeat(served: Served) -> None:
    seen: list[str] = []
    after = ""
    while True:
        page = served.caller.get(f"/v1/sla/settlements?limit=5{after}").json
        seen += [each["subject"] for each in page["settlements"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == _subjects(served)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("&society=sae", 1),
        ("&society=nobody", 0),
        ("&state=open", 1),
        ("&state=final", 12),
        ("&state=disputed", 0),
        ("&window_in=2026-11", 3),
        ("&window_in=2026-12", 10),
        ("&finalized_in=2026-12", 12),
        ("&finalized_in=2026-11", 0),
        ("&min_target=10", 2),
        ("&min_target=10.000000000000000001", 1),
        ("&min_target=0", 13),
        ("&min_target=25&state=open&society=sae", 1),
        ("&min_target=100.5", 0),
    ],
)
def test_filters(served: Served, query: str, count: int) -> None:
    assert len(_subjects(served, query)) == count


@pytest.mark.parametrize(
    "query",
    ["state=closed", "window_in=2026-13", "window_in=0000-01", "min_target=x", "min_target=1e3", "society=A", "x=1"],
)
def test_error_a_filter_that_cannot_be_meant(served: Served, query: str) -> None:
    for path in ("settlements", "settlements.csv"):
        reply = served.caller.get(f"/v1/sla/{path}?{query}")
        assert (reply.status, reply.kind) == (422, "invalid-request"), path


def test_the_table_says_what_the_settlements_say(served: Served) -> None:
    reply = served.caller.get("/v1/sla/settlements.csv")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    text = reply.body.decode("utf-8")
    assert text.count("\r\n") == text.count("\n") == 14
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    found = {each["subject"]: each for each in served.caller.get("/v1/sla/settlements").json["settlements"]}
    assert tuple(rows[0]) == COLUMNS
    assert [row["subject"] for row in rows] == list(found)
    for row in rows:
        data: dict[str, Any] = found[row["subject"]]
        assert (row["target_percent"], row["billable_percent"]) == (data["target_percent"], data["billable_percent"])
        assert (row["ratio"], row["floor"]) == (data["measured"]["ratio"], data["objective"]["floor"])
        assert row["finalized_at"] == (data["finalized_at"] or "")
    frame = pd.read_csv(io.BytesIO(reply.body), dtype=str, keep_default_na=False)
    assert list(frame["subject"]) == [row["subject"] for row in rows]


def test_one_with_all_its_events_and_what_billing_said(served: Served) -> None:
    served.caller.post(f"/v1/sla/settlements/{BREACHED}/acknowledgements", {"revision": 2, "invoice_ref": "I-1"}, "k")
    found = served.caller.get(f"/v1/sla/settlements/{BREACHED}").json
    assert (found["settlement"]["state"], found["settlement"]["billable_percent"]) == ("final", "10")
    assert [each["data"]["revision"] for each in found["events"]] == [1, 2]
    assert found["events"][-1]["data"] == found["settlement"]
    assert [each["invoice_ref"] for each in found["acknowledgements"]] == ["I-1"]


@pytest.mark.parametrize("subject", ["slf_x", "%00", "%F0%9F%92%A9", "a" * 3000, "%2e%2e", "<script>", "' OR 1=1 --"])
def test_error_no_such_settlement(served: Served, subject: str) -> None:
    reply = served.caller.get(f"/v1/sla/settlements/{subject.replace(' ', '%20')}")
    assert reply.status == 404
    assert "script" not in reply.body.decode()


def test_a_month_by_society_and_window(served: Served) -> None:
    found = served.caller.get("/v1/sla/periods/2026-11").json
    assert (found["month"], found["complete"], found["settled"]) == ("2026-11", True, False)
    asme, sae = found["societies"]
    assert (asme["slug"], asme["complete"], asme["settled"], asme["missing"]) == ("asme", True, True, [])
    assert [window["label"] for window in asme["windows"]] == ["2026-11-29", "2026-11-30"]
    assert (sae["slug"], sae["settled"], sae["windows"][0]["billable_percent"]) == ("sae", False, "0")
    december = served.caller.get("/v1/sla/periods/2026-12").json
    billable = {window["label"]: Fraction(window["billable_percent"]) for window in december["societies"][0]["windows"]}
    assert billable["2026-12-02"] == 10 and sum(billable.values()) == 10
    assert december["complete"] is False and len(december["societies"][0]["missing"]) == 21


@pytest.mark.parametrize(("month", "status"), [("2020-01", 404), ("2026-00", 422), ("x", 422), ("2026-1", 422)])
def test_error_no_such_month(served: Served, month: str, status: int) -> None:
    assert served.caller.get(f"/v1/sla/periods/{month}").status == status
