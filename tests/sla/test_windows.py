"""Windows in UTC: a night, a calendar month of any length, and the nights of it that terms are in force on."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sla.windows import month_window, night_window, nights_in_force, subject_of, window_of
from tests.sla.factories import terms

DATES = st.dates(min_value=date(1999, 1, 1), max_value=date(2120, 12, 31))


def midnight(year: int, month: int, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def test_a_night_is_its_whole_utc_date() -> None:
    window = night_window(date(2026, 12, 31))
    assert (window.kind, window.label) == ("night", "2026-12-31")
    assert (window.start, window.end) == (midnight(2026, 12, 31), midnight(2027, 1))
    assert list(window.nights) == [date(2026, 12, 31)]
    assert subject_of("asme", "mrr", window) == "slf_asme_mrr_2026-12-31"


@pytest.mark.parametrize(
    ("night", "label", "end", "nights"),
    [
        (date(2026, 11, 1), "2026-11", midnight(2026, 12), 30),
        (date(2026, 11, 30), "2026-11", midnight(2026, 12), 30),
        (date(2026, 12, 1), "2026-12", midnight(2027, 1), 31),
        (date(2026, 12, 31), "2026-12", midnight(2027, 1), 31),
        (date(2027, 1, 31), "2027-01", midnight(2027, 2), 31),
        (date(2027, 2, 28), "2027-02", midnight(2027, 3), 28),
        (date(2028, 2, 29), "2028-02", midnight(2028, 3), 29),
        (date(2100, 2, 1), "2100-02", midnight(2100, 3), 28),
        (date(2026, 4, 15), "2026-04", midnight(2026, 5), 30),
    ],
)
def test_a_month_ends_where_the_next_one_starts(night: date, label: str, end: datetime, nights: int) -> None:
    window = month_window(night)
    assert (window.kind, window.label) == ("calendar_month", label)
    assert (window.start, window.end) == (midnight(night.year, night.month), end)
    assert len(list(window.nights)) == nights
    assert subject_of("asme", "citation_correctness", window) == f"slf_asme_citation_correctness_{label}"


@given(night=DATES)
def test_every_night_is_in_its_own_month_and_in_no_other(night: date) -> None:
    window = month_window(night)
    nights = list(window.nights)
    assert nights == [each for each in nights if (each.year, each.month) == (night.year, night.month)]
    assert nights[0].day == 1
    assert (nights[-1] + timedelta(days=1)).day == 1
    assert all(after - before == timedelta(days=1) for before, after in pairwise(nights))
    assert {month_window(each) for each in nights} == {window}
    assert month_window(window.end.date()).start == window.end


@given(night=DATES)
def test_the_nights_of_a_month_tile_it(night: date) -> None:
    month = month_window(night)
    nights = [night_window(each) for each in month.nights]
    assert (nights[0].start, nights[-1].end) == (month.start, month.end)
    assert all(before.end == after.start for before, after in pairwise(nights))


@pytest.mark.parametrize(("kind", "label"), [("night", "2026-11-29"), ("calendar_month", "2026-11")])
def test_a_night_counts_in_the_window_that_the_terms_name(kind: Any, label: str) -> None:
    window = window_of(terms(window=kind), date(2026, 11, 29))
    assert (window.kind, window.label) == (kind, label)


@pytest.mark.parametrize(
    ("start", "end", "first", "last", "count"),
    [
        (date(2026, 1, 1), None, 1, 28, 28),
        (date(2027, 2, 1), date(2027, 2, 28), 1, 28, 28),
        (date(2027, 2, 10), None, 10, 28, 19),
        (date(2026, 1, 1), date(2027, 2, 10), 1, 10, 10),
        (date(2027, 2, 10), date(2027, 2, 12), 10, 12, 3),
        (date(2027, 2, 28), date(2027, 3, 31), 28, 28, 1),
        (date(2026, 1, 1), date(2027, 2, 1), 1, 1, 1),
    ],
)
def test_terms_are_in_force_from_their_first_to_their_last_night(
    start: date, end: date | None, first: int, last: int, count: int
) -> None:
    nights = nights_in_force(terms(effective_from=start, effective_to=end), month_window(date(2027, 2, 14)))
    assert (nights[0].day, nights[-1].day, len(nights)) == (first, last, count)


@pytest.mark.parametrize(("start", "end"), [(date(2026, 1, 1), date(2027, 1, 31)), (date(2027, 3, 1), None)])
def test_terms_that_ended_before_or_start_after_a_month_have_no_night_in_it(start: date, end: date | None) -> None:
    assert nights_in_force(terms(effective_from=start, effective_to=end), month_window(date(2027, 2, 14))) == ()


def test_a_night_is_in_force_or_not() -> None:
    ending = terms(effective_to=date(2026, 11, 29))
    assert nights_in_force(ending, night_window(date(2026, 11, 29))) == (date(2026, 11, 29),)
    assert nights_in_force(ending, night_window(date(2026, 11, 30))) == ()
