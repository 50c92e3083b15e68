"""A database that is older than its journal, or of another history, is closed until the journal has been replayed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from harness.errors import StoreError
from harness.sla.model import LedgerEvent
from harness.store.journal import BrokenJournal, Journal
from harness.store.ledger import Act, Ledger, LedgerBehind
from tests.sla.factories import breach, extend
from tests.store.journals import copied, feed, ledger_of, life, lines, nights, rows, tamper, window

WHOLE = len(life())


@contextmanager
def restored(engine: Engine, folder: Path, older: int) -> Iterator[Ledger]:
    """The ledger of a backup that is so many events older than the journal of the database it is of."""
    now = ledger_of(engine)
    feed(now, life()[: WHOLE - older])
    with copied(engine, folder / "restored") as copy:
        feed(now, life()[WHOLE - older :])
        yield Ledger(copy, now.journal)


def batches(ledger: Ledger, through: int) -> list[list[LedgerEvent]]:
    return [ledger.batch(after=after, through=through, limit=3) for after in range(0, through, 3)]


def refused(ledger: Ledger) -> str:
    """What appending and serving are both refused with; nothing was written by either."""
    before, kept = rows(ledger.engine), lines(ledger)
    following = extend(life(), breach("100", window=window(9)))[-1:]
    says = set[str]()
    for use in (lambda: feed(ledger, following), ledger.journalled):
        with pytest.raises(LedgerBehind) as caught:
            use()
        says.add(str(caught.value))
    assert rows(ledger.engine) == before
    assert lines(ledger) == kept
    assert len(says) == 1
    return says.pop()


@pytest.mark.parametrize("older", [1, 3, WHOLE])
def test_error_a_restored_database_neither_writes_nor_serves_until_it_is_replayed(
    engine: Engine, tmp_path: Path, older: int
) -> None:
    with restored(engine, tmp_path, older) as ledger:
        assert refused(ledger) == (
            f"ledger: the database ends at event {WHOLE - older}, its journal {ledger.journal.path} at {WHOLE}: an "
            "older database was restored. Nothing is written or served until `harness flags replay` has restored the "
            "rest."
        )
        kept = lines(ledger)
        assert ledger.replay() == older
        assert rows(ledger.engine) == rows(engine)
        assert lines(ledger) == kept
        assert ledger.journalled() == WHOLE
        assert batches(ledger, WHOLE) == batches(ledger_of(engine), WHOLE) == [life()[:3], life()[3:6], life()[6:]]
        assert ledger.find_fault() is None
        assert ledger.replay() == 0
        assert rows(ledger.engine) == rows(engine)
        assert lines(ledger) == kept


def test_a_replayed_ledger_goes_on_as_if_nothing_had_been(engine: Engine, tmp_path: Path) -> None:
    following = extend(life(), breach("100", window=window(9)))
    with restored(engine, tmp_path, 3) as ledger:
        ledger.replay()
        feed(ledger, following[WHOLE:])
        assert list(ledger.events()) == list(ledger.journal.events()) == following
        assert ledger.find_fault() is None


def test_a_torn_last_line_is_not_replayed(engine: Engine, tmp_path: Path) -> None:
    with restored(engine, tmp_path, 3) as ledger:
        path = ledger.journal.path
        path.write_bytes(path.read_bytes()[:-9])
        assert ledger.replay() == 2
        assert list(ledger.events()) == list(ledger.journal.events()) == life()[:-1]
        assert ledger.journalled() == WHOLE - 1


def test_replaying_writes_on_a_journal_that_is_behind(engine: Engine) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life())
    whole = ledger.journal.path.read_bytes()
    for left in (whole[:3000], b"", None):
        ledger.journal.path.unlink() if left is None else ledger.journal.path.write_bytes(left)
        assert ledger.replay() == 0
        assert ledger.journal.path.read_bytes() == whole


def test_replaying_an_empty_ledger_does_nothing(engine: Engine) -> None:
    ledger = ledger_of(engine)
    assert ledger.replay() == 0
    assert ledger.count() == 0


def test_replaying_makes_the_settlements_anew_from_their_events(engine: Engine) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life())
    before = rows(engine)
    for statement in (
        "UPDATE settlement SET state = 'final', closes_at = 'x'",
        "UPDATE settlement SET seq = 1",
        "DELETE FROM settlement",
        "INSERT INTO settlement SELECT 'ghost', seq, slug, month, state, closes_at, finalized_at FROM settlement "
        "WHERE seq = 8",
    ):
        tamper(engine, statement)
        assert rows(engine) != before
        assert ledger.replay() == 0
        assert rows(engine) == before


def test_what_was_noted_by_hand_of_events_that_the_backup_has_is_kept(engine: Engine, tmp_path: Path) -> None:
    ledger = ledger_of(engine)
    first, second = life()[:2]
    ledger.append(first.subject, lambda _history, _last: [first], Act(actor="A. Person", note="by phone"))
    with copied(engine, tmp_path / "restored") as copy:
        feed(ledger, [second])
        old = Ledger(copy, ledger.journal)
        assert old.replay() == 1
        assert rows(copy) == rows(engine)
        assert old.acts(first.subject) == {1: Act(actor="A. Person", note="by phone")}


def _digit(line: bytes) -> bytes:
    """The line with another count of good: still an event, yet not the one that its digest is of."""
    assert b'\\"good\\":150' in line
    return line.replace(b'\\"good\\":150', b'\\"good\\":151')


LAST_THREE_BROKEN: dict[str, Callable[[list[bytes]], Sequence[bytes]]] = {
    "a digit of a missing event": lambda kept: [*kept[:6], _digit(kept[6]), *kept[7:]],
    "a digit of the last": lambda kept: [*kept[:7], _digit(kept[7])],
    "a line gone": lambda kept: [*kept[:6], *kept[7:]],
    "two lines swapped": lambda kept: [*kept[:5], kept[6], kept[5], kept[7]],
    "a line twice": lambda kept: [*kept[:7], kept[6], kept[7]],
    "the last line twice": lambda kept: [*kept, kept[7]],
    "the first line gone": lambda kept: kept[1:],
    "a digit of an event that both have": lambda kept: [kept[0], _digit(kept[1]), *kept[2:]],
}


def test_error_a_journal_whose_chain_is_broken_is_not_replayed(engine: Engine, tmp_path: Path) -> None:
    with restored(engine, tmp_path, 3) as ledger:
        before, whole = rows(ledger.engine), ledger.journal.path.read_bytes()
        for way, edit in LAST_THREE_BROKEN.items():
            ledger.journal.path.write_bytes(b"".join(edit(whole.splitlines(keepends=True))))
            kept = lines(ledger)
            with pytest.raises(StoreError, match=rf"^journal {ledger.journal.path}: event \d \(slf_asme_.*\): "):
                pytest.fail(f"{way}: {ledger.replay()} replayed")
            assert rows(ledger.engine) == before
            assert lines(ledger) == kept


def test_error_a_journal_with_a_line_that_is_no_event_is_not_replayed(engine: Engine, tmp_path: Path) -> None:
    with restored(engine, tmp_path, 3) as ledger:
        kept = lines(ledger)
        ledger.journal.path.write_bytes(b"".join([*kept[:6], b"{}\n", *kept[7:]]))
        before = rows(ledger.engine)
        with pytest.raises(BrokenJournal, match=r"line 7 is not an event as the ledger writes it$"):
            ledger.replay()
        assert rows(ledger.engine) == before


def other_history(count: int) -> list[LedgerEvent]:
    """Events that agree with `life` in the first two only."""
    events = life()[:2]
    while len(events) < count:
        events = extend(events, breach("100", window=window(len(events))))
    return events


def of_another(engine: Engine, folder: Path, count: int) -> Ledger:
    """A database with so many events of another history, and the journal of `life`."""
    feed(Ledger(engine, Journal(folder / "own.jsonl")), other_history(count))
    ledger = Ledger(engine, Journal(folder / "ledger.jsonl"))
    ledger.journal.append(life())
    return ledger


TWO = "they are of two histories. Restore the database that belongs to the journal; see: harness flags verify"


@pytest.mark.parametrize("count", [3, 8])
def test_error_a_database_of_another_history_is_refused(engine: Engine, tmp_path: Path, count: int) -> None:
    """One shorter and one as long as the journal."""
    ledger = of_another(engine, tmp_path, count)
    if count == WHOLE:
        assert refused(ledger) == (
            f"ledger: event {WHOLE} of the database is not the one that its journal {ledger.journal.path} has: {TWO}"
        )
    else:
        assert f"the database ends at event {count}, its journal" in refused(ledger)


def test_error_a_longer_database_of_another_history_is_not_served(engine: Engine, tmp_path: Path) -> None:
    ledger = of_another(engine, tmp_path, WHOLE + 1)
    kept = lines(ledger)
    with pytest.raises(LedgerBehind) as caught:
        ledger.journalled()
    assert str(caught.value) == (
        f"ledger: event {WHOLE} of the database is not the one that its journal {ledger.journal.path} has: {TWO}"
    )
    assert lines(ledger) == kept


def test_error_a_longer_database_of_another_history_is_not_written_to(engine: Engine, tmp_path: Path) -> None:
    ledger = of_another(engine, tmp_path, WHOLE + 1)
    assert TWO in refused(ledger)


@pytest.mark.parametrize("count", [3, 8, 9])
def test_error_a_database_of_another_history_is_not_replayed(engine: Engine, tmp_path: Path, count: int) -> None:
    ledger = of_another(engine, tmp_path, count)
    before, kept = rows(engine), lines(ledger)
    with pytest.raises(LedgerBehind) as caught:
        ledger.replay()
    assert str(caught.value) == (
        f"ledger: event 3 of the database is not the one that its journal {ledger.journal.path} has: {TWO}"
    )
    assert rows(engine) == before
    assert lines(ledger) == kept
    fault = ledger.find_fault()
    assert fault is not None
    assert (fault.seq, fault.says) == (3, "the journal's line and the database's row differ")


def test_error_a_last_event_that_differs_in_anything_is_another_history(engine: Engine, tmp_path: Path) -> None:
    ledger = Ledger(engine, Journal(tmp_path / "own.jsonl"))
    feed(ledger, nights(2))
    last = nights(2)[-1]
    for name in LedgerEvent.__slots__:
        if name == "seq":
            continue
        journal = Journal(tmp_path / f"{name}.jsonl")
        changed: dict[str, object] = {name: 7 if name == "revision" else "x"}
        journal.append([nights(1)[0], replace(last, **changed)])  # type: ignore[arg-type]
        other = Ledger(engine, journal)
        with pytest.raises(LedgerBehind, match="they are of two histories"):
            other.journalled()
        with pytest.raises(LedgerBehind, match="they are of two histories"):
            feed(other, nights(3)[2:])
    assert ledger.count() == 2


def test_error_a_database_that_lost_an_event_in_the_middle_is_not_replayed(engine: Engine) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life())
    tamper(engine, "DELETE FROM settlement_events WHERE seq = 4")
    before = rows(engine)
    with pytest.raises(LedgerBehind):
        ledger.replay()
    assert rows(engine) == before
