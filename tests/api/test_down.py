"""A ledger that cannot be served says so with 503 and keeps its insides to itself."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from harness.store.engine import open_engine
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from harness.store.migrate import upgrade
from tests.api.conftest import Served
from tests.api.server import Caller, serving, token_for
from tests.clock import FakeClock
from tests.databases import empty_database

PATHS = (
    "/v1/sla/events",
    "/v1/sla/settlements",
    "/v1/sla/settlements.csv",
    "/v1/sla/settlements/slf_asme_citation_correctness_2026-12-02",
    "/v1/sla/periods/2026-11",
)
ACKNOWLEDGE = "/v1/sla/settlements/slf_asme_citation_correctness_2026-12-02/acknowledgements"


def _all(caller: Caller) -> set[tuple[int, str]]:
    replies = [caller.get(path) for path in (*PATHS, "/readyz")]
    replies.append(caller.post(ACKNOWLEDGE, {"revision": 2, "invoice_ref": "I-1"}, "k"))
    assert all(reply.headers["retry-after"] == "30" for reply in replies)
    return {(reply.status, reply.kind) for reply in replies}


def test_a_ledger_behind_its_journal_is_not_served_until_it_is_replayed(served: Served) -> None:
    batch = served.caller.get("/v1/sla/events?limit=1000")
    lines = served.ledger.journal.path.read_bytes()
    with served.ledger.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM settlement WHERE seq > 22")
        if served.ledger.engine.dialect.name == "sqlite":
            connection.exec_driver_sql("DROP TRIGGER settlement_events_no_DELETE")
        else:
            connection.exec_driver_sql("DROP TRIGGER settlement_events_append_only ON settlement_events")
        connection.exec_driver_sql("DELETE FROM settlement_events WHERE seq > 22")
    assert _all(served.caller) == {(503, "ledger-unavailable")}
    assert served.caller.get("/healthz").status == 200
    assert served.ledger.replay() == 3
    assert served.caller.get("/v1/sla/events?limit=1000").body == batch.body
    assert served.ledger.journal.path.read_bytes() == lines
    assert served.caller.get("/readyz").status == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_database_that_is_gone(kind: str, tmp_path: Path) -> None:
    clock = FakeClock()
    with empty_database(kind, tmp_path) as url:
        engine = open_engine(url)
        upgrade(engine)
        token = token_for(engine, clock)
        with serving(Ledger(engine, Journal(tmp_path / "ledger.jsonl")), clock) as served:
            caller = Caller(url=served, token=token)
            assert caller.get("/readyz").status == 200
            _break(engine, kind, tmp_path)
            assert _all(caller) == {(503, "ledger-unavailable")}
            assert caller.get("/healthz").status == 200
            said = caller.get("/v1/sla/events").body.decode()
            assert "harness" not in said and str(tmp_path) not in said and "postgres" not in said
        engine.dispose()


def _break(engine: Engine, kind: str, folder: Path) -> None:
    engine.dispose()
    if kind == "sqlite":
        for file in folder.glob("harness.db*"):
            file.write_bytes(b"this is no database " * 300)
        return
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
    engine.dispose()
