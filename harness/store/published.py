"""Reads for the public pages: what was measured around the calls, joined to the verdicts in the published order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Select, and_, func, literal, or_, select, union_all

from harness.scoring.model import ItemScore
from harness.store import wire
from harness.store.engine import reading, streaming
from harness.store.runs import is_last_answer
from harness.store.schema import ANSWER, FAULT, SCORE
from harness.store.scores import BATCH, RevisionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedItem:
    """A verdict with its published id and its call's figures; None where no call was sent."""

    item_hash: str
    score: ItemScore
    latency_ms: int | None
    attempts: int
    tokens_returned: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTotals:
    """Sums over a society's last answers. Times are UTC text, latency in milliseconds over usable answers."""

    asked: int
    attempts: int
    billed: int
    tokens_returned: int
    first_answer_at: str | None
    last_answer_at: str | None
    usable: int


def iter_published(engine: Engine, keys: Sequence[RevisionKey]) -> Iterator[PublishedItem]:
    """Every item of the revisions by published id; those of one item together, in the order of the revisions."""
    found = union_all(*(_published(key, place) for place, key in enumerate(keys))).subquery()
    query = select(found).order_by(found.c.item_hash, found.c.place)
    with streaming(engine, query, BATCH) as rows:
        for row in rows:
            yield PublishedItem(
                item_hash=row.item_hash,
                score=wire.VERDICT.decode(row.verdict),
                latency_ms=row.latency_ms,
                attempts=row.attempts or 0,
                tokens_returned=row.tokens_returned,
            )


def _published(key: RevisionKey, place: int) -> Select[*tuple[Any, ...]]:
    answer = select(ANSWER).where(is_last_answer(key.run_id, key.slug)).subquery()
    return (
        select(
            SCORE.c.item_hash,
            literal(place).label("place"),
            SCORE.c.verdict,
            answer.c.latency_ms,
            answer.c.attempts,
            answer.c.tokens_returned,
        )
        .join_from(SCORE, answer, SCORE.c.item_id == answer.c.item_id, isouter=True)
        .where(SCORE.c.run_id == key.run_id, SCORE.c.slug == key.slug, SCORE.c.revision == key.revision)
    )


def call_totals(engine: Engine, run_id: str, slug: str) -> CallTotals:
    query = select(
        func.count(),
        func.coalesce(func.sum(ANSWER.c.attempts), 0),
        func.coalesce(func.sum(ANSWER.c.billed), 0),
        func.coalesce(func.sum(ANSWER.c.tokens_returned), 0),
        func.min(ANSWER.c.answered_at),
        func.max(ANSWER.c.answered_at),
        func.count().filter(ANSWER.c.reason.is_(None)),
    ).where(is_last_answer(run_id, slug))
    with reading(engine) as connection:
        asked, attempts, billed, tokens, first, last, usable = connection.execute(query).one()
    return CallTotals(
        asked=asked,
        attempts=int(attempts),
        billed=int(billed),
        tokens_returned=int(tokens),
        first_answer_at=first,
        last_answer_at=last,
        usable=usable,
    )


def latency_percentile(engine: Engine, run_ids: Sequence[str], slug: str, percent: int, usable: int) -> int | None:
    """The nearest-rank percentile of the runs' usable answers' latency, whole milliseconds; None without any."""
    if not usable:
        return None
    rank = -(-percent * usable // 100)
    query = (
        select(ANSWER.c.latency_ms)
        .where(or_(*(is_last_answer(run_id, slug) for run_id in run_ids)), ANSWER.c.reason.is_(None))
        .order_by(ANSWER.c.latency_ms)
        .offset(max(rank, 1) - 1)
        .limit(1)
    )
    with reading(engine) as connection:
        value: int = connection.execute(query).scalar_one()
    return value


def count_reasons(engine: Engine, run_id: str, slug: str) -> dict[str, int]:
    """Answers without a usable body, by reason."""
    query = (
        select(ANSWER.c.reason, func.count())
        .where(is_last_answer(run_id, slug), ANSWER.c.reason.is_not(None))
        .group_by(ANSWER.c.reason)
        .order_by(ANSWER.c.reason)
    )
    return _counts(engine, query)


def count_diagnoses(engine: Engine, key: RevisionKey) -> dict[str, int]:
    """Expectations that were not correct, by their diagnosis as stored (JSON): equal ones are counted together."""
    here = and_(FAULT.c.run_id == key.run_id, FAULT.c.slug == key.slug, FAULT.c.revision == key.revision)
    return _counts(engine, select(FAULT.c.diagnosis, func.count()).where(here).group_by(FAULT.c.diagnosis))


def _counts(engine: Engine, query: Any) -> dict[str, int]:
    with reading(engine) as connection:
        return {row[0]: row[1] for row in connection.execute(query)}
