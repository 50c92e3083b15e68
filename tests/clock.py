"""A clock that stands still until it is told or slept on."""

import asyncio
from datetime import UTC, datetime, timedelta


class FakeClock:
    """A Clock for tests: `sleep` returns at once with the time moved on; sleepers that overlap do not add up."""

    def __init__(self, start: datetime = datetime(2026, 3, 1, 2, 17, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self.slept: list[float] = []
        """The seconds of every sleep, in order."""

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._elapsed += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self._elapsed + seconds
        await asyncio.sleep(0)
        self._elapsed = max(self._elapsed, until)
