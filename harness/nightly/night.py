"""The logical night: a UTC date with a collection window (operations.md)."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from harness.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionWindow:
    """The part of each UTC date in which answers may be collected; `closes` None is 24:00."""

    opens: time = time(0, 0)
    closes: time | None = None

    def bounds(self, night: date) -> tuple[datetime, datetime]:
        """Start (inclusive) and end (exclusive) of the night's window, UTC."""
        start = datetime.combine(night, self.opens, UTC)
        if self.closes is None:
            return start, datetime.combine(night + timedelta(days=1), time(0, 0), UTC)
        return start, datetime.combine(night, self.closes, UTC)

    def contains(self, night: date, moment: datetime) -> bool:
        start, end = self.bounds(night)
        return start <= moment < end

    def current_night(self, moment: datetime) -> date:
        """The night whose window contains the moment. Raises UsageError outside of every window."""
        night = moment.astimezone(UTC).date()
        if not self.contains(night, moment):
            start, end = self.bounds(night)
            raise UsageError(
                f"no night's collection window is open at {moment:%H:%M} UTC: it is {start:%H:%M} to "
                f"{'24:00' if self.closes is None else format(end, '%H:%M')} UTC. Start again inside it."
            )
        return night


def parse_night(text: str) -> date:
    """A night as people write it: `2026-11-29`. Raises UsageError."""
    try:
        night = date.fromisoformat(text)
    except ValueError:
        night = None
    if night is None or night.isoformat() != text:
        raise UsageError(f"night: found {text!r}; expected a date such as 2026-11-29")
    return night


def parse_month(text: str) -> date:
    """The first night of a month as people write it: `2026-11`. Raises UsageError."""
    try:
        return parse_night(f"{text}-01")
    except UsageError:
        raise UsageError(f"month: found {text[:40]!r}; expected a month such as 2026-11") from None
