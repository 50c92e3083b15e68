"""`upgrade` makes or keeps the schema, under one lock, and touches nothing that is not ours."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Final

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, insert, inspect, text

from harness.errors import StoreError
from harness.sla.model import EventDraft, LedgerEvent, Settlement
from harness.sla.settlement import after_draft, draft_clock, draft_events, fold
from harness.store.engine import open_engine, reading, shown, writing
from harness.store.ledger import Query
from harness.store.migrate import SCRIPTS, current, head, require_current, upgrade
from harness.store.schema import METADATA, SETTLEMENT_EVENTS
from harness.store.scores import Revision, latest_revision
from harness.store.terms import TermsUse, renew_terms, used_terms
from tests.sla.acting import after
from tests.sla.factories import NOW, breach, record, terms
from tests.store.journals import feed, ledger_of, rows, window
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


OLD: Final = ("decide_by", "assessed_percent")
"""What events said nothing of before disputes and voids were kept."""


def _old_events() -> list[LedgerEvent]:
    """Five events as the release with schema 0001 wrote them: two nights, one revised, and both final."""
    drafts: list[EventDraft] = []
    for number, percents in ((0, ("25",)), (1, ("10", "100"))):
        settlement: Settlement | None = None
        for percent in percents:
            drafts += draft_events(settlement, breach(percent, window=window(number)), NOW)
            settlement = after_draft(drafts[-1])
        assert settlement is not None
        drafts += draft_clock(settlement, after(31))
    forms: list[EventDraft] = []
    for draft in drafts:
        data = {name: value for name, value in draft.data.items() if name not in OLD}
        data["dispute"] = {name: value for name, value in data["dispute"].items() if name not in OLD}
        forms.append(replace(draft, data=data))
    return record([], forms)


def _alembic(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


OLD_ROWS: Final = (
    "INSERT INTO run (run_id, night, attempt, state, seed, transport, gateway, harness_version, started_at) "
    "VALUES ('r1', '2026-11-29', 1, 'complete', 's', 'rest', 'g', '0.1.0', 't')",
    "INSERT INTO run_society (run_id, slug, snapshot_sha256, testset_version, testset_sha256, items, expectations) "
    "VALUES ('r1', 'asme', 'a', 'v', 'b', 1, 1)",
    "INSERT INTO revision (run_id, slug, revision, scorer_version, scored_at, scores_sha256) "
    "VALUES ('r1', 'asme', 1, 1, 't', 'd')",
    "INSERT INTO terms_use (slug, version, sha256, first_night, last_night) "
    "VALUES ('asme', 3, 'c', '2026-11-01', '2026-11-29')",
)


@pytest.fixture
def old(database_url: str) -> Iterator[Engine]:
    """A database of the first release with a ledger and what else has got columns since."""
    engine = open_engine(database_url)
    with writing(engine, exclusive=True) as connection:
        command.upgrade(_alembic(connection), "0001")
        connection.execute(insert(SETTLEMENT_EVENTS), [asdict(event) for event in _old_events()])
        for statement in OLD_ROWS:
            connection.execute(text(statement))
    yield engine
    engine.dispose()


def test_a_ledger_of_the_first_release_gets_its_settlements_and_its_journal(old: Engine) -> None:
    assert current(old) == "0001"
    assert upgrade(old) == head() == current(old)
    ledger, events = ledger_of(old), _old_events()
    assert list(ledger.events()) == events
    assert rows(old)["settlement"] == [
        (events[1].subject, 2, "asme", "2026-11", "final", "2026-12-30T02:30:00Z", "2026-12-31T02:30:00Z"),
        (events[4].subject, 5, "asme", "2026-11", "final", "2026-12-30T02:30:00Z", "2026-12-31T02:30:00Z"),
    ]
    assert [stand.event for stand in ledger.settlements(Query())] == [events[1], events[4]]
    assert [stand.settlement for stand in ledger.settlements(Query())] == [fold(events[:2]), fold(events[2:])]
    assert ledger.journalled() == 5
    assert list(ledger.journal.events()) == events
    assert ledger.find_fault() is None
    before = rows(old)
    assert ledger.replay() == 0
    assert rows(old) == before


def test_a_ledger_of_the_first_release_goes_on(old: Engine) -> None:
    upgrade(old)
    ledger = ledger_of(old)
    following = record(_old_events(), draft_events(None, breach("25", window=window(2)), NOW))
    feed(ledger, following[5:])
    assert list(ledger.journal.events()) == following
    assert len(list(ledger.settlements(Query()))) == 3
    assert ledger.find_fault() is None


def test_a_schema_that_was_migrated_is_the_declared_one_and_keeps_its_rows(old: Engine) -> None:
    upgrade(old)
    with reading(old) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    assert latest_revision(old, "r1", "asme") == Revision(
        run_id="r1", slug="asme", revision=1, scorer_version=1, scored_at="t", scores_sha256="d"
    )
    used = TermsUse(
        slug="asme",
        version=3,
        sha256="c",
        first_night="2026-11-01",
        last_night="2026-11-29",
        society_id=None,
        terms=None,
    )
    assert used_terms(old) == [used]
    in_force = terms(sha256="c")
    renew_terms(old, "asme", "ASME", [in_force])
    assert used_terms(old) == [replace(used, society_id="ASME", terms=in_force)]


def test_processes_that_migrate_at_once_fill_the_settlements_once(old: Engine, database_url: str) -> None:
    assert at_once(3, _upgrade, database_url) == [head()] * 3
    assert len(rows(old)["settlement"]) == 2


def test_error_a_database_of_the_first_release_is_not_used_before_it_is_migrated(old: Engine) -> None:
    with pytest.raises(StoreError, match=r"found schema version 0001; expected 0002\. Run `harness db upgrade`"):
        require_current(old)
    assert current(old) == "0001"


def test_error_a_migration_that_fails_leaves_the_first_release_as_it_was(old: Engine) -> None:
    with writing(old) as connection:
        connection.execute(text("CREATE VIEW acknowledgement AS SELECT 1 AS n"))  # made last of the tables
    before = _tables(old)
    with pytest.raises(StoreError, match="already"):
        upgrade(old)
    assert _tables(old) == before
    assert current(old) == "0001"
    with writing(old) as connection:
        connection.execute(text("DROP VIEW acknowledgement"))
    assert upgrade(old) == head()
    assert list(ledger_of(old).events()) == _old_events()
    assert ledger_of(old).find_fault() is not None  # its journal is still to be written
    assert ledger_of(old).journalled() == 5
    assert ledger_of(old).find_fault() is None
