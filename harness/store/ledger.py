"""The ledger: an append-only table of settlement events, one writer, numbers in commit order, each chained to the one
before and written to the journal before it is served (sla.md, Ledger)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Final

from sqlalchemy import Connection, Engine, Select, delete, func, insert, select

from harness.errors import StoreError
from harness.sla.ledger import BrokenLink, find_broken_link
from harness.sla.model import LedgerEvent, Settlement
from harness.sla.settlement import clock_of, settlement_after
from harness.store.engine import reading, streaming, writing
from harness.store.journal import Journal
from harness.store.schema import ACT, SETTLEMENT, SETTLEMENT_EVENTS

PAGE: Final = 1_000
_REMADE: Final = "`harness flags replay` makes it anew"

Decide = Callable[[Sequence[LedgerEvent], "LedgerEvent | None"], Sequence[LedgerEvent]]
"""From a subject's events so far and the ledger's last event to the events to append, numbered and chained."""


class LedgerBehind(StoreError):
    """The database lacks events that its journal has, as after restoring a backup, or has others: nothing is written
    or served until it is replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who brings an event about by hand, and what they note: an internal record, never served."""

    actor: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """A settlement with the event that it stands at."""

    event: LedgerEvent
    settlement: Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which settlements: each None means any. Months as `2026-11`, the slug of a society, `closed_by` UTC text: open or
    disputed ones whose clock runs out by then."""

    slug: str | None = None
    month: str | None = None
    finalized_in: str | None = None
    state: str | None = None
    closed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """The database's ledger with its journal."""

    engine: Engine
    journal: Journal

    def append(self, subject: str, decide: Decide, act: Act | None = None) -> Sequence[LedgerEvent]:
        """Read a subject's history, decide and append in one exclusive transaction, so that no event is decided twice.

        Raises LedgerBehind, with nothing written, where the journal has events that the database lacks.
        """
        table = SETTLEMENT_EVENTS
        with writing(self.engine, exclusive=True) as connection:
            last = _last(connection)
            self._require_one_history(connection, self.journal.last(), last)
            query = select(table).where(table.c.subject == subject).order_by(table.c.revision)
            history = [LedgerEvent(**row._mapping) for row in connection.execute(query)]
            events = decide(history, last)
            _insert(connection, events)
            if act is not None and events:
                connection.execute(insert(ACT), [_act_row(event, act) for event in events])
        if events:
            self.journalled()
        return events

    def journalled(self) -> int:
        """Bring the journal up to the database; the last event's number, 0 for an empty ledger: what may be served.

        Raises LedgerBehind where the database lacks events of the journal or has others.
        """
        # The journal is read first: it never runs ahead of a database that is whole.
        written = self.journal.last()
        last = self._last()
        if written != last:
            with self.journal.alone():
                written, last = self.journal.last(), self._last()
                with reading(self.engine) as connection:
                    self._require_one_history(connection, written, last)
                self.journal.append(self.events(after=0 if written is None else written.seq))
                last = self.journal.last()
        self.journal.make_durable(last)
        return 0 if last is None else last.seq

    def events(self, *, after: int = 0, subject: str | None = None) -> Iterator[LedgerEvent]:
        """Events in sequence, those with a greater number than `after`; of one subject where it is named."""
        table = SETTLEMENT_EVENTS
        query = select(table).where(table.c.seq > after).order_by(table.c.seq)
        if subject is not None:
            query = query.where(table.c.subject == subject)
        with streaming(self.engine, query, PAGE) as rows:
            for row in rows:
                yield LedgerEvent(**row._mapping)

    def batch(self, *, after: int, through: int, limit: int) -> list[LedgerEvent]:
        """The next `limit` events behind `after`, none beyond `through`."""
        table = SETTLEMENT_EVENTS
        query = select(table).where(table.c.seq > after, table.c.seq <= through).order_by(table.c.seq).limit(limit)
        with reading(self.engine) as connection:
            return [LedgerEvent(**row._mapping) for row in connection.execute(query)]

    def count(self) -> int:
        with reading(self.engine) as connection:
            return connection.execute(select(func.count()).select_from(SETTLEMENT_EVENTS)).scalar_one()

    def settlements(self, query: Query, *, after: str = "") -> Iterator[Stand]:
        """Settlements as they stand, by subject, those behind the subject `after`."""
        with streaming(self.engine, _select(query).where(SETTLEMENT.c.subject > after), PAGE) as rows:
            for row in rows:
                yield _stand(LedgerEvent(**row._mapping))

    def subjects(self) -> set[str]:
        """Every subject that has a settlement."""
        with reading(self.engine) as connection:
            return set(connection.execute(select(SETTLEMENT.c.subject)).scalars())

    def settlement(self, subject: str) -> Stand | None:
        """A settlement as it stands, None where there is no such subject."""
        with reading(self.engine) as connection:
            row = connection.execute(_select(Query()).where(SETTLEMENT.c.subject == subject)).one_or_none()
        return None if row is None else _stand(LedgerEvent(**row._mapping))

    def acts(self, subject: str) -> dict[int, Act]:
        """What was brought about by hand of a subject's events, by their number."""
        query = select(ACT).join_from(ACT, SETTLEMENT_EVENTS).where(SETTLEMENT_EVENTS.c.subject == subject)
        with reading(self.engine) as connection:
            return {row.seq: Act(actor=row.actor, note=row.note) for row in connection.execute(query)}

    def replay(self) -> int:
        """Restore from the journal, byte for byte, what the database lacks, the journal's end from the database, and
        the settlements from their events; the number of events restored.

        Raises LedgerBehind where the two differ in what both have, StoreError where the journal's own chain is broken.
        """
        with self.journal.alone():
            if broken := find_broken_link(self.journal.events()):
                raise StoreError(f"journal {self.journal.path}: event {broken.seq} ({broken.subject}): {broken.says}")
            with writing(self.engine, exclusive=True) as connection:
                last = _last(connection)
                if (difference := _first_difference(self.journal.events(), self.events())) is not None:
                    raise self._other(difference)
                missing = (event for event in self.journal.events() if last is None or event.seq > last.seq)
                restored = 0
                for event in missing:
                    _insert(connection, [event])
                    restored += 1
                _rebuild(connection)
        self.journalled()
        return restored

    def find_fault(self) -> BrokenLink | None:
        """The first thing that is not as it was written: a link of the chain, a line of the journal, a settlement that
        is not the fold of its events. Raises StoreError where the journal has a line that is no event."""
        return find_broken_link(self.events()) or self._journal_fault() or self._settlement_fault()

    def _journal_fault(self) -> BrokenLink | None:
        """The first event that the journal and the database do not both have as it is, of those that were there when
        the check began: others are being appended meanwhile."""
        written = self.journal.last()
        last = self._last()
        if written != last:
            with self.journal.alone():  # a writer is between the two, or one of them lacks something
                written, last = self.journal.last(), self._last()
        through = max(0 if each is None else each.seq for each in (written, last))
        lines = (event for event in self.journal.events() if event.seq <= through)
        rows = (event for event in self.events() if event.seq <= through)
        for line, row in zip_longest(lines, rows):
            if line == row:
                continue
            if line is None:
                says = "the journal ends before it; `harness flags replay` repairs the journal"
            elif row is not None:
                says = "the journal's line and the database's row differ"
            elif last is not None and line.seq <= last.seq:
                says = "the journal has its line twice; restore the journal, or remove it to have it written anew"
            else:
                says = "the database lacks it, its journal has it; `harness flags replay` restores it"
            event = line or row
            return BrokenLink(seq=event.seq, subject=event.subject, says=says)
        return None

    def _settlement_fault(self) -> BrokenLink | None:
        """The first settlement that is not what its latest event says. Each of the two reads is of one moment."""
        events, stands = SETTLEMENT_EVENTS, SETTLEMENT
        latest = select(func.max(events.c.seq)).group_by(events.c.subject)
        columns = [column.label(f"stands_{column.name}") for column in stands.c]
        query = select(events, *columns).join_from(events, stands, stands.c.subject == events.c.subject, isouter=True)
        with streaming(self.engine, query.where(events.c.seq.in_(latest)).order_by(events.c.seq), PAGE) as rows:
            for row in rows:
                event = LedgerEvent(**{name: row._mapping[name] for name in LedgerEvent.__slots__})
                if {column.name: row._mapping[f"stands_{column.name}"] for column in stands.c} != _settlement_row(
                    event
                ):
                    says = f"its settlement does not say so; {_REMADE}"
                    return BrokenLink(seq=event.seq, subject=event.subject, says=says)
        here = select(events.c.seq).where(events.c.seq == stands.c.seq, events.c.subject == stands.c.subject)
        with reading(self.engine) as connection:
            stray = connection.execute(
                select(stands.c.seq, stands.c.subject).where(~here.exists()).limit(1)
            ).one_or_none()
        if stray is None:
            return None
        return BrokenLink(seq=stray.seq, subject=stray.subject, says=f"its settlement is at another event; {_REMADE}")

    def _last(self) -> LedgerEvent | None:
        with reading(self.engine) as connection:
            return _last(connection)

    def _require_one_history(
        self, connection: Connection, written: LedgerEvent | None, last: LedgerEvent | None
    ) -> None:
        """Raise LedgerBehind where the journal's last event is not one of the database's."""
        if written is None or written == last:
            return
        kept = 0 if last is None else last.seq
        if written.seq > kept:
            raise LedgerBehind(
                f"ledger: the database ends at event {kept}, its journal {self.journal.path} at {written.seq}: an "
                "older database was restored. Nothing is written or served until `harness flags replay` has restored "
                "the rest."
            )
        row = connection.execute(select(SETTLEMENT_EVENTS).where(SETTLEMENT_EVENTS.c.seq == written.seq)).one_or_none()
        if row is None or LedgerEvent(**row._mapping) != written:
            raise self._other(written.seq)

    def _other(self, seq: int) -> LedgerBehind:
        return LedgerBehind(
            f"ledger: event {seq} of the database is not the one that its journal {self.journal.path} has: they are of "
            "two histories. Restore the database that belongs to the journal; see: harness flags verify"
        )


def _insert(connection: Connection, events: Sequence[LedgerEvent]) -> None:
    """Add the events and let their subjects' settlements stand at the last of each."""
    if not events:
        return
    connection.execute(insert(SETTLEMENT_EVENTS), [asdict(event) for event in events])
    latest = {event.subject: event for event in events}
    connection.execute(delete(SETTLEMENT).where(SETTLEMENT.c.subject.in_(latest)))
    connection.execute(insert(SETTLEMENT), [_settlement_row(event) for event in latest.values()])


def _rebuild(connection: Connection) -> None:
    """Make every settlement anew from its latest event."""
    table = SETTLEMENT_EVENTS
    latest = select(table).where(table.c.seq.in_(select(func.max(table.c.seq)).group_by(table.c.subject)))
    connection.execute(delete(SETTLEMENT))
    for rows in connection.execute(latest.order_by(table.c.seq)).partitions(PAGE):
        connection.execute(insert(SETTLEMENT), [_settlement_row(LedgerEvent(**row._mapping)) for row in rows])


def _settlement_row(event: LedgerEvent) -> dict[str, object]:
    data = settlement_after(event).data
    return {
        "subject": event.subject,
        "seq": event.seq,
        "slug": data["society"]["slug"],
        "month": data["window"]["label"][:7],
        "state": data["state"],
        "closes_at": clock_of(data),
        "finalized_at": data["finalized_at"],
    }


def _act_row(event: LedgerEvent, act: Act) -> dict[str, object]:
    return {"seq": event.seq, "event_id": event.event_id, **asdict(act), "recorded_at": event.recorded_at}


def _stand(event: LedgerEvent) -> Stand:
    return Stand(event=event, settlement=settlement_after(event))


def _select(query: Query) -> Select[*tuple[object, ...]]:
    chosen = select(SETTLEMENT_EVENTS).join_from(SETTLEMENT, SETTLEMENT_EVENTS).order_by(SETTLEMENT.c.subject)
    if query.slug is not None:
        chosen = chosen.where(SETTLEMENT.c.slug == query.slug)
    if query.month is not None:
        chosen = chosen.where(SETTLEMENT.c.month == query.month)
    if query.finalized_in is not None:  # a prefix of UTC text; `~` stands behind every digit
        finalized_at = SETTLEMENT.c.finalized_at
        chosen = chosen.where(finalized_at >= query.finalized_in, finalized_at <= f"{query.finalized_in}~")
    if query.state is not None:
        chosen = chosen.where(SETTLEMENT.c.state == query.state)
    if query.closed_by is not None:
        chosen = chosen.where(SETTLEMENT.c.state != "final", SETTLEMENT.c.closes_at <= query.closed_by)
    return chosen


def _last(connection: Connection) -> LedgerEvent | None:
    table = SETTLEMENT_EVENTS
    row = connection.execute(select(table).order_by(table.c.seq.desc()).limit(1)).one_or_none()
    return None if row is None else LedgerEvent(**row._mapping)


def _first_difference(written: Iterable[LedgerEvent], kept: Iterable[LedgerEvent]) -> int | None:
    """The number of the first event that both have and that differs."""
    for one, other in zip(written, kept, strict=False):
        if one != other:
            return other.seq
    return None
