"""Opening or resuming a run, and one sitting of asking: until all is answered or something stops it."""

import asyncio
import secrets
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from harness import __version__
from harness.clock import Clock, utc_text
from harness.errors import HarnessError, NothingMeasured
from harness.gateway.answer import GatewayClient, Reason
from harness.nightly.collect import AsksQuestions, Collected, Interrupted, Progress, Sitting, Stops, collect
from harness.nightly.freeze import freeze_society, thaw_society
from harness.nightly.night import CollectionWindow
from harness.nightly.plan import SocietyPlan, asking_order, plan_society
from harness.store.calls import CallJournal, JournaledClient
from harness.store.files import BlobStore
from harness.store.lease import Lease
from harness.store.runs import (
    CallCounts,
    Run,
    RunSociety,
    answered_ids,
    begin_sitting,
    complete_run,
    count_usable,
    create_run,
    end_sitting,
    find_run,
    find_runs,
    run_societies,
)
from harness.store.scores import use_terms
from harness.testset.model import Item, Society

WrapClient = Callable[[GatewayClient], GatewayClient]
OpenAsker = Callable[[WrapClient, int], AbstractAsyncContextManager[AsksQuestions]]
"""Opens the transport, lets it be wrapped, and gives the retry layer over it; the number is the calls already sent."""

_WHY: Final = {
    Reason.UNAUTHORIZED: "the gateway refused the key (401): check HARNESS_GATEWAY_KEY",
    Reason.FORBIDDEN: "the gateway licenses none of these corpora to this key (403)",
    Reason.DNS: "the gateway's name cannot be resolved: check --gateway",
    Reason.CONNECT: "no connection to the gateway: is it up, and is --gateway right?",
    Reason.TLS: "no trusted TLS connection to the gateway: check its certificate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where a night works. `testsets` is the folder of societies; `deadline` is in seconds of a sitting."""

    engine: Engine
    blobs: BlobStore
    calls: Path
    locks: Path
    testsets: Path
    clock: Clock
    window: CollectionWindow
    transport: str
    gateway: str
    concurrency: int
    deadline: float | None
    open_asker: OpenAsker
    progress: Callable[[int, int], Progress]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that can still be asked for, with the plans that were frozen for it."""

    run: Run
    plans: tuple[SocietyPlan, ...]


def open_run(place: Workplace, night: date, societies: Sequence[Society]) -> OpenRun:
    """The night's unfinished run with what it froze, or a new run that freezes these societies' folders now."""
    runs = find_runs(place.engine, night.isoformat())
    for run in runs:
        if run.state == "open":
            return OpenRun(run=run, plans=frozen_plans(place.engine, place.blobs, run))
    plans = tuple(plan_society(society, night) for society in societies)
    run = Run(
        run_id=f"{night.isoformat()}-{len(runs) + 1}-{secrets.token_hex(4)}",
        night=night.isoformat(),
        attempt=len(runs) + 1,
        state="open",
        seed=f"{night.isoformat()}/{len(runs) + 1}",
        transport=place.transport,
        gateway=place.gateway,
        harness_version=__version__,
        started_at=utc_text(place.clock.now()),
    )
    parts = [_frozen(place, run, plan) for plan in plans]
    for plan in plans:
        if plan.terms is not None:
            use_terms(place.engine, plan.society.slug, plan.terms.version, plan.terms.sha256, run.night)
    create_run(place.engine, run, parts)
    return OpenRun(run=run, plans=plans)


def frozen_plans(engine: Engine, blobs: BlobStore, run: Run) -> tuple[SocietyPlan, ...]:
    """The plans of a run as its night had them, by slug."""
    night = date.fromisoformat(run.night)
    parts = run_societies(engine, run.run_id)
    return tuple(thaw_society(blobs, part.snapshot_sha256, part.slug, night) for part in parts)


def ask_run(place: Workplace, opened: OpenRun, lease: Lease) -> Run:
    """Ask what the run still lacks, then close it; the run as it then is.

    Raises NothingMeasured where not one usable answer came (the run stays open), Interrupted on a signal, StoreError
    when an answer cannot be kept.
    """
    run = opened.run
    with CallJournal(place.calls / f"{run.run_id}.calls") as journal, _signals() as interrupted:
        usable = count_usable(place.engine, run.run_id)
        pending = _pending(place.engine, opened, usable)
        number = begin_sitting(place.engine, run.run_id, totals=_totals(journal))
        _, closes = place.window.bounds(date.fromisoformat(run.night))
        sitting = Sitting(
            engine=place.engine,
            blobs=place.blobs,
            clock=place.clock,
            lease=lease,
            run_id=run.run_id,
            number=number,
            pending=pending,
            usable_before=usable,
            concurrency=place.concurrency,
            stops=Stops(closes=closes, deadline=place.deadline, interrupted=interrupted),
            progress=place.progress(len(pending), sum(len(plan.items) for plan in opened.plans)),
        )
        try:
            collected = asyncio.run(_sit(place, sitting, journal))
        finally:
            sitting.progress.close()
        return _close(place, run, collected, _totals(journal))


async def _sit(place: Workplace, sitting: Sitting, journal: CallJournal) -> Collected:
    in_flight: set[str] = set()

    def journaled(client: GatewayClient) -> GatewayClient:
        return JournaledClient(client, journal, in_flight)

    try:
        async with place.open_asker(journaled, journal.sent) as asker:
            return await collect(sitting, asker, in_flight)
    except BaseExceptionGroup as group:
        ours, _ = group.split(HarnessError)
        if ours is None:
            raise
        raise _first(ours) from None


def _totals(journal: CallJournal) -> CallCounts:
    return CallCounts(sent=journal.sent, asked_again=journal.asked_again)


def _close(place: Workplace, run: Run, collected: Collected, totals: CallCounts) -> Run:
    if collected.interrupted or not collected.usable:
        end_sitting(place.engine, run.run_id, totals=totals, stopped=collected.stopped)
    if collected.interrupted:
        raise Interrupted(collected.interrupted)
    if not collected.usable:
        known = {str(reason): text for reason, text in _WHY.items()}
        why = known.get(collected.stopped or "", "not one usable answer came back")
        raise NothingMeasured(
            f"night {run.night}: {why}. Nothing was published; start the same command again to go on with the run."
        )
    finished = utc_text(place.clock.now())
    complete_run(place.engine, run.run_id, totals=totals, stopped=collected.stopped, finished_at=finished)
    closed = find_run(place.engine, run.run_id)
    return closed if closed is not None else replace(run, state="complete", finished_at=finished)


def _pending(engine: Engine, opened: OpenRun, usable: int) -> list[tuple[SocietyPlan, Item]]:
    """Items still to ask, in the seed's order: those without an answer, or all where nothing usable ever came."""
    answered = {
        plan.society.slug: answered_ids(engine, opened.run.run_id, plan.society.slug) if usable else set()
        for plan in opened.plans
    }
    order = asking_order(opened.plans, opened.run.seed)
    return [(plan, item) for plan, item in order if item.id not in answered[plan.society.slug]]


def _frozen(place: Workplace, run: Run, plan: SocietyPlan) -> RunSociety:
    society, terms = plan.society, plan.terms
    return RunSociety(
        run_id=run.run_id,
        slug=society.slug,
        snapshot_sha256=freeze_society(place.blobs, place.testsets / society.slug),
        testset_version=society.testset_version,
        testset_sha256=society.testset_sha256,
        terms_version=None if terms is None else terms.version,
        terms_sha256=None if terms is None else terms.sha256,
        items=len(plan.items),
        expectations=plan.expectations,
    )


def _first(group: BaseExceptionGroup[HarnessError]) -> HarnessError:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


@contextmanager
def _signals() -> Iterator[Callable[[], int]]:
    """SIGINT and SIGTERM are noted instead of killing; a second one kills as usual."""
    noted = 0

    def note(number: int, _frame: object) -> None:
        nonlocal noted
        noted = number
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
