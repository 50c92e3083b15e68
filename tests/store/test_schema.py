"""The schema comes from the migrations, is the one the code declares, and guards the ledger."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, insert, text

from harness.errors import StoreError, UsageError
from harness.store.engine import open_engine, reading, writing
from harness.store.migrate import current, head, require_current, upgrade
from harness.store.schema import METADATA, SETTLEMENT_EVENTS

EVENT = {
    "seq": 1,
    "event_id": "e1",
    "subject": "slf_asme_citation_correctness_2026-11-29",
    "revision": 1,
    "type": "com.citehouse.eval.window.evaluated.v1",
    "body": "{}",
    "data_sha256": "00",
    "prev_sha256": "00",
    "recorded_at": "2026-11-30T00:00:00.000000Z",
}


def test_migrations_make_the_declared_schema(engine: Engine) -> None:
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_every_text_sorts_by_code_point(engine: Engine) -> None:
    """Told by the declared collation: a server whose own is C would sort so by itself."""
    if engine.dialect.name == "sqlite":
        query = "SELECT sql FROM sqlite_schema WHERE sql LIKE '%COLLATE%'"  # its default is by bytes of UTF-8
    else:
        query = (
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' "
            "AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'"
        )
    with reading(engine) as connection:
        assert connection.execute(text(query)).all() == []


def test_a_new_database_gets_its_schema_by_itself(database_url: str) -> None:
    engine = open_engine(database_url)
    assert current(engine) is None
    require_current(engine)
    assert current(engine) == head()
    engine.dispose()


def test_upgrading_again_changes_nothing(engine: Engine) -> None:
    assert upgrade(engine) == upgrade(engine) == head()


def test_error_a_schema_of_another_release_is_refused(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"found schema version 9999; expected 0002"):
        require_current(engine)
    with pytest.raises(StoreError, match=r"found schema version 9999; expected 0002"):
        upgrade(engine)


def test_error_a_database_of_something_else_is_left_alone(database_url: str) -> None:
    engine = open_engine(database_url)
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE theirs (n INTEGER)"))
    with pytest.raises(StoreError, match="found tables of something else"):
        require_current(engine)
    engine.dispose()


@pytest.mark.parametrize(
    "statement", ["UPDATE settlement_events SET body = 'x'", "DELETE FROM settlement_events WHERE seq = 1"]
)
def test_error_the_ledger_takes_no_edit(engine: Engine, statement: str) -> None:
    with writing(engine) as connection:
        connection.execute(insert(SETTLEMENT_EVENTS).values(**EVENT))
    with pytest.raises(StoreError, match="settlement_events is append-only"), writing(engine) as connection:
        connection.execute(text(statement))
    with reading(engine) as connection:
        assert connection.execute(text("SELECT body FROM settlement_events")).scalar_one() == "{}"


@pytest.mark.parametrize("seq", [1, 2, 3, 0])
def test_error_the_ledger_takes_no_replacement(engine: Engine, seq: int) -> None:
    """INSERT OR REPLACE would otherwise remove a row without asking the guard against deletion."""
    with writing(engine) as connection:
        connection.execute(insert(SETTLEMENT_EVENTS).values(**EVENT))
    row = EVENT | {"body": "forged", "seq": seq}
    word = "INSERT OR REPLACE" if engine.dialect.name == "sqlite" else "INSERT"
    statement = text(f"{word} INTO settlement_events ({', '.join(row)}) VALUES (:{', :'.join(row)})")
    with pytest.raises(StoreError), writing(engine) as connection:
        connection.execute(statement, row)
    with reading(engine) as connection:
        assert connection.execute(text("SELECT body FROM settlement_events")).scalars().all() == ["{}"]


@pytest.mark.parametrize("url", ["nonsense", "mysql://u:secret@h/d", "sqlite://", "postgresql://u:secret@h/d"])
def test_error_other_databases_are_refused_without_their_password(url: str) -> None:
    with pytest.raises(UsageError, match=r"expected sqlite:///FILE or postgresql\+psycopg://") as caught:
        open_engine(url)
    assert "secret" not in str(caught.value)


def test_error_a_database_that_is_down_says_which(tmp_path: object) -> None:
    engine = open_engine("postgresql+psycopg://u:secret@127.0.0.1:1/none")
    with pytest.raises(StoreError, match=r"^database postgresql\+psycopg://u:\*\*\*@127\.0\.0\.1:1/none: ") as caught:
        current(engine)
    assert "secret" not in str(caught.value)
