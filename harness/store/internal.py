"""Reads for the internal report: verdicts joined to diagnoses and calls, and the calls that stand out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Engine, Row, and_, func, select

from harness.scoring.model import ItemScore
from harness.store import wire
from harness.store.engine import reading, streaming
from harness.store.runs import AnswerRow, is_last_answer
from harness.store.schema import ANSWER, FAULT, SCORE
from harness.store.scores import BATCH, RevisionKey

_ANSWER_COLUMNS = tuple(column for column in ANSWER.c if column.name not in ("run_id", "item_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedItem:
    """A verdict with the diagnosis (JSON) of each expectation that has one, by its number, and the last answer; None
    where the item was never asked."""

    score: ItemScore
    diagnoses: Mapping[int, str]
    answer: AnswerRow | None


def iter_examined(engine: Engine, key: RevisionKey) -> Iterator[ExaminedItem]:
    """Every item of a revision as its transcript lies on disk; those that were never asked stand together."""
    answer = select(ANSWER).where(is_last_answer(key.run_id, key.slug)).subquery()
    fault = select(FAULT).where(*_at(FAULT.c, key)).subquery()
    query = (
        select(
            SCORE.c.item_id,
            SCORE.c.verdict,
            fault.c.expectation,
            fault.c.diagnosis,
            *(answer.c[column.name] for column in _ANSWER_COLUMNS),
        )
        .join_from(SCORE, answer, SCORE.c.item_id == answer.c.item_id, isouter=True)
        .join(fault, SCORE.c.item_id == fault.c.item_id, isouter=True)
        .where(*_at(SCORE.c, key))
        .order_by(answer.c.segment, answer.c.place, SCORE.c.item_id, fault.c.expectation)
    )
    with streaming(engine, query, BATCH) as rows:
        for _, group in groupby(rows, key=attrgetter("item_id")):
            of_item = list(group)
            yield ExaminedItem(
                score=wire.VERDICT.decode(of_item[0].verdict),
                diagnoses={row.expectation: row.diagnosis for row in of_item if row.expectation is not None},
                answer=None if of_item[0].segment is None else _answer(of_item[0]),
            )


def slowest_calls(engine: Engine, run_id: str, slug: str, most: int) -> list[AnswerRow]:
    """The last answers that took longest, slowest first."""
    return _calls(engine, is_last_answer(run_id, slug), ANSWER.c.latency_ms.desc(), most)


def retried_calls(engine: Engine, run_id: str, slug: str, most: int) -> tuple[list[AnswerRow], int]:
    """The last answers that took several attempts, most attempts first, and how many there are in all."""
    here = and_(is_last_answer(run_id, slug), ANSWER.c.attempts > 1)
    with reading(engine) as connection:
        count = connection.execute(select(func.count()).select_from(ANSWER).where(here)).scalar_one()
    return _calls(engine, here, ANSWER.c.attempts.desc(), most), count


def _calls(engine: Engine, here: ColumnElement[bool], order: ColumnElement[Any], most: int) -> list[AnswerRow]:
    query = select(ANSWER).where(here).order_by(order, ANSWER.c.item_id).limit(most)
    with reading(engine) as connection:
        return [_answer(row) for row in connection.execute(query)]


def _answer(row: Row[*tuple[Any, ...]]) -> AnswerRow:
    return AnswerRow(item_id=row.item_id, **{column.name: row._mapping[column.name] for column in _ANSWER_COLUMNS})


def _at(columns: Any, key: RevisionKey) -> Sequence[ColumnElement[bool]]:
    return (columns.run_id == key.run_id, columns.slug == key.slug, columns.revision == key.revision)
