"""What is read page by page, from a ledger that goes on: nothing is served before the journal has it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPException
from itertools import islice
from pathlib import Path

import pytest
from sqlalchemy.pool import QueuePool

from harness.api import queries
from harness.api.queries import Filters
from harness.errors import StoreError
from harness.sla.model import LedgerEvent
from harness.sla.settlement import draft_events
from harness.store.journal import Journal
from harness.store.ledger import Ledger, Query, Stand
from tests.api.conftest import Served, append
from tests.api.server import Caller, serving
from tests.sla.factories import SUBJECT, evaluated, terms

PAGE = 5


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MOST", PAGE)


@dataclass(frozen=True, slots=True)
class BusyLedger(Ledger):
    """A ledger to which another process appends just before anything is read, without having written its journal."""

    elsewhere: Path = Path()

    def settlements(self, query: Query, *, after: str = "") -> Iterator[Stand]:
        self._write()
        return Ledger.settlements(self, query, after=after)

    def events(self, *, after: int = 0, subject: str | None = None) -> Iterator[LedgerEvent]:
        if subject is not None:
            self._write()
        return Ledger.events(self, after=after, subject=subject)

    def _write(self) -> None:
        other = Ledger(self.engine, Journal(self.elsewhere / "ledger.jsonl"))
        number = other.count()
        evaluation = evaluated(100, under=terms(dispute_days=30), slug=f"new-{number}")
        now = evaluation.window.end
        append(other, evaluation.subject, now, lambda _now, _history: draft_events(None, evaluation, now))


def test_nothing_is_served_that_the_journal_lacks(served: Served, tmp_path: Path) -> None:
    ledger = BusyLedger(served.ledger.engine, served.ledger.journal, tmp_path / "elsewhere")
    with serving(ledger, served.clock) as url:
        for path in ("settlements?limit=1000", "settlements.csv", f"settlements/{SUBJECT}", "periods/2026-11"):
            before = served.ledger.count()
            reply = replace(served.caller, url=url).get(f"/v1/sla/{path}")
            assert reply.status == 200
            last = served.ledger.journal.last()
            assert last is not None and last.seq == served.ledger.count() > before, path
            assert SUBJECT in path or f"slf_new-{before}_" in reply.body.decode(), path


def test_the_table_is_whole_whatever_the_page(served: Served, small_pages: None) -> None:
    lines = served.caller.get("/v1/sla/settlements.csv").body.decode().splitlines()
    page = served.caller.get("/v1/sla/settlements?limit=1000").json["settlements"]
    assert [line.split(",")[0] for line in lines] == ["subject", *(each["subject"] for each in page)]
    assert len(lines) == 14


def test_a_slow_reader_of_the_table_holds_no_connection(served: Served, small_pages: None) -> None:
    engine = served.ledger.engine
    engine.dispose()
    for page in Filters().pages(served.ledger):
        assert 0 < len(page) <= PAGE
        assert isinstance(engine.pool, QueuePool) and engine.pool.checkedout() == 0


@dataclass(frozen=True, slots=True)
class FailingLedger(Ledger):
    """A ledger that cannot be read any more after some subject."""

    last: str = ""

    def settlements(self, query: Query, *, after: str = "") -> Iterator[Stand]:
        if after >= self.last:
            raise StoreError("the disk is gone")
        return Ledger.settlements(self, query, after=after)


@contextmanager
def failing_after(served: Served, last: str) -> Iterator[Caller]:
    with serving(FailingLedger(served.ledger.engine, served.ledger.journal, last), served.clock) as url:
        yield replace(served.caller, url=url)


def test_error_a_table_that_breaks_off_cannot_be_taken_for_whole(served: Served, small_pages: None) -> None:
    with failing_after(served, "slf_asme_citation_correctness_2026-12-05") as caller, pytest.raises(HTTPException):
        caller.get("/v1/sla/settlements.csv")


def test_error_a_table_that_cannot_begin_is_a_problem(served: Served, small_pages: None) -> None:
    with failing_after(served, "") as caller:
        reply = caller.get("/v1/sla/settlements.csv")
    assert (reply.status, reply.kind) == (503, "ledger-unavailable")
    assert "content-disposition" not in reply.headers


def test_the_links_lead_to_the_end(served: Served) -> None:
    seen = []
    path = "/v1/sla/events?limit=4"
    for _ in range(20):
        reply = served.caller.get(path)
        seen += [each["sequence"] for each in reply.json]
        if not reply.json:
            assert "link" not in reply.headers
            break
        match = re.fullmatch(r'<(/v1/sla/events\?after=\d{20}&limit=4)>; rel="next"', reply.headers["link"])
        assert match is not None
        path = match[1]
    assert seen == [f"{number:020d}" for number in range(1, 26)]


def test_pages_of_a_filter_are_whole(served: Served) -> None:
    """`limit` counts what is chosen, not what was looked at."""
    first = served.caller.get("/v1/sla/settlements?min_target=10&limit=1").json
    second = served.caller.get(f"/v1/sla/settlements?min_target=10&limit=1&after={first['next']}").json
    subjects = [each["subject"] for page in (first, second) for each in page["settlements"]]
    assert subjects == ["slf_asme_citation_correctness_2026-12-02", "slf_sae_citation_correctness_2026-11-29"]
    assert (first["next"], second["next"]) == (subjects[0], None)


def test_a_page_that_is_just_full_is_the_last(served: Served) -> None:
    assert served.caller.get("/v1/sla/settlements?limit=13").json["next"] is None
    assert served.caller.get("/v1/sla/settlements?limit=12").json["next"] is not None


def test_pages_are_made_when_they_are_asked_for(served: Served, small_pages: None) -> None:
    pages = list(islice(Filters(state="final").pages(served.ledger), 2))
    assert [len(page) for page in pages] == [PAGE, PAGE]
