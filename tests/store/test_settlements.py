"""Settlements as they stand are found by society, month, state, clock and finalization, in the order of subjects."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Engine

from harness.sla.acts import draft_dispute, draft_rejected
from harness.sla.model import LedgerEvent, State
from harness.sla.settlement import fold
from harness.sla.windows import month_window, night_window
from harness.store.ledger import PAGE, Query, Stand
from tests.sla.acting import after
from tests.sla.factories import NIGHT, NOW, act, breach, evaluated, extend, terms, tick
from tests.store.journals import feed, ledger_of, rows, window


@cache
def _ledger() -> tuple[LedgerEvent, ...]:
    """Nine settlements in every state, of three societies, nights and months; some say more than one event."""
    events: list[LedgerEvent] = []
    for slug, number in (("asme", 0), ("asme", 2), ("asme", 1), ("ä", 0), ("aci", 1), ("aci", 0)):
        evaluation = breach("25", slug=slug, window=window(number))
        events = extend(events, evaluation, NOW + timedelta(hours=number))
    month = evaluated(under=terms(window="calendar_month"), window=month_window(NIGHT))
    events = extend(events, month, after(2))  # no days to dispute: final at once
    disputed = "slf_asme_citation_correctness_2026-11-30"
    events = act(events, lambda stands: draft_dispute(stands, after(5)), after(5), disputed)
    rejected = "slf_aci_citation_correctness_2026-11-29"
    events = act(events, lambda stands: draft_dispute(stands, after(6)), after(6), rejected)
    events = act(events, draft_rejected, after(7), rejected)
    for slug, number, day in (("asme", 2, 31), ("ä", 0, 32.5)):
        events = tick(events, after(day), f"slf_{slug}_citation_correctness_{window(number).label}")
    early = breach("25", slug="aci", window=night_window(date(2026, 10, 31)))
    return tuple(extend(extend(events, early, after(-29)), breach("10", window=window(8)), after(9)))


@pytest.fixture
def events(engine: Engine) -> list[LedgerEvent]:
    feed(ledger_of(engine), _ledger())
    return list(_ledger())


def standing(events: list[LedgerEvent]) -> dict[str, Stand]:
    """Each subject's settlement, told from the events alone."""
    found = dict[str, Stand]()
    for subject in sorted({event.subject for event in events}):
        own = [event for event in events if event.subject == subject]
        settlement = fold(own)
        assert settlement is not None
        found[subject] = Stand(event=own[-1], settlement=settlement)
    return found


def fits(stand: Stand, query: Query) -> bool:
    data: Any = stand.settlement.data
    clock = data["dispute"]["decide_by"] or data["dispute"]["closes"]
    return (
        query.slug in (None, data["society"]["slug"])
        and (query.month is None or data["window"]["start"][:7] == query.month)
        and (query.finalized_in is None or (data["finalized_at"] or "").startswith(query.finalized_in))
        and query.state in (None, data["state"])
        and (query.closed_by is None or (data["state"] != "final" and clock <= query.closed_by))
    )


def test_the_settlements_are_of_every_kind(events: list[LedgerEvent]) -> None:
    """The ledger that the other tests look into holds what their filters tell apart."""
    stands = standing(events)
    assert {stand.settlement.state for stand in stands.values()} == set(State)
    assert len(stands) == 9
    assert {stand.settlement.revision for stand in stands.values()} == {1, 2, 3}


def test_every_settlement_comes_once_as_its_events_come_to_by_subject(
    engine: Engine, events: list[LedgerEvent]
) -> None:
    found = list(ledger_of(engine).settlements(Query()))
    assert found == list(standing(events).values())
    assert [stand.event.subject for stand in found] == sorted(standing(events))
    assert ledger_of(engine).subjects() == set(standing(events))


SLUGS = (None, "asme", "aci", "ä", "as", "none")
MONTHS = (None, "2026-10", "2026-11", "2026-12", "2026", "2027-01")
FINALIZED = (None, "2026", "2026-12", "2026-12-31", "2027-01", "2027-01-01T14", "2027-02", "2")
STATES = (None, *State)
CLOCKS = (None, "2026-11-30T00:00:00Z", "2026-12-30T02:29:59Z", "2026-12-30T02:30:00Z", "2027-01-04T02:30:00Z", "9")
QUERIES = {
    "society and month": [Query(slug=slug, month=month) for slug, month in product(SLUGS, MONTHS)],
    "clock and state": [
        Query(closed_by=clock, state=state, slug=slug) for clock, state, slug in product(CLOCKS, STATES, SLUGS[:3])
    ],
    "finalization and state": [Query(finalized_in=final, state=state) for final, state in product(FINALIZED, STATES)],
    "all": [
        Query(slug="asme", month="2026-12", finalized_in="2026-12", state="final"),
        Query(slug="asme", month="2026-12", finalized_in="2026-11", state="final"),
        Query(slug="asme", month="2026-12", finalized_in="2026-12", state="final", closed_by="9"),
    ],
}


@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
def test_filters_leave_what_fits_all_of_them(
    engine: Engine, events: list[LedgerEvent], queries: Sequence[Query]
) -> None:
    stands, counts = standing(events), set[int]()
    ledger = ledger_of(engine)
    for query in queries:
        expected = [stand for stand in stands.values() if fits(stand, query)]
        assert list(ledger.settlements(query)) == expected, query
        counts.add(len(expected))
    assert {0, 1} <= counts


def test_pages_follow_each_other_behind_a_subject(engine: Engine, events: list[LedgerEvent]) -> None:
    ledger, stands = ledger_of(engine), standing(events)
    for subject in (*stands, "slf_asme", "", "~", "ü"):
        expected = [stand for name, stand in stands.items() if name > subject]
        assert list(ledger.settlements(Query(), after=subject)) == expected
    open_ones = [stand for stand in stands.values() if stand.settlement.state is State.OPEN]
    first = open_ones[0].event.subject
    assert list(ledger.settlements(Query(state="open"), after=first)) == open_ones[1:]


def test_a_clock_is_the_disputes_while_it_lasts(engine: Engine) -> None:
    """An open settlement's runs out when the days to dispute do; a disputed one's when the days to decide do."""
    ledger = ledger_of(engine)
    subject = "slf_asme_citation_correctness_2026-11-29"
    lives = extend([], breach("25"))
    feed(ledger, lives)

    def due(clock: str) -> list[str]:
        return [stand.event.subject for stand in ledger.settlements(Query(closed_by=clock))]

    assert due("2026-12-30T02:29:59Z") == []
    assert due("2026-12-30T02:30:00Z") == [subject]
    lives = act(lives, lambda stands: draft_dispute(stands, after(10)), after(10))
    feed(ledger, lives[1:])
    assert due("2026-12-30T02:30:00Z") == []
    assert due("2027-01-09T02:29:59Z") == []
    assert due("2027-01-09T02:30:00Z") == [subject]
    lives = tick(lives, after(40))
    feed(ledger, lives[2:])
    assert [stand.settlement.state for stand in ledger.settlements(Query())] == ["final"]
    assert due("9") == []


def test_a_settlement_is_found_by_its_subject(engine: Engine, events: list[LedgerEvent]) -> None:
    ledger = ledger_of(engine)
    for subject, stand in standing(events).items():
        assert ledger.settlement(subject) == stand
    for subject in (
        "slf_asme",
        "",
        "slf_asme_citation_correctness_2026-11-2_",
        "SLF_ASME_CITATION_CORRECTNESS_2026-11-29",
    ):
        assert ledger.settlement(subject) is None


def test_a_settlement_moves_with_each_of_its_events_and_with_no_other(engine: Engine) -> None:
    ledger, seen = ledger_of(engine), list[LedgerEvent]()
    for event in _ledger():
        feed(ledger, [event])
        seen.append(event)
        assert list(ledger.settlements(Query())) == list(standing(seen).values())


def test_more_settlements_than_a_page_come_in_order(engine: Engine) -> None:
    ledger = ledger_of(engine)
    evaluation = breach("25")
    events: list[LedgerEvent] = []
    last: list[LedgerEvent] = []
    for number in range(PAGE + 5):
        last = extend(last[-1:], replace(evaluation, window=window(number)))[-1:]
        events += last
    ledger.append("all at once", lambda _history, _last: events)
    found = list(ledger.settlements(Query()))
    assert [stand.event for stand in found] == sorted(events, key=lambda event: event.subject)
    assert len(rows(engine)["settlement"]) == PAGE + 5
