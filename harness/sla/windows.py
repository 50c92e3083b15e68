"""What a settlement is about: one floor of one society over one window, in UTC (sla.md, Settlements)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from harness.testset.model import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time that a floor is assessed over; `start` inclusive, `end` exclusive, UTC midnights."""

    kind: Literal["night", "calendar_month"]
    label: str
    start: datetime
    end: datetime

    @property
    def nights(self) -> Iterator[date]:
        """The nights that belong to it, oldest first."""
        night = self.start.date()
        while night < self.end.date():
            yield night
            night += timedelta(days=1)


def night_window(night: date) -> Window:
    """The window of one night: its whole UTC date."""
    start = datetime.combine(night, time(0), UTC)
    return Window(kind="night", label=night.isoformat(), start=start, end=start + timedelta(days=1))


def month_window(night: date) -> Window:
    """The calendar month that a night belongs to, labelled `2026-11`."""
    start = datetime.combine(night.replace(day=1), time(0), UTC)
    after = (start + timedelta(days=31)).replace(day=1)
    return Window(kind="calendar_month", label=f"{start:%Y-%m}", start=start, end=after)


def window_of(terms: Terms, night: date) -> Window:
    """The window of these terms that a night counts in."""
    return month_window(night) if terms.window == "calendar_month" else night_window(night)


def nights_in_force(terms: Terms, window: Window) -> tuple[date, ...]:
    """The nights of a window on which the terms are in force: those that are expected to be measured."""
    return tuple(night for night in window.nights if terms.in_force_on(night))


def subject_of(slug: str, measure: str, window: Window) -> str:
    """The settlement's subject: `slf_asme_citation_correctness_2026-11-29`, of a month `…_2026-11`."""
    return f"slf_{slug}_{measure}_{window.label}"
