"""Runs of a night and their answers. Rows are keyed (night, society, run); answers are only ever added."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Final

from sqlalchemy import ColumnElement, Engine, and_, func, insert, or_, select, update

from harness.store.engine import reading, streaming, writing
from harness.store.schema import ANSWER, ASSESSMENT, REVISION, RUN, RUN_SOCIETY, SUPERSESSION
from harness.store.transcripts import Transcript

PAGE: Final = 5_000
"""Rows fetched at a time while streaming: memory stays flat in items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt at a night. `state` is open (can be resumed) or complete; times UTC text."""

    run_id: str
    night: str
    attempt: int
    state: str
    seed: str
    transport: str
    gateway: str
    harness_version: str
    started_at: str
    finished_at: str | None = None
    stopped: str | None = None
    calls_sent: int = 0
    asked_again: int = 0
    sittings: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """Requests of a run over all its sittings, and how many of its questions were asked again in a later one."""

    sent: int
    asked_again: int

    def columns(self) -> dict[str, int]:
        return {"calls_sent": self.sent, "asked_again": self.asked_again}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSociety:
    """A society's part of a run: what was frozen for it, and how much was planned."""

    run_id: str
    slug: str
    snapshot_sha256: str
    testset_version: str
    testset_sha256: str
    terms_version: int | None
    terms_sha256: str | None
    window: str | None
    items: int
    expectations: int
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """What is known of an item's last answer without opening its transcript. `reason` None: usable."""

    slug: str
    item_id: str
    sitting: int
    reason: str | None
    http_status: int | None
    ledger_entry_id: str | None
    tokens_returned: int | None
    latency_ms: int
    attempts: int
    billed: int
    asked_at: str
    answered_at: str
    segment: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """A society's part of a run that a later run of the same night takes the place of, once that one is complete."""

    run_id: str
    slug: str
    by_run_id: str
    reason: str
    recorded_at: str


def create_run(
    engine: Engine, run: Run, societies: Sequence[RunSociety], superseded: Sequence[Supersession] = ()
) -> None:
    """Record a new run with everything it froze and what it supersedes, in one transaction."""
    with writing(engine) as connection:
        connection.execute(insert(RUN).values(**asdict(run)))
        connection.execute(insert(RUN_SOCIETY), [asdict(society) for society in societies])
        if superseded:
            connection.execute(insert(SUPERSESSION), [asdict(each) for each in superseded])


def find_supersessions(engine: Engine, night: str) -> list[Supersession]:
    """What the runs of a night supersede, whether or not they are complete yet."""
    query = select(SUPERSESSION).join_from(SUPERSESSION, RUN, SUPERSESSION.c.by_run_id == RUN.c.run_id)
    with reading(engine) as connection:
        return [Supersession(**row._mapping) for row in connection.execute(query.where(RUN.c.night == night))]


def nights_without_terms(engine: Engine, slug: str) -> list[date]:
    """Nights with a complete run of the society for which no terms were in force."""
    query = select(RUN.c.night).join_from(RUN, RUN_SOCIETY, RUN.c.run_id == RUN_SOCIETY.c.run_id)
    query = query.where(RUN.c.state == "complete", RUN_SOCIETY.c.slug == slug, RUN_SOCIETY.c.terms_version.is_(None))
    with reading(engine) as connection:
        return [date.fromisoformat(night) for night in connection.execute(query.distinct()).scalars()]


def revised_parts(engine: Engine, since: str) -> set[tuple[str, str]]:
    """(society slug, night) of what was rescored, or superseded another run, since that time (UTC text)."""
    rescored = select(REVISION.c.slug, RUN.c.night).join_from(RUN, REVISION, RUN.c.run_id == REVISION.c.run_id)
    superseded = select(SUPERSESSION.c.slug, RUN.c.night).join_from(
        RUN, SUPERSESSION, RUN.c.run_id == SUPERSESSION.c.by_run_id
    )
    query = rescored.where(REVISION.c.reason.is_not(None), REVISION.c.scored_at >= since).union(
        superseded.where(SUPERSESSION.c.recorded_at >= since)
    )
    with reading(engine) as connection:
        return {(row.slug, row.night) for row in connection.execute(query)}


def unassessed_nights(engine: Engine, before: str) -> list[str]:
    """Nights before that one, oldest first, with an open run, or a complete one whose latest scoring of some society
    is missing or not assessed against its floors."""
    latest = (
        select(REVISION.c.run_id, REVISION.c.slug, func.max(REVISION.c.revision).label("revision"))
        .group_by(REVISION.c.run_id, REVISION.c.slug)
        .subquery()
    )
    assessed = select(ASSESSMENT.c.run_id).where(
        ASSESSMENT.c.run_id == latest.c.run_id,
        ASSESSMENT.c.slug == latest.c.slug,
        ASSESSMENT.c.revision == latest.c.revision,
    )
    part = RUN_SOCIETY.c
    owing = or_(
        RUN.c.state == "open",
        latest.c.revision.is_(None),
        and_(part.window.is_not(None), ~assessed.exists()),
    )
    query = (
        select(RUN.c.night)
        .join_from(RUN, RUN_SOCIETY, RUN.c.run_id == part.run_id)
        .join(latest, and_(latest.c.run_id == part.run_id, latest.c.slug == part.slug), isouter=True)
        .where(RUN.c.night < before, owing)
        .distinct()
        .order_by(RUN.c.night)
    )
    with reading(engine) as connection:
        return list(connection.execute(query).scalars())


def find_runs(engine: Engine, night: str | None = None) -> list[Run]:
    """Runs of a night (None: of all nights) in the order of night and attempt."""
    query = select(RUN).order_by(RUN.c.night, RUN.c.attempt)
    with reading(engine) as connection:
        rows = connection.execute(query if night is None else query.where(RUN.c.night == night))
        return [Run(**row._mapping) for row in rows]


def find_run(engine: Engine, run_id: str) -> Run | None:
    with reading(engine) as connection:
        row = connection.execute(select(RUN).where(RUN.c.run_id == run_id)).one_or_none()
    return None if row is None else Run(**row._mapping)


def run_societies(engine: Engine, run_id: str) -> list[RunSociety]:
    """The societies of a run by slug."""
    query = select(RUN_SOCIETY).where(RUN_SOCIETY.c.run_id == run_id).order_by(RUN_SOCIETY.c.slug)
    with reading(engine) as connection:
        return [RunSociety(**row._mapping) for row in connection.execute(query)]


def begin_sitting(engine: Engine, run_id: str, *, totals: CallCounts) -> int:
    """Count a start or resumption of the run; its number from 1."""
    with writing(engine) as connection:
        connection.execute(
            update(RUN).where(RUN.c.run_id == run_id).values(sittings=RUN.c.sittings + 1, **totals.columns())
        )
        sittings: int = connection.execute(select(RUN.c.sittings).where(RUN.c.run_id == run_id)).scalar_one()
        return sittings


def add_answers(engine: Engine, run_id: str, sitting: int, segment: str, transcripts: Sequence[Transcript]) -> None:
    """Record a segment's answers; the segment is already durable."""
    rows = [
        {
            "run_id": run_id,
            "slug": each.slug,
            "item_id": each.item_id,
            "sitting": sitting,
            "reason": each.answer.reason,
            "http_status": each.answer.attempts[-1].http_status if each.answer.attempts else None,
            "ledger_entry_id": each.answer.ledger_entry_id,
            "tokens_returned": each.answer.tokens_returned,
            "latency_ms": each.answer.latency_ms,
            "attempts": len(each.answer.attempts),
            "billed": sum(attempt.ledger_entry_id is not None for attempt in each.answer.attempts),
            "asked_at": each.asked_at,
            "answered_at": each.answered_at,
            "segment": segment,
            "place": place,
        }
        for place, each in enumerate(transcripts)
    ]
    with writing(engine) as connection:
        connection.execute(insert(ANSWER), rows)


def count_usable(engine: Engine, run_id: str) -> int:
    """Usable answers of the run so far."""
    query = select(func.count()).select_from(ANSWER).where(ANSWER.c.run_id == run_id, ANSWER.c.reason.is_(None))
    with reading(engine) as connection:
        return connection.execute(query).scalar_one()


def answer_ends(engine: Engine, run_id: str, slug: str) -> Iterator[tuple[str, int, str | None]]:
    """(item id, sitting, reason) of every stored answer of the society; reason None: usable."""
    query = select(ANSWER.c.item_id, ANSWER.c.sitting, ANSWER.c.reason)
    with streaming(engine, query.where(ANSWER.c.run_id == run_id, ANSWER.c.slug == slug), PAGE) as rows:
        for row in rows:
            yield row.item_id, row.sitting, row.reason


def sittings_that_reached(engine: Engine, run_id: str) -> set[int]:
    """The sittings that brought at least one usable answer."""
    query = select(ANSWER.c.sitting).where(ANSWER.c.run_id == run_id, ANSWER.c.reason.is_(None)).distinct()
    with reading(engine) as connection:
        return set(connection.execute(query).scalars())


def sum_tokens(engine: Engine, run_id: str) -> int:
    """Tokens that the run's answers returned so far."""
    query = select(func.coalesce(func.sum(ANSWER.c.tokens_returned), 0)).where(ANSWER.c.run_id == run_id)
    with reading(engine) as connection:
        return int(connection.execute(query).scalar_one())


def iter_answers(engine: Engine, run_id: str, slug: str) -> Iterator[AnswerRow]:
    """The last answer of each item, by segment and place so that transcripts are read in one sweep."""
    query = select(ANSWER).where(is_last_answer(run_id, slug)).order_by(ANSWER.c.segment, ANSWER.c.place)
    with streaming(engine, query, PAGE) as rows:
        for row in rows:
            values = dict(row._mapping)
            del values["run_id"]
            yield AnswerRow(**values)


def is_last_answer(run_id: str, slug: str) -> ColumnElement[bool]:
    """Picks each item's answer of the latest sitting: an item is asked in a later sitting only where nothing usable had
    come back to the whole run."""
    later = ANSWER.alias()
    # A maximum is one look into the primary key for each row; NOT EXISTS may be planned as each row against all.
    last = (
        select(func.max(later.c.sitting))
        .where(later.c.run_id == run_id, later.c.slug == slug, later.c.item_id == ANSWER.c.item_id)
        .correlate(ANSWER)
        .scalar_subquery()
    )
    return and_(ANSWER.c.run_id == run_id, ANSWER.c.slug == slug, ANSWER.c.sitting == last)


def find_answers(engine: Engine, run_id: str, item_id: str, slug: str | None = None) -> list[AnswerRow]:
    """Every stored answer of an item, oldest first; of all societies where no slug is given."""
    query = select(ANSWER).where(ANSWER.c.run_id == run_id, ANSWER.c.item_id == item_id)
    if slug is not None:
        query = query.where(ANSWER.c.slug == slug)
    with reading(engine) as connection:
        rows = [dict(row._mapping) for row in connection.execute(query.order_by(ANSWER.c.slug, ANSWER.c.sitting))]
    return [AnswerRow(**{name: value for name, value in row.items() if name != "run_id"}) for row in rows]


def refuse_society(engine: Engine, run_id: str, slug: str, reason: str) -> None:
    """Record that the gateway refuses this society's corpus to our key."""
    here = (RUN_SOCIETY.c.run_id == run_id) & (RUN_SOCIETY.c.slug == slug)
    with writing(engine) as connection:
        connection.execute(update(RUN_SOCIETY).where(here).values(refused=reason))


def end_sitting(engine: Engine, run_id: str, *, totals: CallCounts, stopped: str | None) -> None:
    """Keep the totals of an unfinished run."""
    with writing(engine) as connection:
        connection.execute(update(RUN).where(RUN.c.run_id == run_id).values(**totals.columns(), stopped=stopped))


def complete_run(engine: Engine, run_id: str, *, totals: CallCounts, stopped: str | None, finished_at: str) -> None:
    """Close the run: from now on nothing is asked for it."""
    with writing(engine) as connection:
        connection.execute(
            update(RUN)
            .where(RUN.c.run_id == run_id)
            .values(state="complete", **totals.columns(), stopped=stopped, finished_at=finished_at)
        )
