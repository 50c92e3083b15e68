"""Collecting holds the night: the lease is renewed while answers come in."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine, select

from harness.clock import utc_text
from harness.gateway.answer import Answer, Attempt, Question
from harness.nightly.collect import Progress, Sitting, Stops, collect
from harness.nightly.plan import asking_order, plan_society
from harness.store.engine import reading
from harness.store.files import BlobStore
from harness.store.lease import LEASE_SECONDS, hold_night
from harness.store.runs import Run, RunSociety, count_usable, create_run
from harness.store.schema import LEASE
from harness.testset.society import load_society
from tests.clock import FakeClock
from tests.shared import TESTSETS

NIGHT = date(2026, 11, 29)
PLAN = plan_society(load_society(TESTSETS / "awwa"), NIGHT)


class Slow:
    """Answers everything, each answer taking twenty seconds of the clock."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    async def ask(self, question: Question) -> Answer:
        await self._clock.sleep(20)
        await asyncio.sleep(0.02)  # lets the writer see the clock
        return Answer(raw=b'{"passages": []}', attempts=(Attempt(elapsed_ms=20_000, http_status=200),))


class Quiet:
    def advance(self, answered: int) -> None: ...

    def close(self) -> None: ...


def test_a_long_night_keeps_its_lease(engine: Engine, tmp_path: Path) -> None:
    clock = FakeClock(datetime(2026, 11, 29, 2, 17, tzinfo=UTC))
    begun = clock.now()
    with hold_night(engine, tmp_path / "locks", NIGHT.isoformat(), clock) as lease:
        _run(engine)
        quiet: Progress = Quiet()
        sitting = Sitting(
            engine=engine,
            blobs=BlobStore(tmp_path / "blobs"),
            clock=clock,
            lease=lease,
            run_id="r1",
            number=1,
            pending=asking_order([PLAN], "seed"),
            concurrency=1,
            stops=Stops(closes=begun + timedelta(days=1)),
            progress=quiet,
        )
        collected = asyncio.run(collect(sitting, Slow(clock), set()))
        assert (collected.asked, collected.usable, collected.stopped) == (25, 25, None)
        assert count_usable(engine, "r1") == 25
        assert clock.now() - begun > timedelta(seconds=3 * LEASE_SECONDS)
        with reading(engine) as connection:
            expires = connection.execute(select(LEASE.c.expires_at)).scalar_one()
        assert expires > utc_text(begun + timedelta(seconds=2 * LEASE_SECONDS))


def _run(engine: Engine) -> None:
    run = Run(
        run_id="r1",
        night=NIGHT.isoformat(),
        attempt=1,
        state="open",
        seed="seed",
        transport="rest",
        gateway="v1",
        harness_version="0",
        started_at="2026-11-29T02:17:00.000000Z",
    )
    part = RunSociety(
        run_id="r1",
        slug="awwa",
        snapshot_sha256="0" * 64,
        testset_version="1",
        testset_sha256="0" * 64,
        terms_version=1,
        terms_sha256="0" * 64,
        window="night",
        items=25,
        expectations=30,
    )
    create_run(engine, run, [part])
