"""The pacer: how many calls are in flight, how often one starts, and when none may."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gateway.answer import Answer, Reason
from harness.gateway.pacing import Pacer
from tests.clock import FakeClock
from tests.gateway.asking import GOOD, attempt_of

BUSY = attempt_of(Reason.RATE_LIMITED, status=429)
FAILED = attempt_of(Reason.HTTP_5XX, status=500)


async def passing(pacer: Pacer, *answers: Answer | None) -> None:
    """One call after another, each ending with its answer."""
    for answer in answers:
        await pacer.enter()
        pacer.leave(answer)


def pacer_after(*answers: Answer | None, concurrency: int = 64) -> Pacer:
    pacer = Pacer(FakeClock(), concurrency=concurrency)
    asyncio.run(passing(pacer, *answers))
    return pacer


@pytest.mark.parametrize(
    ("answers", "allowed"),
    [
        ([], 64),
        ([GOOD] * 100, 64),  # never more than it may
        ([BUSY], 32),
        ([BUSY] * 3, 8),
        ([BUSY] * 20, 1),  # never none
        ([BUSY, FAILED, FAILED], 32),  # a failure neither shrinks nor grows
        ([BUSY, None], 32),  # nor does a call that was never sent
        ([BUSY, *[GOOD] * 33], 33),  # a round of successes is one more
        ([BUSY] * 20 + [GOOD] * 4, 3),  # 1, 2, 2.5, 2.9, 3.24
    ],
)
def test_calls_in_flight_shrink_and_grow(answers: list[Answer | None], allowed: int) -> None:
    assert pacer_after(*answers).allowed == allowed


def test_refusals_of_one_moment_shrink_once() -> None:
    """64 calls that were refused together are one piece of news, not 64."""

    async def run() -> int:
        clock = FakeClock()
        pacer = Pacer(clock, concurrency=64)
        for _ in range(64):
            await pacer.enter()
        for number in range(64):
            clock.advance(0.01)
            pacer.leave(attempt_of(Reason.RATE_LIMITED, status=429, took=1.0 + number * 0.01))
        return pacer.allowed

    assert asyncio.run(run()) == 32


@given(
    answers=st.lists(st.sampled_from([GOOD, BUSY, FAILED, None]), max_size=60),
    concurrency=st.integers(1, 20),
    workers=st.integers(1, 30),
)
def test_no_more_are_in_flight_than_allowed_and_all_get_in(
    answers: list[Answer | None], concurrency: int, workers: int
) -> None:
    pacer = Pacer(FakeClock(), concurrency=concurrency)
    inside, most, done = 0, 0, 0

    async def work() -> None:
        nonlocal inside, most, done
        while answers:
            answer = answers.pop()
            await pacer.enter()
            inside += 1
            most = max(most, inside)
            # Whoever entered did so within what was allowed then; those before it may still be on their way out.
            assert inside <= concurrency
            await asyncio.sleep(0)
            inside -= 1
            pacer.leave(answer)
            done += 1

    async def run() -> None:
        await asyncio.wait_for(asyncio.gather(*(work() for _ in range(workers))), 30)

    expected = len(answers)
    asyncio.run(run())
    assert done == expected
    assert most <= concurrency


def test_after_shrinking_nobody_starts_until_enough_have_left() -> None:
    async def run() -> list[int]:
        pacer = Pacer(FakeClock(), concurrency=4)
        started = 0

        async def start() -> None:
            nonlocal started
            await pacer.enter()
            started += 1

        waiting = [asyncio.create_task(start()) for _ in range(8)]
        counts = []
        for answer in (None, BUSY, FAILED, FAILED, FAILED):
            await settle()
            counts.append(started)
            pacer.leave(answer)
        await settle()
        counts.append(started)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return counts

    # 4 run; one leaves and a fifth starts; a 429 allows 2: of the 3 left one leaves, then each that leaves lets one in.
    assert asyncio.run(run()) == [4, 5, 5, 5, 6, 7]


async def settle() -> None:
    """Let every task that can run come to rest."""
    for _ in range(20):
        await asyncio.sleep(0)


async def starts(pacer: Pacer, clock: FakeClock, number: int) -> list[float]:
    moments = []
    for _ in range(number):
        await pacer.enter()
        moments.append(clock.monotonic())
        pacer.leave(GOOD)
    return moments


@pytest.mark.parametrize(
    ("rate", "moments"),
    [
        (None, [0.0, 0.0, 0.0, 0.0]),
        (2.0, [0.0, 0.5, 1.0, 1.5]),
        (0.1, [0.0, 10.0, 20.0, 30.0]),
    ],
)
def test_a_rate_spaces_the_starts(rate: float | None, moments: list[float]) -> None:
    clock = FakeClock()
    pacer = Pacer(clock, concurrency=8, rate=rate)
    assert asyncio.run(starts(pacer, clock, 4)) == pytest.approx(moments)


def test_unused_time_is_not_saved_up_for_a_burst() -> None:
    clock = FakeClock()
    pacer = Pacer(clock, concurrency=8, rate=2.0)

    async def run() -> list[float]:
        before = await starts(pacer, clock, 1)
        clock.advance(100.0)
        return before + await starts(pacer, clock, 3)

    assert asyncio.run(run()) == pytest.approx([0.0, 100.0, 100.5, 101.0])


def test_workers_share_the_rate() -> None:
    clock = FakeClock()
    pacer = Pacer(clock, concurrency=8, rate=4.0)
    moments: list[float] = []

    async def work() -> None:
        await pacer.enter()
        moments.append(clock.monotonic())
        pacer.leave(GOOD)

    async def run() -> None:
        await asyncio.gather(*(work() for _ in range(6)))

    asyncio.run(run())
    assert clock.slept == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.25])
    assert len(moments) == 6


@pytest.mark.parametrize(
    ("waits", "rate", "moments"),
    [
        ([7.0], None, [7.0, 7.0]),
        ([7.0], 1.0, [7.0, 8.0]),
        ([7.0, 2.0], None, [7.0, 7.0]),  # a later and shorter one does not open earlier
        ([0.0], None, [0.0, 0.0]),
        ([None], None, [0.0, 0.0]),
    ],
)
def test_a_429_closes_for_everybody_as_long_as_it_says(
    waits: list[float | None], rate: float | None, moments: list[float]
) -> None:
    clock = FakeClock()
    pacer = Pacer(clock, concurrency=8, rate=rate)

    async def run() -> list[float]:
        for _ in waits:
            await pacer.enter()
        clock.advance(-clock.monotonic())  # the starts above may have been spaced
        for wait in waits:
            pacer.leave(attempt_of(Reason.RATE_LIMITED, status=429, retry_after=wait))
        return await starts(pacer, clock, 2)

    assert asyncio.run(run()) == pytest.approx(moments)


def test_one_that_gives_up_waiting_takes_no_place() -> None:
    async def run() -> bool:
        pacer = Pacer(FakeClock(), concurrency=1)
        await pacer.enter()
        first, second = (asyncio.create_task(pacer.enter()) for _ in range(2))
        await settle()
        pacer.leave(GOOD)  # it is the first one's turn
        first.cancel()
        await settle()
        return second.done()

    assert asyncio.run(run())


def test_one_that_gives_up_while_the_gateway_is_closed_takes_no_place() -> None:
    class Stopped(FakeClock):
        stopped = True

        async def sleep(self, seconds: float) -> None:
            if self.stopped:
                await asyncio.get_running_loop().create_future()
            await super().sleep(seconds)

    async def run() -> None:
        clock = Stopped()
        pacer = Pacer(clock, concurrency=2)
        await passing(pacer, attempt_of(Reason.RATE_LIMITED, status=429, retry_after=60.0))
        tasks = [asyncio.create_task(pacer.enter()) for _ in range(3)]
        await settle()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        clock.stopped = False
        await asyncio.wait_for(pacer.enter(), 30)

    asyncio.run(run())
