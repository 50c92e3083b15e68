"""The append-only table of settlement events: one writer, numbers in commit order, each chained to the one before."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Final

from sqlalchemy import Engine, func, insert, select

from harness.sla.model import LedgerEvent
from harness.store.engine import reading, streaming, writing
from harness.store.schema import SETTLEMENT_EVENTS

PAGE: Final = 1_000

Decide = Callable[[Sequence[LedgerEvent], "LedgerEvent | None"], Sequence[LedgerEvent]]
"""From a subject's events so far and the ledger's last event to the events to append, numbered and chained."""


def append_events(engine: Engine, subject: str, decide: Decide) -> Sequence[LedgerEvent]:
    """Read a subject's history, decide and append in one exclusive transaction, so that no event is decided twice."""
    table = SETTLEMENT_EVENTS
    with writing(engine, exclusive=True) as connection:
        history = [
            LedgerEvent(**row._mapping)
            for row in connection.execute(select(table).where(table.c.subject == subject).order_by(table.c.revision))
        ]
        last = connection.execute(select(table).order_by(table.c.seq.desc()).limit(1)).one_or_none()
        events = decide(history, None if last is None else LedgerEvent(**last._mapping))
        if events:
            connection.execute(insert(table), [asdict(event) for event in events])
        return events


def iter_events(engine: Engine, *, after: int = 0, subject: str | None = None) -> Iterator[LedgerEvent]:
    """Events in sequence, those with a greater number than `after`; of one subject where it is named."""
    table = SETTLEMENT_EVENTS
    query = select(table).where(table.c.seq > after).order_by(table.c.seq)
    if subject is not None:
        query = query.where(table.c.subject == subject)
    with streaming(engine, query, PAGE) as rows:
        for row in rows:
            yield LedgerEvent(**row._mapping)


def count_events(engine: Engine) -> int:
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(SETTLEMENT_EVENTS)).scalar_one()
