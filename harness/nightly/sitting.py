"""Opening or resuming a run, and one sitting of asking: until all is answered or something stops it."""

import asyncio
import secrets
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from harness.nightly.collect import (
    WINDOW_CLOSED,
    AsksQuestions,
    Collected,
    Interrupted,
    Progress,
    Sitting,
    Stops,
    TimedClient,
    collect,
)
from harness.nightly.freeze import freeze_society, thaw_society
from harness.nightly.night import CollectionWindow
from harness.nightly.outcome import STOPS_ASKING, asks_again
from harness.nightly.plan import SocietyPlan, asking_order, plan_society
from harness.store.calls import CallJournal, JournaledClient
from harness.store.files import BlobStore
from harness.store.lease import Lease
from harness.store.runs import (
    CallCounts,
    Run,
    RunSociety,
    Supersession,
    answer_ends,
    begin_sitting,
    complete_run,
    count_usable,
    create_run,
    end_sitting,
    find_run,
    find_runs,
    run_societies,
    sittings_that_reached,
    sum_tokens,
)
from harness.store.terms import use_terms
from harness.testset.model import Item, Society

WrapClient = Callable[[GatewayClient], GatewayClient]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What earlier sittings of a run have used of its budgets."""

    calls: int
    tokens: int


OpenAsker = Callable[[WrapClient, Spent], AbstractAsyncContextManager[AsksQuestions]]
"""Opens the transport, lets it be wrapped, and gives the retry layer over it."""

_WHY: Final = {
    Reason.UNAUTHORIZED: "the gateway refused the key (401): check HARNESS_GATEWAY_KEY",
    Reason.FORBIDDEN: "the gateway licenses none of these corpora to this key (403)",
    Reason.DNS: "the gateway's name cannot be resolved: check --gateway",
    Reason.CONNECT: "no connection to the gateway: see that it is up and that --gateway is right",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseding:
    """Why a new run takes the place of others, and of which: run ids by society slug."""

    reason: str
    runs: Mapping[str, str]


def open_run(
    place: Workplace, night: date, societies: Sequence[Society], superseding: Superseding | None = None
) -> OpenRun:
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
            use_terms(place.engine, plan.society.slug, plan.society.id, plan.terms, run.night)
    create_run(place.engine, run, parts, _supersessions(run, superseding))
    return OpenRun(run=run, plans=plans)


def _supersessions(run: Run, superseding: Superseding | None) -> list[Supersession]:
    if superseding is None:
        return []
    return [
        Supersession(
            run_id=run_id, slug=slug, by_run_id=run.run_id, reason=superseding.reason, recorded_at=run.started_at
        )
        for slug, run_id in superseding.runs.items()
    ]


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
        pending = _pending(place.engine, opened)
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
    spent = Spent(calls=journal.sent, tokens=sum_tokens(place.engine, sitting.run_id))

    def wrapped(client: GatewayClient) -> GatewayClient:
        return TimedClient(JournaledClient(client, journal, in_flight), sitting.stops, place.clock)

    try:
        async with place.open_asker(wrapped, spent) as asker:
            return await collect(sitting, asker, in_flight)
    except BaseExceptionGroup as group:
        ours, _ = group.split(HarnessError)
        if ours is None:
            raise
        raise _first(ours) from None


def _totals(journal: CallJournal) -> CallCounts:
    return CallCounts(sent=journal.sent, asked_again=journal.asked_again)


def _close(place: Workplace, run: Run, collected: Collected, totals: CallCounts) -> Run:
    """Complete the run, unless the sitting said nothing of the gateway's answers: then it stays open."""
    why = _why_open(place, run, collected)
    if collected.interrupted or why:
        end_sitting(place.engine, run.run_id, totals=totals, stopped=collected.stopped)
    if collected.interrupted:
        raise Interrupted(collected.interrupted)
    if why:
        raise NothingMeasured(
            f"night {run.night}: {why}. Nothing was published; start the same command again to go on with the run."
        )
    return close_run(place, run, collected.stopped, totals)


def close_run(place: Workplace, run: Run, stopped: str | None, totals: CallCounts) -> Run:
    """Complete the run as it is: what is not answered will end in harness_error."""
    finished = utc_text(place.clock.now())
    complete_run(place.engine, run.run_id, totals=totals, stopped=stopped, finished_at=finished)
    closed = find_run(place.engine, run.run_id)
    return closed if closed is not None else replace(run, state="complete", finished_at=finished)


def close_passed_run(place: Workplace, run: Run) -> Run:
    """Complete an open run whose night is over; its calls are counted from its journal."""
    with CallJournal(place.calls / f"{run.run_id}.calls") as journal:
        return close_run(place, run, run.stopped or WINDOW_CLOSED, _totals(journal))


def _why_open(place: Workplace, run: Run, collected: Collected) -> str:
    """Why the run stays open after this sitting; empty where it may be completed."""
    if collected.stopped in STOPS_ASKING:
        return _WHY[Reason(collected.stopped)]
    if collected.asked and collected.wrong_address == collected.asked:
        return "every call was refused with a 4xx: see that --gateway and the corpus ids in society.toml are right"
    if not count_usable(place.engine, run.run_id):
        return f"not one usable answer came back{f' ({collected.stopped})' if collected.stopped else ''}"
    return ""


def _pending(engine: Engine, opened: OpenRun) -> list[tuple[SocietyPlan, Item]]:
    """Items still to ask, in the seed's order: those without an answer that counts, or all where nothing usable ever
    came."""
    reached = sittings_that_reached(engine, opened.run.run_id)
    answered: dict[str, set[str]] = {plan.society.slug: set() for plan in opened.plans}
    for slug, ids in answered.items() if reached else ():
        ids.update(
            item
            for item, sitting, reason in answer_ends(engine, opened.run.run_id, slug)
            if not asks_again(None if reason is None else Reason(reason), sitting in reached)
        )
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
        window=None if terms is None or not terms.floors else terms.window,
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
