"""The one retry layer: what is tried again, how often, after how long, and that nothing is hidden."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import SystemClock
from harness.gateway.answer import Answer, Question, Reason
from harness.gateway.pacing import Budget, Exhausted, Pacer
from harness.gateway.retry import Asker, RetryPolicy
from tests.gateway.asking import GOOD, Bench, attempt_of, bench
from tests.gateway.servers import QUESTION


def ask(made: Bench) -> Answer:
    return asyncio.run(made.asker.ask(QUESTION))


@pytest.mark.parametrize(
    ("reason", "status", "again"),
    [
        (None, 200, False),
        (Reason.TIMEOUT, None, True),
        (Reason.CONNECT, None, True),
        (Reason.DISCONNECTED, None, True),
        (Reason.RATE_LIMITED, 429, True),
        (Reason.HTTP_4XX, 408, True),
        (Reason.HTTP_5XX, 502, True),
        (Reason.HTTP_5XX, 503, True),
        (Reason.HTTP_5XX, 504, True),
        (Reason.HTTP_5XX, 500, False),
        (Reason.HTTP_5XX, 501, False),
        (Reason.HTTP_4XX, 400, False),
        (Reason.HTTP_4XX, 404, False),
        (Reason.HTTP_4XX, 422, False),
        (Reason.UNAUTHORIZED, 401, False),
        (Reason.FORBIDDEN, 403, False),
        (Reason.DNS, None, False),
        (Reason.TLS, None, False),
        (Reason.REDIRECTED, 302, False),
        (Reason.NOT_JSON, 200, False),
        (Reason.BAD_SHAPE, 200, False),
        (Reason.TOO_LARGE, 200, False),
        (Reason.TOOL_ERROR, 200, False),
        (Reason.TASK_FAILED, 200, False),
    ],
)
def test_what_is_tried_again(reason: Reason | None, status: int | None, again: bool) -> None:
    made = bench([attempt_of(reason, status=status), GOOD])
    answer = ask(made)
    assert len(made.client.asked_at) == len(answer.attempts) == (2 if again else 1)
    assert answer.usable is (again or reason is None)


def test_every_attempt_is_kept_with_its_ledger_entry_and_the_last_one_counts() -> None:
    script = [
        attempt_of(Reason.TIMEOUT, took=30.0),
        attempt_of(Reason.HTTP_5XX, status=503, entry="le_1", took=0.25),
        attempt_of(tokens=9, entry="le_2", took=0.5),
    ]
    answer = ask(bench(script))
    assert [(each.reason, each.ledger_entry_id, each.elapsed_ms) for each in answer.attempts] == [
        (Reason.TIMEOUT, None, 30_000),
        (Reason.HTTP_5XX, "le_1", 250),
        (None, "le_2", 500),
    ]
    assert (answer.reason, answer.ledger_entry_id, answer.tokens_returned, answer.latency_ms) == (None, "le_2", 9, 500)


@pytest.mark.parametrize("attempts", [1, 2, 4, 7])
def test_attempts_are_counted_in_all(attempts: int) -> None:
    made = bench([attempt_of(Reason.HTTP_5XX, status=503)], attempts=attempts)
    answer = ask(made)
    assert (answer.reason, len(answer.attempts), len(made.client.asked_at)) == (Reason.HTTP_5XX, attempts, attempts)


@given(seed=st.integers(), base=st.floats(0.01, 10), longest=st.floats(0.01, 30))
def test_waits_are_drawn_from_zero_to_a_doubling_backoff(seed: int, base: float, longest: float) -> None:
    made = bench(
        [attempt_of(Reason.HTTP_5XX, status=503)], seed=seed, attempts=6, base=base, longest=longest, deadline=1e9
    )
    ask(made)
    drawn = random.Random(seed)
    assert made.clock.slept == [drawn.uniform(0.0, min(longest, base * 2**k)) for k in range(5)]


def test_the_seed_decides_the_jitter() -> None:
    slept = []
    for seed in (1, 1, 2):
        made = bench([attempt_of(Reason.TIMEOUT)], seed=seed)
        ask(made)
        slept.append(made.clock.slept)
    assert slept[0] == slept[1] != slept[2]


@pytest.mark.parametrize(
    ("reason", "status", "retry_after"), [(Reason.RATE_LIMITED, 429, 9.0), (Reason.HTTP_5XX, 503, 33.5)]
)
def test_a_retry_after_is_waited_for(reason: Reason, status: int, retry_after: float) -> None:
    made = bench([attempt_of(reason, status=status, retry_after=retry_after), GOOD])
    assert ask(made).usable
    assert made.client.asked_at == [0.0, retry_after]


def test_a_short_retry_after_does_not_shorten_the_backoff() -> None:
    made = bench([attempt_of(Reason.HTTP_5XX, status=503, retry_after=0.0), GOOD], base=4.0)
    ask(made)
    assert made.clock.slept == [random.Random(0).uniform(0.0, 4.0)]


@pytest.mark.parametrize(
    ("took", "retry_after", "deadline", "asked"),
    [
        (1.0, 8.9, 10.0, 2),
        (1.0, 9.0, 10.0, 1),  # the wait would end at the deadline
        (10.0, None, 10.0, 1),
        (0.0, None, 0.0, 1),  # 0 means 0: one attempt and no other
        (4.0, 2.0, 10.0, 2),  # at 6 s the second, which ends at the deadline
        (1.0, 2.0, 10.0, 4),  # at 3, 6 and 9 s
    ],
)
def test_the_deadline_counts_from_the_first_attempt(
    took: float, retry_after: float | None, deadline: float, asked: int
) -> None:
    busy = attempt_of(Reason.RATE_LIMITED, status=429, retry_after=retry_after, took=took)
    made = bench([busy], attempts=9, deadline=deadline, base=0.0)
    answer = ask(made)
    assert len(made.client.asked_at) == len(answer.attempts) == asked
    assert answer.reason is Reason.RATE_LIMITED


def test_every_attempt_takes_from_the_budget_of_calls() -> None:
    made = bench([attempt_of(Reason.HTTP_5XX, status=503)], budget=Budget(max_calls=2))
    answer = ask(made)
    assert (answer.reason, len(answer.attempts)) == (Reason.HTTP_5XX, 2)  # what came stands
    with pytest.raises(Exhausted) as caught:
        ask(made)
    assert str(caught.value) == "the budget of 2 calls is spent"
    assert len(made.client.asked_at) == 2


def test_returned_tokens_take_from_the_budget_of_tokens() -> None:
    made = bench([attempt_of(tokens=6)], budget=Budget(max_tokens=10))
    assert [ask(made).usable for _ in range(2)] == [True, True]  # 6 is below 10, so the second is still asked
    with pytest.raises(Exhausted) as caught:
        ask(made)
    assert str(caught.value) == "the budget of 10 tokens is spent"


@pytest.mark.parametrize(
    ("budget", "calls"),
    [(Budget(max_calls=5, calls=3), 2), (Budget(max_calls=0), 0), (Budget(max_tokens=0), 0), (Budget(max_calls=1), 1)],
)
def test_budgets_count_what_was_spent_before_and_zero_is_zero(budget: Budget, calls: int) -> None:
    for _ in range(calls):
        budget.take_call()
    with pytest.raises(Exhausted):
        budget.take_call()


def test_a_client_that_breaks_leaves_its_place() -> None:
    """An error of ours is not swallowed, and those who wait are let in."""
    made = bench([ZeroDivisionError()] * 9 + [GOOD])

    async def run() -> list[Answer | BaseException]:
        return await asyncio.gather(*(made.asker.ask(QUESTION) for _ in range(10)), return_exceptions=True)

    *failed, last = asyncio.run(run())
    assert {type(each) for each in failed} == {ZeroDivisionError}
    assert last == GOOD


def test_an_attempt_is_cut_off_when_the_deadline_of_its_item_ends() -> None:
    """On the real clock: the transport would wait for ever."""

    class Silent:
        async def ask_once(self, question: Question) -> Answer:
            await asyncio.Event().wait()
            raise AssertionError(question)

        async def aclose(self) -> None: ...

    clock = SystemClock()
    asker = Asker(
        Silent(),
        clock,
        pacer=Pacer(clock, concurrency=1),
        budget=Budget(),
        policy=RetryPolicy(attempts=4, deadline=0.05),
        jitter=random.Random(0),
    )
    answer = asyncio.run(asker.ask(QUESTION))
    assert answer.reason is Reason.TIMEOUT
    assert [attempt.reason for attempt in answer.attempts] == [Reason.TIMEOUT]
