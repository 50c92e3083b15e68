"""The ledger numbers events without a gap in commit order, however many append at once, and decides on all before."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, select, text

from harness.errors import StoreError
from harness.sla.ledger import find_broken_link, record_event
from harness.sla.model import EventDraft, LedgerEvent
from harness.store.engine import open_engine, reading, writing
from harness.store.ledger import Act
from harness.store.schema import ACT
from tests.sla.factories import SETTINGS
from tests.store.journals import ledger_of
from tests.store.processes import at_once

RECORDED_AT = "2026-03-02T02:30:00.000000Z"
EACH = 15
"""Events that each writer appends."""


def _next(subject: str, history: Sequence[LedgerEvent], last: LedgerEvent | None) -> LedgerEvent:
    end = "2026-03-02T00:00:00.000000Z"
    revision = len(history) + 1
    data = {
        "subject": subject,
        "revision": revision,
        "state": "open",
        "status": "met",
        "society": {"id": "ASME", "slug": "asme"},
        "window": {"kind": "night", "label": "2026-03-01", "end": end},
        "measured": {"ratio": "0.950000"},
        "target_percent": "0",
        "billable_percent": "0",
        "dispute": {"opens": end, "closes": end, "decide_by": None},
        "finalized_at": None,
    }
    draft = EventDraft(subject=subject, revision=revision, type="window.evaluated.v1", time=end, data=data)
    return record_event(draft, SETTINGS, last, RECORDED_AT)


def _append(engine: Engine, subject: str) -> Sequence[LedgerEvent]:
    return ledger_of(engine).append(subject, lambda history, last: [_next(subject, history, last)])


def _append_many(url: str, number: int) -> list[int]:
    engine = open_engine(url)
    try:
        # Half of the writers share a subject: its revisions must not be decided twice either.
        return [_append(engine, f"subject-{number % 2}")[0].seq for _ in range(EACH)]
    finally:
        engine.dispose()


def _repeatable_read(engine: Engine) -> None:
    """Give the database a default under which a transaction never sees what others commit after its first statement."""
    if engine.dialect.name == "postgresql":
        with writing(engine) as connection:
            connection.execute(
                text(f"ALTER DATABASE {engine.url.database} SET default_transaction_isolation = 'repeatable read'")
            )


def _threads(url: str) -> list[list[int]]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda number: _append_many(url, number), range(4)))


def _processes(url: str) -> list[list[int]]:
    return at_once(4, _append_many, url)


@pytest.mark.parametrize("writers", [_threads, _processes], ids=["threads", "processes"])
def test_four_writers_at_once_leave_no_gap(
    engine: Engine, database_url: str, writers: Callable[[str], list[list[int]]]
) -> None:
    _repeatable_read(engine)
    given = writers(database_url)
    assert all(numbers == sorted(numbers) for numbers in given)
    assert sorted(number for numbers in given for number in numbers) == list(range(1, 4 * EACH + 1))
    events = list(ledger_of(engine).events())
    assert [event.seq for event in events] == list(range(1, 4 * EACH + 1))
    assert find_broken_link(events) is None
    assert ledger_of(engine).count() == 4 * EACH


def test_events_come_back_as_they_were(engine: Engine) -> None:
    first, second = _append(engine, "slf_ä")[0], _append(engine, "slf_b")[0]
    third = _append(engine, "slf_ä")[0]
    assert list(ledger_of(engine).events()) == [first, second, third]
    assert list(ledger_of(engine).events(after=1)) == [second, third]
    assert list(ledger_of(engine).events(subject="slf_ä")) == [first, third]
    assert list(ledger_of(engine).events(after=1, subject="slf_ä")) == [third]
    assert list(ledger_of(engine).events(after=3)) == []
    assert ledger_of(engine).count() == 3


def test_a_decision_sees_the_subjects_history_and_the_ledgers_last_event(engine: Engine) -> None:
    seen: list[tuple[list[LedgerEvent], LedgerEvent | None]] = []

    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        seen.append((list(history), last))
        return []

    ledger_of(engine).append("a", decide)
    first, other, second = _append(engine, "a")[0], _append(engine, "b")[0], _append(engine, "a")[0]
    ledger_of(engine).append("a", decide)
    ledger_of(engine).append("b", decide)
    ledger_of(engine).append("c", decide)
    assert seen == [([], None), ([first, second], second), ([other], second), ([], second)]


def test_a_decision_for_nothing_writes_nothing(engine: Engine) -> None:
    assert ledger_of(engine).append("a", lambda _history, _last: []) == []
    assert ledger_of(engine).count() == 0


def test_a_decision_for_several_writes_them_all(engine: Engine) -> None:
    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        one = _next("a", history, last)
        return [one, _next("a", [*history, one], one)]

    assert ledger_of(engine).append("a", decide) == list(ledger_of(engine).events())
    assert ledger_of(engine).count() == 2


class Stop(Exception):
    """What breaks off a decision."""


def test_error_a_decision_that_breaks_off_writes_nothing_and_lets_others_write(engine: Engine) -> None:
    def decide(_history: Sequence[LedgerEvent], _last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        raise Stop

    with pytest.raises(Stop):
        ledger_of(engine).append("a", decide)
    assert ledger_of(engine).count() == 0
    assert [event.seq for event in _append(engine, "a")] == [1]


WHO = Act(actor="Ä. Person", note="confidential: 'by phone'")


def test_who_did_it_is_kept_with_every_event_of_the_decision_and_in_no_body(engine: Engine) -> None:
    ledger = ledger_of(engine)
    _append(engine, "a")

    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        one = _next("a", history, last)
        return [one, _next("a", [*history, one], one)]

    appended = ledger.append("a", decide, WHO)
    ledger.append("b", decide_for("b"), Act(actor="other", note=""))
    assert ledger.acts("a") == {2: WHO, 3: WHO}
    assert ledger.acts("b") == {4: Act(actor="other", note="")}
    assert ledger.acts("c") == {}
    with reading(engine) as connection:
        kept = connection.execute(select(ACT.c.event_id, ACT.c.recorded_at).where(ACT.c.seq < 4)).all()
    assert {tuple(row) for row in kept} == {(event.event_id, RECORDED_AT) for event in appended}
    served = "".join(event.body for event in ledger.events()) + ledger.journal.path.read_text()
    assert not any(word in served for word in ("Person", "phone", "confidential"))
    assert appended == list(ledger.events())[1:3]


def decide_for(subject: str) -> Callable[[Sequence[LedgerEvent], LedgerEvent | None], Sequence[LedgerEvent]]:
    return lambda history, last: [_next(subject, history, last)]


def test_a_decision_for_nothing_keeps_nobody(engine: Engine) -> None:
    ledger_of(engine).append("a", lambda _history, _last: [], WHO)
    with reading(engine) as connection:
        assert connection.execute(select(ACT)).all() == []


def test_error_an_event_whose_actor_cannot_be_kept_is_not_written(engine: Engine) -> None:
    ledger = ledger_of(engine)
    _append(engine, "a")
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE act RENAME TO away"))
    with pytest.raises(StoreError, match="act"):
        ledger.append("a", decide_for("a"), WHO)
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE away RENAME TO act"))
    assert ledger.count() == 1
    assert len(list(ledger.journal.events())) == 1
    ledger.append("a", decide_for("a"), WHO)
    assert ledger.acts("a") == {2: WHO}


def test_error_a_number_given_twice_writes_nothing(engine: Engine) -> None:
    _append(engine, "a")

    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        return [_next("b", history, last), _next("c", history, last)]

    with pytest.raises(StoreError, match=r"append-only|duplicate key value"):
        ledger_of(engine).append("b", decide)
    assert [event.subject for event in ledger_of(engine).events()] == ["a"]
