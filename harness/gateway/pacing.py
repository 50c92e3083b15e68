"""How fast to ask: calls in flight adapt to what the gateway says, a rate and budgets bound them (operations.md)."""

import asyncio
from collections import deque
from typing import Final

from harness.clock import Clock
from harness.gateway.answer import Answer, Reason

_GROWTH: Final = 1.0  # calls in flight gained by one full round of successes
_SHRINK: Final = 0.5  # what is left of them after a 429


class Exhausted(Exception):
    """A budget is spent: nothing more is asked. The text says which."""


class Budget:
    """Calls and returned tokens that may be spent in all; None is no limit. Every attempt counts as a call."""

    def __init__(
        self, *, max_calls: int | None = None, max_tokens: int | None = None, calls: int = 0, tokens: int = 0
    ) -> None:
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._calls = calls
        self._tokens = tokens

    def take_call(self) -> None:
        """Count a call that is about to be sent. Raises Exhausted."""
        if spent := self._spent():
            raise Exhausted(spent)
        self._calls += 1

    def _spent(self) -> str:
        if self._max_calls is not None and self._calls >= self._max_calls:
            return f"the budget of {self._max_calls} calls is spent"
        if self._max_tokens is not None and self._tokens >= self._max_tokens:
            return f"the budget of {self._max_tokens} tokens is spent"
        return ""

    def add_tokens(self, tokens: int | None) -> None:
        """Count what an answer returned."""
        self._tokens += tokens or 0


class Pacer:
    """Admits calls: at most `concurrency` in flight, fewer after a 429, and at most `rate` starts a second.

    A 429 halves the calls in flight, once for all that were in flight together, and makes everyone wait as long as it
    says; 5xx and lost connections stop growth; success grows it back.
    """

    def __init__(self, clock: Clock, *, concurrency: int, rate: float | None = None) -> None:
        self._clock = clock
        self._most = float(concurrency)
        self._allowed = float(concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._interval = 0.0 if not rate else 1.0 / rate
        self._next_start = 0.0
        self._closed_until = 0.0
        self._shrunk_at = float("-inf")

    @property
    def allowed(self) -> int:
        """Calls that may be in flight now."""
        return max(1, int(self._allowed))

    async def enter(self) -> None:
        """Wait until a call may start."""
        while self._in_flight >= self.allowed:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        self._in_flight += 1
        try:
            await self._wait_for_start()
        except BaseException:
            self.leave(None)
            raise

    def leave(self, answer: Answer | None) -> None:
        """A call ended; learn from its answer (None: it was never sent)."""
        self._in_flight -= 1
        if answer is not None:
            self._learn(answer)
        self._wake()

    async def _wait_for_start(self) -> None:
        """Take the next start at the rate and wait for it; again where the gateway closed meanwhile."""
        while True:
            now = self._clock.monotonic()
            start = max(now, self._closed_until, self._next_start)
            self._next_start = start + self._interval if self._interval else 0.0
            if start > now:
                await self._clock.sleep(start - now)
            if self._closed_until <= self._clock.monotonic():
                return

    def _learn(self, answer: Answer) -> None:
        if answer.usable:
            self._allowed = min(self._most, self._allowed + _GROWTH / self._allowed)
        elif answer.reason is Reason.RATE_LIMITED:
            now = self._clock.monotonic()
            if now - answer.latency_ms / 1000 >= self._shrunk_at:  # started since: news about the smaller number
                self._allowed = max(1.0, self._allowed * _SHRINK)
                self._shrunk_at = now
            wait = answer.attempts[-1].retry_after_s if answer.attempts else None
            self._closed_until = max(self._closed_until, now + (wait or 0.0))

    def _wake(self) -> None:
        free = self.allowed - self._in_flight
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
