"""Empty databases of both kinds for tests: a SQLite file, and a PostgreSQL database of its own."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

import psycopg
import pytest

SERVER = "postgresql://postgres@127.0.0.1:5432/postgres"


@contextmanager
def empty_database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of an empty database of that kind (`sqlite` or `postgresql`), gone at the end.

    No PostgreSQL at 127.0.0.1:5432: one named skip on a laptop, a failure where CI is set.
    """
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'harness.db'}"
        return
    name = f"harness_test_{secrets.token_hex(6)}"
    _execute(f"CREATE DATABASE {name}")
    try:
        yield f"postgresql+psycopg://postgres@127.0.0.1:5432/{name}"
    finally:
        _execute(f"DROP DATABASE {name} WITH (FORCE)")
        shutil.rmtree(Path(gettempdir()) / "harness-journals" / name, ignore_errors=True)


def _execute(statement: str) -> None:
    try:
        connection = psycopg.connect(SERVER, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError:
        reason = "no PostgreSQL answers at 127.0.0.1:5432"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI is set")
        pytest.skip(reason)
    with connection:
        connection.execute(statement.encode())
