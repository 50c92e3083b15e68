"""The one retry layer, over any transport (gateway.md, Faults)."""

import asyncio
import random
from dataclasses import dataclass, replace
from typing import Final

from harness.clock import Clock
from harness.gateway.answer import Answer, Attempt, GatewayClient, Question, Reason
from harness.gateway.pacing import Budget, Exhausted, Pacer

_TRANSIENT: Final = frozenset({Reason.TIMEOUT, Reason.CONNECT, Reason.DISCONNECTED, Reason.RATE_LIMITED})
_TRANSIENT_STATUS: Final = frozenset({408, 429, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long. `attempts` in all, at least 1; seconds elsewhere. A wait is drawn from 0 to
    `base * 2**k`, at most `longest` (full jitter); `deadline` bounds an item from its first attempt on."""

    attempts: int = 4
    deadline: float = 120.0
    base: float = 0.5
    longest: float = 20.0


class Asker:
    """Asks a question until there is a usable answer, the policy is spent, or the failure is not a passing one."""

    def __init__(
        self,
        client: GatewayClient,
        clock: Clock,
        *,
        pacer: Pacer,
        budget: Budget,
        policy: RetryPolicy,
        jitter: random.Random,
    ) -> None:
        self._client = client
        self._clock = clock
        self._pacer = pacer
        self._budget = budget
        self._policy = policy
        self._jitter = jitter

    async def ask(self, question: Question) -> Answer:
        """The last attempt's answer with every attempt in it. Raises Exhausted before a first call that no budget
        covers; a budget that ends between attempts leaves the last answer standing."""
        answer = await self._attempt(question, self._policy.deadline)
        begun = self._clock.monotonic() - answer.latency_ms / 1000
        while (wait := self._wait_before_next(answer)) is not None:
            if self._clock.monotonic() - begun + wait >= self._policy.deadline:
                break
            await self._clock.sleep(wait)
            try:
                following = await self._attempt(question, begun + self._policy.deadline - self._clock.monotonic())
            except Exhausted:
                break
            answer = replace(following, attempts=answer.attempts + following.attempts)
        return answer

    async def _attempt(self, question: Question, seconds: float) -> Answer:
        """One attempt that is cut off when the item's deadline ends: whichever clock ends a call, it was sent."""
        await self._pacer.enter()
        answer: Answer | None = None
        try:
            self._budget.take_call()
            begun = self._clock.monotonic()
            try:
                async with asyncio.timeout(seconds):
                    answer = await self._client.ask_once(question)
            except TimeoutError:
                elapsed = round((self._clock.monotonic() - begun) * 1000)
                answer = Answer(reason=Reason.TIMEOUT, attempts=(Attempt(elapsed_ms=elapsed, reason=Reason.TIMEOUT),))
        finally:
            self._pacer.leave(answer)
        self._budget.add_tokens(answer.tokens_returned)
        return answer

    def _wait_before_next(self, answer: Answer) -> float | None:
        """Seconds until the next attempt, None where there is none to make."""
        if answer.usable or len(answer.attempts) >= self._policy.attempts:
            return None
        last = answer.attempts[-1]
        if answer.reason not in _TRANSIENT and last.http_status not in _TRANSIENT_STATUS:
            return None
        backoff = min(self._policy.longest, self._policy.base * 2.0 ** (len(answer.attempts) - 1))
        return max(last.retry_after_s or 0.0, self._jitter.uniform(0.0, backoff))
