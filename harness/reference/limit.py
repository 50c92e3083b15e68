"""How many calls a second a key may make."""

import math

from harness.clock import Clock


class RateLimit:
    """A bucket per key that holds one second of calls and refills at `rate` calls a second; None admits everything."""

    def __init__(self, clock: Clock, rate: float | None) -> None:
        self._clock = clock
        self._rate = rate
        self._most = max(1.0, rate or 0.0)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> int | None:
        """Admit a call: None. Refuse it: whole seconds after which one is admitted, at least 1 (Retry-After)."""
        if self._rate is None:
            return None
        now = self._clock.monotonic()
        held, since = self._buckets.get(key, (self._most, now))
        held = min(self._most, held + (now - since) * self._rate)
        admitted = held >= 1.0
        self._buckets[key] = (held - 1.0 if admitted else held, now)
        return None if admitted else max(1, math.ceil((1.0 - held) / self._rate))
