"""The schema comes from the migrations, is the one the code declares, and guards the ledger."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, Table, insert, select, text

from harness.errors import StoreError, UsageError
from harness.sla.model import LedgerEvent
from harness.store.acknowledgements import Acknowledgement, acknowledge
from harness.store.engine import open_engine, reading, writing
from harness.store.ledger import Act
from harness.store.migrate import current, head, require_current, upgrade
from harness.store.poolings import pooling_revision
from harness.store.runs import Supersession, create_run
from harness.store.schema import ACKNOWLEDGEMENT, ACT, METADATA, POOLING, SETTLEMENT_EVENTS, SUPERSESSION
from tests.store.factories import part, run
from tests.store.journals import ledger_of, nights

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


APPEND_ONLY: Final = (ACT, ACKNOWLEDGEMENT, POOLING, SUPERSESSION, SETTLEMENT_EVENTS)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    """A database with two rows in every table that is only ever added to."""
    for number, event in enumerate(nights(2)):
        ledger_of(engine).append(event.subject, partial(_just, event), Act(actor="A. Person", note=f"{number}"))
        acknowledgement = Acknowledgement(
            idempotency_key=f"k{number}",
            subject=event.subject,
            revision=1,
            invoice_ref="i",
            token_id="t",
            request_sha256="0",
            recorded_at=event.recorded_at,
        )
        assert acknowledge(engine, acknowledgement)[1]
        pooling_revision(engine, "asme", "2026-11", f"{number}", event.recorded_at)
    create_run(engine, run("r1"), [part("asme"), part("aci")])
    superseded = [
        Supersession(run_id="r1", slug=slug, by_run_id="r2", reason="harness_fault", recorded_at="t")
        for slug in ("asme", "aci")
    ]
    create_run(engine, run("r2", attempt=2), [part("asme", "r2")], superseded)
    return engine


def _just(event: LedgerEvent, _history: Sequence[LedgerEvent], _last: LedgerEvent | None) -> list[LedgerEvent]:
    return [event]


def _rows(engine: Engine, table: Table) -> list[tuple[Any, ...]]:
    with reading(engine) as connection:
        return sorted(tuple(row) for row in connection.execute(select(table)))


def _forged(table: Table) -> str:
    """The table's own rows with another time, as the end of an INSERT statement."""
    columns = ", ".join("'forged'" if column.name == "recorded_at" else f'"{column.name}"' for column in table.columns)
    return f"SELECT {columns} FROM {table.name} WHERE true"


def _key(table: Table) -> str:
    return ", ".join(column.name for column in table.primary_key)


def _edits(table: Table, dialect: str) -> dict[str, str]:
    """Every way to change what is there, in the words of that database."""
    upsert = f"ON CONFLICT ({_key(table)}) DO UPDATE SET recorded_at = excluded.recorded_at"
    edits = {
        "update": f"UPDATE {table.name} SET recorded_at = 'forged'",
        "delete": f"DELETE FROM {table.name}",
        "upsert": f"INSERT INTO {table.name} {_forged(table)} {upsert}",
    }
    if dialect == "sqlite":
        return edits | {"replace": f"INSERT OR REPLACE INTO {table.name} {_forged(table)}"}
    return edits | {"truncate": f"TRUNCATE {table.name} CASCADE"}


def test_error_what_is_only_added_to_takes_no_edit(filled: Engine) -> None:
    kept, taken = {table: _rows(filled, table) for table in APPEND_ONLY}, list[tuple[str, str]]()
    for table in APPEND_ONLY:
        assert len(kept[table]) == 2
        for way, statement in _edits(table, filled.dialect.name).items():
            try:
                with writing(filled) as connection:
                    connection.execute(text(statement))
            except StoreError as error:
                assert "is append-only" in str(error)
            else:
                taken.append((table.name, way))
    assert taken == []
    assert {table: _rows(filled, table) for table in APPEND_ONLY} == kept


def test_what_is_only_added_to_can_be_added_to(filled: Engine) -> None:
    assert pooling_revision(filled, "asme", "2026-11", "2", "t") == 3
    assert len(_rows(filled, POOLING)) == 3


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
