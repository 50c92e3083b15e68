"""Opening the database: SQLite in WAL mode or PostgreSQL, one way of writing for both."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, Result, Select, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from harness.errors import StoreError, UsageError

BUSY_TIMEOUT_S: Final = 30
_LEDGER_LOCK: Final = 0x43495445  # any fixed number: one advisory lock for every writer of this product


def open_engine(url: str) -> Engine:
    """An engine for `sqlite:///file` or `postgresql+psycopg://…`; nothing is connected yet.

    Raises UsageError for any other URL, StoreError where the file's folder cannot be made; no message shows a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise UsageError(
            "database: found a text that is no URL; expected sqlite:///FILE or postgresql+psycopg://…"
        ) from None
    if parsed.drivername == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return _open_sqlite(parsed, Path(str(parsed.database)))
    if parsed.drivername == "postgresql+psycopg":
        # What an exclusive writer reads must be what was committed before it got the lock, not before it asked.
        return create_engine(parsed, pool_pre_ping=True, isolation_level="READ COMMITTED")
    raise UsageError(f"database: found {shown(parsed)}; expected sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME")


def shown(url: URL) -> str:
    """The URL for a message: without its password, and without its options, which may hold one too."""
    return url.set(query={}).render_as_string(hide_password=True)


def _open_sqlite(url: URL, file: Path) -> Engine:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"database {shown(url)}: cannot make its folder: {error.strerror}") from None
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_S})

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        # The driver's own transaction opening would take no write lock until the first write; see `writing`.
        connection.isolation_level = None
        # Two first connections that turn to WAL at once do not wait for each other: one is refused as locked.
        with _alone(file.parent):
            connection.execute("PRAGMA journal_mode=WAL").close()
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        mode = "IMMEDIATE" if connection.get_execution_options().get("writes") else "DEFERRED"
        connection.exec_driver_sql(f"BEGIN {mode}")

    return engine


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Held by one connection at a time, of all processes that have a database in that folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sqlite_file(url: str) -> Path | None:
    """The file of a SQLite URL; None for another database or a text that is no URL."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        return None
    return Path(parsed.database) if parsed.drivername == "sqlite" and parsed.database else None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection in one read transaction. Raises StoreError where the database fails."""
    with _failures(engine), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def streaming(engine: Engine, query: Select[*tuple[Any, ...]], page: int) -> Iterator[Result[*tuple[Any, ...]]]:
    """The query's rows, `page` of them in memory at a time, in one read transaction that ends with the context."""
    with reading(engine) as connection:
        if engine.dialect.name == "postgresql":
            # Tonight's rows are not in the planner's statistics yet: taking them for a handful, it would join by
            # comparing each row with every other one.
            connection.execute(text("SET LOCAL enable_nestloop = off"))
        with connection.execution_options(yield_per=page).execute(query) as rows:
            yield rows


@contextmanager
def writing(engine: Engine, *, exclusive: bool = False) -> Iterator[Connection]:
    """A connection in one write transaction, committed at the end unless an exception leaves it.

    `exclusive` makes all exclusive writers wait for each other until commit: SQLite has one writer anyway, PostgreSQL
    takes an advisory lock. Raises StoreError where the database fails (full disk, lost connection, broken file).
    """
    with _failures(engine), engine.connect() as raw:
        connection = raw.execution_options(writes=True)
        with connection.begin():
            if exclusive and engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LEDGER_LOCK})
            yield connection


@contextmanager
def _failures(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        # Parameters of a statement can hold ids and codes only, yet they are left out: law 7 has no exceptions.
        reason = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
        raise StoreError(f"database {shown(engine.url)}: {reason}") from None
