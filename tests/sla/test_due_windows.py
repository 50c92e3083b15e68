"""The windows of a month that a contract wants settled: from its first night on, under the terms in force."""

from datetime import date, timedelta
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sla.period import Contract, due_windows
from harness.sla.windows import month_window
from tests.sla.contracts import BEGAN, DECEMBER, NOVEMBER, contract, monthly, nightly

FEBRUARY: Final = date(2027, 2, 1)


def due(under: Contract, month: date) -> list[str]:
    return [window.label for window, _ in due_windows(under, month_window(month))]


def nights(first: str, last: str) -> list[str]:
    """The labels of all nights from one to another."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return [(start + timedelta(days=days)).isoformat() for days in range((end - start).days + 1)]


@pytest.mark.parametrize(
    ("under", "month", "labels"),
    [
        (contract(nightly(BEGAN)), NOVEMBER, nights("2026-11-01", "2026-11-30")),
        (contract(nightly(BEGAN)), DECEMBER, nights("2026-12-01", "2026-12-31")),
        (contract(nightly(BEGAN)), FEBRUARY, nights("2027-02-01", "2027-02-28")),
        (contract(nightly(BEGAN)), date(2028, 2, 1), nights("2028-02-01", "2028-02-29")),
        (contract(nightly(date(2026, 11, 12))), NOVEMBER, nights("2026-11-12", "2026-11-30")),
        (contract(nightly(BEGAN, date(2026, 11, 12))), NOVEMBER, nights("2026-11-01", "2026-11-12")),
        (contract(nightly(date(2026, 11, 12), date(2026, 11, 12))), NOVEMBER, ["2026-11-12"]),
        (contract(nightly(BEGAN, date(2026, 11, 12))), DECEMBER, []),
        (contract(nightly(DECEMBER)), NOVEMBER, []),
        (contract(nightly(BEGAN), first=date(2026, 11, 20)), NOVEMBER, nights("2026-11-20", "2026-11-30")),
        (contract(nightly(BEGAN), first=date(2026, 11, 30)), NOVEMBER, ["2026-11-30"]),
        (contract(nightly(BEGAN), first=DECEMBER), NOVEMBER, []),
        (contract(monthly(BEGAN)), NOVEMBER, ["2026-11"]),
        (contract(monthly(BEGAN)), DECEMBER, ["2026-12"]),
        (contract(monthly(BEGAN, date(2026, 11, 12))), NOVEMBER, ["2026-11"]),
        (contract(monthly(BEGAN, date(2026, 11, 12))), DECEMBER, []),
        (contract(monthly(DECEMBER)), NOVEMBER, []),
        (contract(monthly(BEGAN), first=date(2026, 11, 20)), NOVEMBER, ["2026-11"]),
        (contract(monthly(BEGAN), first=date(2026, 11, 30)), NOVEMBER, ["2026-11"]),
        (contract(monthly(BEGAN), first=DECEMBER), NOVEMBER, []),
        (contract(monthly(BEGAN, date(2026, 11, 12)), first=date(2026, 11, 13)), NOVEMBER, []),
        (contract(nightly(BEGAN, floors=())), NOVEMBER, []),
        (contract(monthly(BEGAN, floors=())), NOVEMBER, []),
        (contract(), NOVEMBER, []),
    ],
)
def test_the_windows_that_are_due_in_a_month(under: Contract, month: date, labels: list[str]) -> None:
    assert due(under, month) == labels


def test_each_window_is_due_under_the_terms_in_force() -> None:
    until = nightly(BEGAN, date(2026, 11, 14), version=1)
    onward = nightly(date(2026, 11, 15), date(2026, 11, 30), version=2)
    then = monthly(DECEMBER, version=3)
    under = contract(until, onward, then)
    november = [(window.label, each.version) for window, each in due_windows(under, month_window(NOVEMBER))]
    assert november == [
        *((label, 1) for label in nights("2026-11-01", "2026-11-14")),
        *((label, 2) for label in nights("2026-11-15", "2026-11-30")),
    ]
    december = list(due_windows(under, month_window(DECEMBER)))
    assert december == [(month_window(DECEMBER), then)]


def test_months_that_end_inside_a_month_are_followed_by_nights_from_the_first() -> None:
    under = contract(monthly(BEGAN, date(2026, 11, 20), version=1), nightly(DECEMBER, version=2))
    assert due(under, NOVEMBER) == ["2026-11"]
    assert due(under, DECEMBER) == nights("2026-12-01", "2026-12-31")


def test_a_version_without_floors_leaves_a_gap() -> None:
    under = contract(
        nightly(BEGAN, date(2026, 11, 10), version=1),
        nightly(date(2026, 11, 11), date(2026, 11, 20), version=2, floors=()),
        nightly(date(2026, 11, 21), version=3),
    )
    assert due(under, NOVEMBER) == [*nights("2026-11-01", "2026-11-10"), *nights("2026-11-21", "2026-11-30")]


STARTS: Final = st.lists(st.dates(date(2026, 9, 1), date(2027, 3, 31)), min_size=2, max_size=5, unique=True)


@given(starts=STARTS.map(sorted), first=st.dates(date(2026, 9, 1), date(2027, 3, 31)))
def test_the_months_of_nightly_terms_have_every_night_in_force_once(starts: list[date], first: date) -> None:
    versions = [
        nightly(start, following - timedelta(days=1), version=number)
        for number, (start, following) in enumerate(pairwise(starts), start=1)
    ]
    under = contract(*versions, first=first)
    month, labels = month_window(starts[0]), list[str]()
    while month.start.date() <= starts[-1]:
        labels += due(under, month.start.date())
        month = month_window(month.end.date())
    begins = max(first, starts[0])
    assert labels == nights(begins.isoformat(), (starts[-1] - timedelta(days=1)).isoformat())
