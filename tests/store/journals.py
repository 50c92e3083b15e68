"""A ledger of a test's database with a journal of its own, found again by every process that has the URL."""

from pathlib import Path
from tempfile import gettempdir

from sqlalchemy import Engine

from harness.store.journal import Journal
from harness.store.ledger import Ledger


def ledger_of(engine: Engine) -> Ledger:
    """The database's ledger; its journal lies beside a SQLite file, else in a folder named after the database."""
    name = Path(str(engine.url.database))
    folder = name.parent if engine.dialect.name == "sqlite" else Path(gettempdir()) / "harness-journals" / name
    return Ledger(engine, Journal(folder / "ledger.jsonl"))
