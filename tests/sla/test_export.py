"""The table of settlements: one row each, exact, as RFC 4180 has it."""

import csv
import io
from typing import Any, Final

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sla.export import COLUMNS, csv_lines, settlement_row
from harness.sla.model import Status
from tests.sla.acting import after
from tests.sla.factories import SUBJECT, breach, data_of, evaluated, extend, folded, said, terms, tick

PROMISED: Final = (
    "subject", "society_id", "slug", "window_kind", "window_label", "window_start", "window_end", "measure", "floor",
    "rule", "state", "status", "good", "valid", "ratio", "target_percent", "billable_percent", "assessed_percent",
    "reason", "revision", "dispute_closes", "finalized_at", "terms_version", "terms_sha256", "scores_url",
    "scores_sha256", "run_id",
)  # fmt: skip
"""What billing's imports are written against: a column is never renamed or moved, new ones go to the end."""


def _row(data: Any) -> dict[str, str]:
    return dict(zip(COLUMNS, settlement_row(data), strict=True))


def test_the_columns_are_those_promised() -> None:
    assert COLUMNS == PROMISED


def test_a_breach_that_is_final() -> None:
    final = folded(tick(extend([], breach("12.50")), after(30)))
    assert _row(final.data) == {
        "subject": SUBJECT,
        "society_id": "ASME",
        "slug": "asme",
        "window_kind": "night",
        "window_label": "2026-11-29",
        "window_start": "2026-11-29T00:00:00Z",
        "window_end": "2026-11-30T00:00:00Z",
        "measure": "citation_correctness",
        "floor": "0.95",
        "rule": "point",
        "state": "final",
        "status": "breached",
        "good": "150",
        "valid": "200",
        "ratio": "0.750000",
        "target_percent": "12.50",
        "billable_percent": "12.50",
        "assessed_percent": "12.50",
        "reason": "",
        "revision": "2",
        "dispute_closes": "2026-12-30T02:30:00Z",
        "finalized_at": "2026-12-30T02:30:00Z",
        "terms_version": "3",
        "terms_sha256": "3" * 64,
        "scores_url": "https://eval.example/standards/asme/eval/2026-11-29/r1/scores.csv",
        "scores_sha256": "5" * 64,
        "run_id": "run-1",
    }


def test_what_there_is_none_of_is_an_empty_cell() -> None:
    row = _row(folded(extend([], said(Status.NOT_RUN, under=terms(dispute_days=30)))).data)
    assert (row["good"], row["valid"], row["ratio"], row["finalized_at"], row["reason"]) == ("0", "0", "", "", "")


def test_an_event_from_before_acts_by_hand_was_assessed_as_it_stands() -> None:
    data = {**data_of(extend([], evaluated(150))[0])}
    del data["assessed_percent"]
    assert _row(data)["assessed_percent"] == data["target_percent"] == "100"


def test_a_file_without_rows_has_its_head() -> None:
    assert list(csv_lines([])) == [",".join(PROMISED) + "\r\n"]


def test_a_line_is_made_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def rows() -> Any:
        for number in range(3):
            asked.append(number)
            yield ["x"] * len(COLUMNS)

    lines = csv_lines(rows())
    next(lines)
    assert asked == []
    next(lines)
    assert asked == [0]


CELLS: Final = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)


@given(st.lists(st.lists(CELLS, min_size=len(COLUMNS), max_size=len(COLUMNS)), max_size=3))
def test_whatever_a_cell_holds_comes_back_code_point_for_code_point(rows: list[list[str]]) -> None:
    text = "".join(csv_lines(rows))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [list(COLUMNS), *rows]


@pytest.mark.parametrize("hostile", ["=1+1", "@x", "-2", 'a"b', "a,b", "a\r\nb", " a ", "ä名"])
def test_pandas_reads_what_is_in_a_cell(hostile: str) -> None:
    row = ["x"] * (len(COLUMNS) - 1)
    text = "".join(csv_lines([[hostile, *row]]))
    frame = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False, lineterminator=None)
    assert list(frame["subject"]) == [hostile]


@given(good=st.integers(0, 200))
def test_ratio_and_percents_are_the_events_own_text(good: int) -> None:
    data = data_of(extend([], evaluated(good))[0])
    row = _row(data)
    assert row["ratio"] == data["measured"]["ratio"]
    assert [row[name] for name in ("target_percent", "billable_percent")] == [
        data[name] for name in ("target_percent", "billable_percent")
    ]
