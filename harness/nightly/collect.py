"""Collect: ask every item that has no answer yet, and keep each answer durably (operations.md, Asking)."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from sqlalchemy import Engine

from harness.clock import Clock, utc_text
from harness.errors import HarnessError
from harness.gateway.answer import Answer, GatewayClient, Question, Reason
from harness.gateway.pacing import Exhausted
from harness.nightly.plan import SocietyPlan
from harness.store.files import BlobStore
from harness.store.lease import LEASE_SECONDS, Lease
from harness.store.runs import add_answers, refuse_society
from harness.store.transcripts import Transcript, save_segment
from harness.testset.model import Item

BATCH: Final = 256
"""Answers in one segment: what a kill can lose, beside the calls in flight."""
FLUSH_SECONDS: Final = 1.0
WATCH_SECONDS: Final = 0.1
WINDOW_CLOSED: Final = "the night's window closed"


class Interrupted(HarnessError):
    """SIGINT or SIGTERM: what was in flight is stored and the run can be resumed."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("interrupted: what was in flight is stored; start the night again to go on")
        self.exit_code = 128 + signal_number


class AsksQuestions(Protocol):
    """The retry layer over a transport."""

    async def ask(self, question: Question) -> Answer: ...


class Progress(Protocol):
    """Told of each stored batch, and closed at the end."""

    def advance(self, answered: int) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stops:
    """When to stop asking although items are left. `closes` is the end of the night's window."""

    closes: datetime
    deadline: float | None = None  # seconds of this sitting
    interrupted: Callable[[], int] = field(default=lambda: 0)  # the signal's number, 0 for none

    def passed(self, clock: Clock, begun: float) -> str | None:
        """Which of the clocks has run out, None while there is time; `begun` is the sitting's start, monotonic."""
        if clock.now() >= self.closes:
            return WINDOW_CLOSED
        if self.deadline is not None and clock.monotonic() - begun >= self.deadline:
            return "the run's deadline passed"
        return None


class TimedClient:
    """A client that lets no request leave once the sitting's time has run out, however long its turn took to come."""

    def __init__(self, client: GatewayClient, stops: Stops, clock: Clock) -> None:
        self._client = client
        self._stops = stops
        self._clock = clock
        self._begun = clock.monotonic()

    async def ask_once(self, question: Question) -> Answer:
        if passed := self._stops.passed(self._clock, self._begun):
            raise Exhausted(passed)
        return await self._client.ask_once(question)

    async def aclose(self) -> None:
        await self._client.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """One start or resumption of a run: what is left to ask and where its answers go."""

    engine: Engine
    blobs: BlobStore
    clock: Clock
    lease: Lease
    run_id: str
    number: int
    pending: Sequence[tuple[SocietyPlan, Item]]
    concurrency: int
    stops: Stops
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """How a sitting ended. `stopped` None: everything pending was asked. `asked` and `usable` count this sitting's
    answers, `wrong_address` those of them that were a 4xx."""

    asked: int
    usable: int
    wrong_address: int
    stopped: str | None
    interrupted: int


async def collect(sitting: Sitting, asker: AsksQuestions, in_flight: Collection[str]) -> Collected:
    """Ask what is pending; return when all is stored. `in_flight` are the refs of requests that are under way now.

    Raises StoreError when an answer cannot be kept.
    """
    return await _Collector(sitting, asker, in_flight).run()


class _Collector:
    """The state of a sitting: a shared stream of items, workers that ask, one writer that stores."""

    def __init__(self, sitting: Sitting, asker: AsksQuestions, in_flight: Collection[str]) -> None:
        self._sitting = sitting
        self._asker = asker
        self._in_flight = in_flight
        self._asking: dict[asyncio.Task[None], str] = {}
        self._items: Iterator[tuple[SocietyPlan, Item]] = iter(sitting.pending)
        self._queue: asyncio.Queue[Transcript | None] = asyncio.Queue(maxsize=4 * BATCH)
        self._asked = 0
        self._usable = 0
        self._wrong_address = 0
        self._stopped: str | None = None
        self._interrupted = 0
        self._refused: set[str] = set()
        self._begun = sitting.clock.monotonic()
        self._renewed = self._begun

    async def run(self) -> Collected:
        workers = min(self._sitting.concurrency, max(1, len(self._sitting.pending)))
        async with asyncio.TaskGroup() as group:
            group.create_task(self._write())
            watch = group.create_task(self._watch_for_signal())
            asking = [group.create_task(self._ask_in_turn()) for _ in range(workers)]
            await asyncio.wait(asking)
            watch.cancel()
            await self._queue.put(None)
        return Collected(
            asked=self._asked,
            usable=self._usable,
            wrong_address=self._wrong_address,
            stopped=self._stopped,
            interrupted=self._interrupted,
        )

    async def _ask_in_turn(self) -> None:
        clock = self._sitting.clock
        worker = asyncio.current_task()
        assert worker is not None  # noqa: S101 - a coroutine runs in a task
        for plan, item in self._items:
            if plan.society.slug in self._refused:
                continue
            if self._must_stop():
                return
            asked_at = utc_text(clock.now())
            question = plan.question(item)
            self._asking[worker] = question.ref
            try:
                answer = await self._asker.ask(question)
            except Exhausted as spent:
                self._stopped = str(spent)
                return
            finally:
                del self._asking[worker]
            self._learn(plan, answer)
            await self._queue.put(
                Transcript(
                    slug=plan.society.slug,
                    item_id=item.id,
                    question=question,
                    answer=answer,
                    asked_at=asked_at,
                    answered_at=utc_text(clock.now()),
                )
            )

    async def _watch_for_signal(self) -> None:
        """On a signal, drop the questions that wait for their turn or between attempts; requests under way end."""
        while not self._sitting.stops.interrupted():
            await self._sitting.clock.sleep(WATCH_SECONDS)
        self._must_stop()
        for worker, ref in list(self._asking.items()):
            if ref not in self._in_flight:
                worker.cancel()

    def _must_stop(self) -> bool:
        stops, clock = self._sitting.stops, self._sitting.clock
        if self._stopped is None:
            if number := stops.interrupted():
                self._interrupted, self._stopped = number, "interrupted"
            else:
                self._stopped = stops.passed(clock, self._begun)
        return self._stopped is not None

    def _learn(self, plan: SocietyPlan, answer: Answer) -> None:
        """What one answer says about those to come: some refusals make every further call pointless."""
        self._asked += 1
        if answer.usable:
            self._usable += 1
        elif answer.reason is Reason.HTTP_4XX:
            self._wrong_address += 1
        elif answer.reason in (Reason.UNAUTHORIZED, Reason.DNS):
            self._stopped = answer.reason
        elif answer.reason is Reason.FORBIDDEN:
            self._refused.add(plan.society.slug)
        elif answer.reason in (Reason.CONNECT, Reason.TLS) and not self._usable:
            self._stopped = answer.reason

    async def _write(self) -> None:
        """Store batches until the end mark; whatever is in hand is written at least every FLUSH_SECONDS."""
        sitting, batch, ended = self._sitting, list[Transcript](), False
        while not ended:
            try:
                async with asyncio.timeout(FLUSH_SECONDS):
                    while len(batch) < BATCH and not ended:
                        transcript = await self._queue.get()
                        if transcript is None:
                            ended = True
                        else:
                            batch.append(transcript)
            except TimeoutError:
                pass  # a quiet second: write what there is
            if batch:
                await asyncio.to_thread(self._store, tuple(batch))
                sitting.progress.advance(len(batch))
                batch.clear()
            if sitting.clock.monotonic() - self._renewed > LEASE_SECONDS / 4:
                self._renewed = sitting.clock.monotonic()
                await asyncio.to_thread(sitting.lease.renew)
        for slug in sorted(self._refused):
            refuse_society(sitting.engine, sitting.run_id, slug, Reason.FORBIDDEN)

    def _store(self, batch: Sequence[Transcript]) -> None:
        segment = save_segment(self._sitting.blobs, batch)
        add_answers(self._sitting.engine, self._sitting.run_id, self._sitting.number, segment, batch)
