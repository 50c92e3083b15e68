"""What a settlement is about: one floor of one society over one window, in UTC (sla.md, Settlements)."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time that a floor is assessed over; `start` inclusive, `end` exclusive, UTC."""

    kind: Literal["night", "calendar_month"]
    label: str
    start: datetime
    end: datetime


def night_window(night: date) -> Window:
    """The window of one night: its whole UTC date."""
    start = datetime.combine(night, time(0), UTC)
    return Window(kind="night", label=night.isoformat(), start=start, end=start + timedelta(days=1))


def subject_of(slug: str, measure: str, window: Window) -> str:
    """The settlement's subject: `slf_asme_citation_correctness_2026-11-29`."""
    return f"slf_{slug}_{measure}_{window.label}"
