"""A transaction is kept whole or not at all, and no message shows a password."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import Engine, insert, select, text

from harness.errors import StoreError, UsageError
from harness.store.engine import open_engine, reading, shown, streaming, writing
from harness.store.migrate import current
from harness.store.schema import DEPLOYMENT
from tests.databases import empty_database

NAMES = select(DEPLOYMENT.c.name).order_by(DEPLOYMENT.c.name)


def _add(engine: Engine, *names: str) -> None:
    with writing(engine) as connection:
        connection.execute(insert(DEPLOYMENT), [{"name": name, "value": ""} for name in names])


def _names(engine: Engine) -> list[str]:
    with reading(engine) as connection:
        return list(connection.execute(NAMES).scalars())


class Stop(Exception):
    """What leaves a transaction."""


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("leaving", [Stop, KeyboardInterrupt])
def test_an_exception_takes_everything_back(engine: Engine, exclusive: bool, leaving: type[BaseException]) -> None:
    with pytest.raises(leaving), writing(engine, exclusive=exclusive) as connection:
        connection.execute(insert(DEPLOYMENT).values(name="a", value=""))
        raise leaving
    assert _names(engine) == []
    _add(engine, "b")
    assert _names(engine) == ["b"]


def test_error_a_refused_row_takes_its_transaction_back(engine: Engine) -> None:
    with pytest.raises(StoreError) as caught:
        _add(engine, "held out", "other", "held out")
    assert str(caught.value).startswith(f"database {shown(engine.url)}: ")
    assert "held out" not in str(caught.value)
    assert _names(engine) == []


def test_a_reader_sees_what_was_committed_when_it_began_and_never_blocks_the_writer(engine: Engine) -> None:
    _add(engine, "a", "b", "c")
    with streaming(engine, NAMES, 1) as rows:
        assert next(rows) == ("a",)
        _add(engine, "aa")
        assert list(rows.scalars()) == ["b", "c"]
    assert _names(engine) == ["a", "aa", "b", "c"]


def test_an_uncommitted_row_is_seen_by_its_own_transaction_only(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(insert(DEPLOYMENT).values(name="a", value=""))
        assert list(connection.execute(NAMES).scalars()) == ["a"]
        assert _names(engine) == []


def test_text_sorts_by_code_point_and_foreign_keys_hold(engine: Engine) -> None:
    ids = ["B", "a", "a-b", "a.b", "aB", "a_b", "ab", "b", "ä", "中", "\U00010348"]
    _add(engine, *reversed(ids))
    assert _names(engine) == ids == sorted(ids)
    with pytest.raises(StoreError, match=r"FOREIGN KEY|foreign key"), writing(engine) as connection:
        connection.execute(
            text(
                "INSERT INTO revision (run_id, slug, revision, scorer_version, scored_at, scores_sha256) "
                "VALUES ('no such run', 'asme', 1, 1, '2026-03-01T03:00:00.000000Z', '')"
            )
        )


REFUSED = {
    "nonsense": "a text that is no URL; expected sqlite:///FILE or postgresql+psycopg://…",
    "postgresql+psycopg://u:secret@h:port/d": "a text that is no URL; expected sqlite:///FILE or postgresql+psycopg://…",
    "mysql://u:secret@h/d": "mysql://u:***@h/d; expected sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
    "mysql://h/d?password=secret": "mysql://h/d; expected sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
    "sqlite://": "sqlite://; expected sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
    "sqlite:///:memory:": "sqlite:///%3Amemory%3A; expected sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
}


@pytest.mark.parametrize(("url", "expected"), REFUSED.items())
def test_error_a_url_that_is_not_taken(url: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_engine(url)
    assert str(caught.value) == f"database: found {expected}"


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://u:secret@127.0.0.1:1/d", "postgresql+psycopg://u@127.0.0.1:1/d?password=secret"]
)
def test_error_a_server_that_is_down_is_named_without_its_password(url: str) -> None:
    engine = open_engine(url)
    with pytest.raises(StoreError) as caught:
        current(engine)
    assert str(caught.value).startswith("database postgresql+psycopg://u")
    assert "connection failed" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_error_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "harness.db"
    path.write_bytes(b"no database at all, yet long enough to be looked at" * 50)
    engine = open_engine(f"sqlite:///{path}")
    with pytest.raises(StoreError) as caught:
        current(engine)
    assert str(caught.value) == f"database sqlite:///{path}: file is not a database"
    engine.dispose()


def test_error_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(StoreError) as caught:
        open_engine(f"sqlite:///{tmp_path}/taken/deep/harness.db")
    assert str(caught.value) == (
        f"database sqlite:///{tmp_path}/taken/deep/harness.db: cannot make its folder: Not a directory"
    )


_DIE_WITHIN = """
import os, sys
from sqlalchemy import text
from harness.store.engine import open_engine, writing
engine = open_engine(sys.argv[1])
with writing(engine) as connection:
    connection.execute(text("CREATE TABLE kept (n INTEGER)"))
with writing(engine) as connection:
    connection.execute(text("INSERT INTO kept VALUES (1)"))
with writing(engine) as connection:
    connection.execute(text("INSERT INTO kept VALUES (2)"))
    os._exit(9)
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_a_killed_process_committed_stays_and_nothing_else(kind: str, tmp_path: Path) -> None:
    with empty_database(kind, tmp_path) as url:
        assert subprocess.run([sys.executable, "-c", _DIE_WITHIN, url], check=False).returncode == 9
        engine = open_engine(url)
        with reading(engine) as connection:
            assert list(connection.execute(text("SELECT n FROM kept")).scalars()) == [1]
        engine.dispose()


def test_first_connections_at_once_do_not_refuse_each_other(tmp_path: Path) -> None:
    together = Barrier(4)

    def open_first(url: str) -> None:
        engine = open_engine(url)
        together.wait(timeout=60)
        with writing(engine) as connection:
            connection.execute(text("CREATE TABLE IF NOT EXISTS t (n INTEGER)"))
        engine.dispose()

    with ThreadPoolExecutor(4) as pool:
        for number in range(20):
            list(pool.map(open_first, [f"sqlite:///{tmp_path}/{number}.db"] * 4))
    assert len(list(tmp_path.glob("*.db"))) == 20
