"""The only place that tells the time."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations, and waiting."""

    def now(self) -> datetime:
        """Current time, timezone-aware, UTC."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary origin, never going back."""

    async def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def utc_text(moment: datetime) -> str:
    """Timestamp as stored and published: `2026-11-30T02:17:05.123456Z` (always six decimals, sorts as text)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
