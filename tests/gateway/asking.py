"""A client that answers from a script, under a clock that stands still."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.gateway.answer import Answer, Attempt, Question, Reason
from harness.gateway.pacing import Budget, Pacer
from harness.gateway.retry import Asker, RetryPolicy
from tests.clock import FakeClock


def attempt_of(
    reason: Reason | None = None,
    *,
    status: int | None = None,
    retry_after: float | None = None,
    took: float = 0.0,
    tokens: int | None = None,
    entry: str | None = None,
) -> Answer:
    """The answer of one attempt that took so many seconds; usable without a reason."""
    attempt = Attempt(
        elapsed_ms=round(took * 1000),
        http_status=200 if reason is None else status,
        reason=reason,
        retry_after_s=retry_after,
        ledger_entry_id=entry,
    )
    return Answer(reason=reason, attempts=(attempt,), tokens_returned=tokens, ledger_entry_id=entry)


GOOD = attempt_of()


@dataclass(slots=True)
class ScriptedClient:
    """A GatewayClient that gives the answers in turn, the last one for ever; `asked_at` are the clock's seconds.

    An exception in the script is raised.
    """

    clock: FakeClock
    answers: list[Answer | Exception]
    asked_at: list[float] = field(default_factory=list)

    async def ask_once(self, question: Question) -> Answer:
        self.asked_at.append(self.clock.monotonic())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        self.clock.advance(answer.latency_ms / 1000)
        return answer

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass(slots=True, kw_only=True)
class Bench:
    """An asker over a scripted client, and what is around it."""

    clock: FakeClock
    client: ScriptedClient
    pacer: Pacer
    asker: Asker


def bench(
    answers: Iterable[Answer | Exception], *, budget: Budget | None = None, seed: int = 0, **policy: Any
) -> Bench:
    """An asker whose client gives these answers."""
    clock = FakeClock()
    client = ScriptedClient(clock, list(answers))
    pacer = Pacer(clock, concurrency=4)
    asker = Asker(
        client,
        clock,
        pacer=pacer,
        budget=budget or Budget(),
        policy=RetryPolicy(**policy),
        jitter=random.Random(seed),
    )
    return Bench(clock=clock, client=client, pacer=pacer, asker=asker)
