"""A ledger of a test's database with a journal of its own; events to put in; real copies; hands that tamper."""

import resource
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import psycopg
from sqlalchemy import Engine, select

from harness.sla.model import LedgerEvent
from harness.sla.windows import Window, night_window
from harness.store.engine import open_engine, reading, sqlite_file
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from harness.store.schema import ACT, SETTLEMENT, SETTLEMENT_EVENTS
from tests.databases import SERVER
from tests.sla.acting import after, dispute, uphold
from tests.sla.factories import NIGHT, breach, extend, tick

SQLITE_GUARDS = ("no_update", "no_delete", "next_only")


def ledger_of(engine: Engine) -> Ledger:
    """The database's ledger; its journal lies beside a SQLite file, else in a folder named after the database."""
    name = Path(str(engine.url.database))
    folder = name.parent if engine.dialect.name == "sqlite" else Path(gettempdir()) / "harness-journals" / name
    return Ledger(engine, Journal(folder / "ledger.jsonl"))


def window(number: int) -> Window:
    """The window of the night so many nights after the factories' one."""
    return night_window(NIGHT + timedelta(days=number))


def nights(count: int, percent: str = "25") -> list[LedgerEvent]:
    """The first event of so many nights, each a breach that is open for thirty days."""
    events: list[LedgerEvent] = []
    for number in range(count):
        events = extend(events, breach(percent, window=window(number)))
    return events


def life() -> list[LedgerEvent]:
    """Eight events of three nights: the first disputed and upheld, the second revised and final, the third final."""
    return list(_life())


@cache
def _life() -> tuple[LedgerEvent, ...]:
    events = dispute(nights(3), 1)
    events = extend(events, breach("100", window=window(1)), after(1))
    events = uphold(events, 2, "12.5")
    for number in (1, 2):
        events = tick(events, after(40), f"slf_asme_citation_correctness_{window(number).label}")
    assert [event.revision for event in events] == [1, 1, 1, 2, 2, 3, 3, 2]
    return tuple(events)


def feed(ledger: Ledger, events: Iterable[LedgerEvent]) -> None:
    """Append these events, one decision each."""
    for event in events:
        ledger.append(event.subject, partial(_just, event))


def _just(event: LedgerEvent, _history: Sequence[LedgerEvent], _last: LedgerEvent | None) -> Sequence[LedgerEvent]:
    return [event]


def rows(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """All that the database keeps of its ledger, column by column."""
    tables = (SETTLEMENT_EVENTS, SETTLEMENT, ACT)
    with reading(engine) as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in tables
        }


def lines(ledger: Ledger) -> list[bytes]:
    """The journal's lines with their line feeds."""
    return ledger.journal.path.read_bytes().splitlines(keepends=True)


@contextmanager
def copied(engine: Engine, folder: Path) -> Iterator[Engine]:
    """A real copy of the database as it is, as a backup would have it: the SQLite file, or PostgreSQL's own copy."""
    engine.dispose()
    file = sqlite_file(str(engine.url))
    if file is not None:
        assert not file.with_name(f"{file.name}-wal").exists()
        folder.mkdir()
        copy = open_engine(f"sqlite:///{shutil.copy(file, folder)}")
        yield copy
        copy.dispose()
        return
    name = f"harness_test_{secrets.token_hex(6)}"
    with closing(psycopg.connect(SERVER, autocommit=True)) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE {engine.url.database}".encode())
        try:
            copy = open_engine(engine.url.set(database=name).render_as_string())
            yield copy
            copy.dispose()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def unguarded(engine: Engine) -> Iterator[Callable[[str, Sequence[Any]], int]]:
    """A hand that executes a statement past guards and foreign keys, as one who owns the database can; it takes `?` for
    parameters and returns how many rows it changed. What it did is committed at the end."""
    file = sqlite_file(str(engine.url))
    if file is not None:
        with closing(sqlite3.connect(file)) as raw:
            for guard in SQLITE_GUARDS:
                raw.execute(f"DROP TRIGGER IF EXISTS settlement_events_{guard}")
            yield lambda statement, values: raw.execute(statement, values).rowcount
            raw.commit()
        return
    url = engine.url.set(drivername="postgresql").render_as_string()
    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")
        yield (
            lambda statement, values: connection.execute(statement.replace("?", "%s").encode(), values or None).rowcount
        )


def tamper(engine: Engine, *statements: str) -> None:
    """Do what the guards are against; each statement changes something."""
    with unguarded(engine) as execute:
        for statement in statements:
            assert execute(statement, ())


def put_back(engine: Engine, kept: dict[str, list[tuple[Any, ...]]]) -> None:
    """Undo what was tampered with: the tables hold what `rows` had found, settlements first to last."""
    with unguarded(engine) as execute:
        for table, held in kept.items():
            execute(f"DELETE FROM {table}", ())
            for row in held:
                execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """No file of this process grows beyond that many bytes meanwhile: the kernel refuses, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
