"""The logical night: a UTC date with a collection window."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest

from harness.errors import UsageError
from harness.nightly.night import CollectionWindow, parse_night

WHOLE = CollectionWindow()
NARROW = CollectionWindow(opens=time(2, 0), closes=time(6, 0))
NIGHT = date(2026, 11, 29)


@pytest.mark.parametrize(
    ("window", "moment", "inside"),
    [
        (WHOLE, datetime(2026, 11, 29, 0, 0, tzinfo=UTC), True),
        (WHOLE, datetime(2026, 11, 29, 23, 59, 59, 999999, tzinfo=UTC), True),
        (WHOLE, datetime(2026, 11, 30, 0, 0, tzinfo=UTC), False),
        (WHOLE, datetime(2026, 11, 28, 23, 59, 59, tzinfo=UTC), False),
        (NARROW, datetime(2026, 11, 29, 1, 59, 59, tzinfo=UTC), False),
        (NARROW, datetime(2026, 11, 29, 2, 0, tzinfo=UTC), True),
        (NARROW, datetime(2026, 11, 29, 6, 0, tzinfo=UTC), False),
    ],
)
def test_the_window_is_half_open(window: CollectionWindow, moment: datetime, inside: bool) -> None:
    assert window.contains(NIGHT, moment) is inside


def test_the_night_is_a_utc_date_wherever_the_clock_stands() -> None:
    tokyo = datetime(2026, 11, 30, 8, 30, tzinfo=timezone(timedelta(hours=9)))
    assert WHOLE.current_night(tokyo) == NIGHT


def test_error_no_window_is_open() -> None:
    with pytest.raises(UsageError) as refused:
        NARROW.current_night(datetime(2026, 11, 29, 7, 5, tzinfo=UTC))
    assert str(refused.value) == (
        "no night's collection window is open at 07:05 UTC: it is 02:00 to 06:00 UTC. Start again inside it."
    )


@pytest.mark.parametrize("text", ["20261129", "2026-11-31", "tonight", "2026-11-29 ", ""])
def test_error_a_night_that_is_no_date(text: str) -> None:
    with pytest.raises(UsageError, match="expected a date such as 2026-11-29"):
        parse_night(text)
