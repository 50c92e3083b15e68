"""`upgrade` makes or keeps the schema, under one lock, and touches nothing that is not ours."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, inspect, text

from harness.errors import StoreError
from harness.store.engine import open_engine, reading, shown, writing
from harness.store.migrate import current, head, require_current, upgrade
from tests.store.processes import at_once


def _tables(engine: Engine) -> set[str]:
    with reading(engine) as connection:
        return set(inspect(connection).get_table_names())


def _upgrade(url: str, _number: int) -> str:
    engine = open_engine(url)
    try:
        return upgrade(engine)
    finally:
        engine.dispose()


def test_processes_that_upgrade_at_once_make_one_schema(database_url: str) -> None:
    assert at_once(4, _upgrade, database_url) == [head()] * 4


@pytest.mark.parametrize("make", [upgrade, require_current])
def test_error_tables_of_something_else_are_left_alone(database_url: str, make: Callable[[Engine], object]) -> None:
    engine = open_engine(database_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE theirs (n INTEGER)"))
    with pytest.raises(StoreError) as caught:
        make(engine)
    assert str(caught.value) == (
        f"database {shown(engine.url)}: found tables of something else; expected an empty database or one of ours"
    )
    assert _tables(engine) == {"theirs"}
    assert current(engine) is None
    engine.dispose()


@pytest.mark.parametrize("make", [upgrade, require_current])
def test_error_a_version_of_another_release_is_named(engine: Engine, make: Callable[[Engine], object]) -> None:
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError) as caught:
        make(engine)
    assert str(caught.value) == (
        f"database {shown(engine.url)}: found schema version 9999; expected 0002. "
        "Run `harness db upgrade` with a release that knows both, or restore a backup."
    )
    assert current(engine) == "9999"


def test_error_a_migration_that_fails_leaves_an_empty_database(database_url: str) -> None:
    engine = open_engine(database_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE VIEW score AS SELECT 1 AS n"))  # made last: all else is there by then
    with pytest.raises(StoreError, match="already"):
        upgrade(engine)
    assert _tables(engine) == set()
    engine.dispose()
