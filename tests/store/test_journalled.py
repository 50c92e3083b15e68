"""Nothing is served before it is in the journal and durable there, and a journal that is behind is written on."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from signal import SIGKILL

import pytest
from sqlalchemy import Engine

from harness.errors import StoreError
from harness.sla.evaluation import Evaluated
from harness.sla.model import LedgerEvent
from harness.sla.settlement import draft_events, fold
from harness.store.engine import open_engine
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from tests.sla.factories import NOW, breach, record
from tests.store.journals import feed, ledger_of, life, lines, nights, no_room_beyond, rows, window
from tests.store.processes import at_once

Append = Callable[[Ledger], object]

MENDS: dict[str, Append] = {
    "the next append": lambda ledger: feed(ledger, life()[ledger.count() :][:1]),
    "asking what may be served": lambda ledger: ledger.journalled(),
}


def _bytes(events: Sequence[LedgerEvent], folder: Path) -> bytes:
    """What a journal of these events is, written by itself."""
    path = folder / "expected.jsonl"
    path.unlink(missing_ok=True)
    Journal(path).append(events)
    return path.read_bytes()


def test_an_empty_ledger_serves_nothing(engine: Engine) -> None:
    ledger = ledger_of(engine)
    assert ledger.journalled() == 0
    assert ledger.batch(after=0, through=0, limit=9) == []
    assert ledger.journal.last() is None


def test_each_event_is_a_line_of_the_journal_in_order(engine: Engine, tmp_path: Path) -> None:
    ledger = ledger_of(engine)
    for number, event in enumerate(life(), start=1):
        feed(ledger, [event])
        assert ledger.journal.path.read_bytes() == _bytes(life()[:number], tmp_path)
        assert ledger.journalled() == number


def test_the_journal_is_written_when_others_can_see_the_event(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the commit: a journal that is ahead of its database would close it."""
    seen: list[int] = []
    append = Journal.append

    def watched(journal: Journal, events: Sequence[LedgerEvent]) -> None:
        other = open_engine(database_url)
        seen.append(ledger_of(other).count())
        other.dispose()
        append(journal, events)

    monkeypatch.setattr(Journal, "append", watched)
    feed(ledger_of(engine), life()[:3])
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_what_is_given_back_is_durable(engine: Engine, monkeypatch: pytest.MonkeyPatch, mend: Append) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life()[:5])
    ledger.journal.path.unlink()
    synced: list[int] = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        fsync(handle)
        if os.fstat(handle).st_ino == ledger.journal.path.stat().st_ino:
            synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", watched)
    mend(ledger)
    assert synced[-1] == ledger.journal.path.stat().st_size
    assert len(lines(ledger)) == ledger.count()


def test_a_line_that_another_writes_is_not_served_before_it_is_durable(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line can be read before its writer's fsync has returned, which a power cut would still take away."""
    ledger, told = ledger_of(engine), list[str]()
    fsync = os.fsync

    def serve() -> None:
        told.append(f"served {ledger.journalled()}")

    def slow(handle: int) -> None:
        if not asked:
            asked.append(pool.submit(serve))
            wait(asked, timeout=0.5)  # a reader that waits for the writer is done later only
        fsync(handle)
        told.append("durable")

    feed(ledger, life()[:1])
    asked = list[Future[None]]()
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(os, "fsync", slow)
        feed(ledger, life()[1:2])
    assert "served 2" in told
    assert told.index("durable") < told.index("served 2")


def _die(*_args: object) -> None:
    os.kill(os.getpid(), SIGKILL)


def _append_and_die(url: str, at: str) -> None:
    engine = open_engine(url)
    dead = pytest.MonkeyPatch()
    if at == "journal":
        dead.setattr(Journal, "append", _die)
    else:
        dead.setattr(os, "fsync", _die)
    feed(ledger_of(engine), life()[4:5])


def _killed(url: str, at: str) -> None:
    """A writer of the fifth event is killed with -9 after its commit, when it comes to the journal or its fsync."""
    child = get_context("spawn").Process(target=_append_and_die, args=(url, at))
    child.start()
    child.join(60)
    assert child.exitcode == -SIGKILL
    child.close()


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_a_writer_killed_between_commit_and_journal_leaves_an_event_that_the_next_journals(
    engine: Engine, database_url: str, tmp_path: Path, mend: Append
) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life()[:4])
    _killed(database_url, "journal")
    assert list(ledger.events()) == life()[:5]
    assert lines(ledger) == _bytes(life()[:4], tmp_path).splitlines(keepends=True)
    mend(ledger)
    assert ledger.journal.path.read_bytes() == _bytes(list(ledger.events()), tmp_path)
    assert ledger.find_fault() is None


def test_a_writer_killed_before_its_lines_were_durable_leaves_that_to_the_next(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life()[:4])
    _killed(database_url, "fsync")
    assert len(lines(ledger)) == 5
    synced: list[int] = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        fsync(handle)
        synced.append(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", watched)
    assert ledger.journalled() == 5
    assert ledger.journal.path.stat().st_ino in synced


BEHIND: tuple[Callable[[bytes], bytes], ...] = (
    lambda whole: b"".join(whole.splitlines(keepends=True)[:2]),
    lambda whole: whole[:-200],
    lambda whole: whole[:-1],
    lambda whole: whole[:200],
    lambda _whole: b"",
)


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_a_journal_that_is_behind_is_written_on(engine: Engine, tmp_path: Path, mend: Append) -> None:
    """By lines, by half a line, by the last line feed, by all but half a line, by all."""
    ledger = ledger_of(engine)
    feed(ledger, life()[:3])
    for left in BEHIND:
        ledger.journal.path.write_bytes(left(ledger.journal.path.read_bytes()))
        mend(ledger)
        assert ledger.journal.path.read_bytes() == _bytes(list(ledger.events()), tmp_path)
    assert ledger.find_fault() is None


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_a_journal_that_is_gone_is_made_whole_from_the_database(engine: Engine, tmp_path: Path, mend: Append) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life()[:5])
    moved = Ledger(engine, Journal(tmp_path / "another" / "volume" / "ledger.jsonl"))
    mend(moved)
    assert moved.journal.path.read_bytes() == _bytes(list(moved.events()), tmp_path)


def _forbid(journal: Journal) -> None:
    journal.path.unlink(missing_ok=True)
    journal.path.mkdir()


def _allow(journal: Journal) -> None:
    journal.path.rmdir()


def test_error_a_journal_that_cannot_be_read_lets_nothing_be_written(engine: Engine) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life()[:2])
    before = rows(engine)
    _forbid(ledger.journal)
    for use in MENDS.values():
        with pytest.raises(StoreError) as caught:
            use(ledger)
        assert str(caught.value) == f"journal {ledger.journal.path}: Is a directory"
    assert rows(engine) == before


@pytest.mark.parametrize("way", ["a directory in its place", "a file for its folder"])
def test_error_a_journal_that_fails_after_the_commit_is_told_and_mended_later(
    engine: Engine, tmp_path: Path, way: str
) -> None:
    place = tmp_path / "volume"
    ledger = Ledger(engine, Journal(place / "ledger.jsonl"))
    event = life()[0]

    def decide(_history: Sequence[LedgerEvent], _last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        if way == "a file for its folder":
            place.touch()
        else:
            place.mkdir()
            _forbid(ledger.journal)
        return [event]

    with pytest.raises(StoreError, match=rf"^journal {ledger.journal.path}: (Is a directory|Not a directory)$"):
        ledger.append(event.subject, decide)
    assert list(ledger.events()) == [event]
    with pytest.raises(StoreError):
        ledger.journalled()
    if place.is_dir():
        _allow(ledger.journal)
    else:
        place.unlink()
    assert ledger.journalled() == 1
    assert list(ledger.journal.events()) == [event]


@pytest.mark.parametrize("room", [0, 500])
def test_error_a_full_disk_under_the_journal_holds_the_event_back_until_there_is_room(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    ledger = ledger_of(engine)
    feed(ledger, life()[:3])
    append = Journal.append

    def full(journal: Journal, events: Sequence[LedgerEvent]) -> None:
        with no_room_beyond(journal.path.stat().st_size + room):
            append(journal, list(events))

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", full)
        for _ in range(2):  # the second finds the half line that the first could still write
            with pytest.raises(StoreError) as caught:
                feed(ledger, life()[3:4]) if ledger.count() == 3 else ledger.journalled()
            assert str(caught.value) == f"journal {ledger.journal.path}: File too large"
    assert list(ledger.events()) == life()[:4]
    assert list(ledger.journal.events()) == life()[:3]
    feed(ledger, life()[4:5])
    assert list(ledger.journal.events()) == life()[:5]


WRITERS, READERS, EACH = 3, 3, 12


def _revise(evaluation: Evaluated, history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
    before = [] if last is None else [last]
    return record(before, draft_events(fold(history), evaluation, NOW))[len(before) :]


def _write(ledger: Ledger, number: int) -> list[LedgerEvent]:
    """Every writer's own night and, by turns, one that all share; each time with another percent, which is news."""
    given: list[LedgerEvent] = []
    for turn in range(EACH):
        evaluation = breach(str(1 + turn * WRITERS + number), window=window(number * (turn % 2)))
        given += ledger.append(evaluation.subject, partial(_revise, evaluation))
    return given


def _read(ledger: Ledger, total: int) -> list[LedgerEvent]:
    """What a consumer gets who starts before there is anything and stops at the last event."""
    read: list[LedgerEvent] = []
    for _ in range(60_000):
        through = ledger.journalled()
        written = ledger.journal.last()
        assert through <= (0 if written is None else written.seq)
        read += ledger.batch(after=len(read), through=through, limit=5)
        if len(read) >= total:
            break
    return read


def _write_or_read(url: str, number: int) -> list[LedgerEvent]:
    engine = open_engine(url)
    try:
        return _write(ledger_of(engine), number) if number < WRITERS else _read(ledger_of(engine), WRITERS * EACH)
    finally:
        engine.dispose()


def test_writers_and_readers_at_once_see_one_ledger_without_gap_or_double(engine: Engine, database_url: str) -> None:
    ledger = ledger_of(engine)
    results = at_once(WRITERS + READERS, _write_or_read, database_url)
    events = list(ledger.events())
    assert [event.seq for event in events] == list(range(1, WRITERS * EACH + 1))
    given = [event for written in results[:WRITERS] for event in written]
    assert sorted(given, key=lambda event: event.seq) == events
    assert results[WRITERS:] == [events] * READERS
    assert list(ledger.journal.events()) == events
    assert ledger.find_fault() is None
    assert len({event.subject for event in events}) == WRITERS


def test_batches_follow_each_other_up_to_what_may_be_served(engine: Engine) -> None:
    ledger, events = ledger_of(engine), nights(5)
    feed(ledger, events)
    assert ledger.batch(after=0, through=5, limit=2) == events[:2]
    assert ledger.batch(after=2, through=5, limit=2) == events[2:4]
    assert ledger.batch(after=4, through=5, limit=2) == events[4:]
    assert ledger.batch(after=5, through=5, limit=2) == []
    assert ledger.batch(after=0, through=3, limit=9) == events[:3]
    assert ledger.batch(after=3, through=3, limit=9) == []
