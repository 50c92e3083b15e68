"""Whatever is not as it was written is named: a row, a line, a settlement, or that some are missing."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Engine, event

from harness.sla.ledger import BrokenLink
from harness.store.engine import open_engine
from harness.store.journal import BrokenJournal
from harness.store.ledger import Ledger
from tests.store.journals import feed, ledger_of, life, nights, put_back, rows, tamper

LIFE = life()
FIRST, SECOND, THIRD = (each.subject for each in LIFE[:3])


@pytest.fixture
def ledger(engine: Engine) -> Ledger:
    """The eight events of `life` with their journal."""
    ledger = ledger_of(engine)
    feed(ledger, LIFE)
    return ledger


def fault(ledger: Ledger) -> tuple[int, str, str]:
    found = ledger.find_fault()
    assert found is not None
    return found.seq, found.subject, found.says


def test_an_untouched_ledger_has_no_fault(ledger: Ledger) -> None:
    assert ledger.find_fault() is None


def test_an_empty_ledger_has_no_fault(engine: Engine) -> None:
    assert ledger_of(engine).find_fault() is None


LINKED = "the event before it was altered, or this one's link was"
DIGEST = "its data differs from the digest beside it"
ROW = "its body and its row disagree"
MISSING = "the database lacks it, its journal has it; `harness flags replay` restores it"
BODY = "UPDATE settlement_events SET body = replace(body, '\"good\":150', '\"good\":151') WHERE seq ="
GONE = "DELETE FROM settlement_events WHERE seq"


ROWS: tuple[tuple[list[str], int, str], ...] = (
    ([f"{BODY} 3"], 3, DIGEST),
    ([f"{BODY} 8"], 8, DIGEST),
    (["UPDATE settlement_events SET recorded_at = '2026-11-30T02:30:01+00:00' WHERE seq = 8"], 8, ROW),
    (["UPDATE settlement_events SET prev_sha256 = data_sha256 WHERE seq = 8"], 8, LINKED),
    (["UPDATE settlement_events SET seq = 9 WHERE seq = 8"], 9, "sequence 9 stands where 8 is due"),
    ([f"{GONE} = 4"], 5, "sequence 5 stands where 4 is due"),
    ([f"{GONE} = 1"], 2, "sequence 2 stands where 1 is due"),
    ([f"{GONE} > 6"], 7, MISSING),
    ([f"{GONE} = 8"], 8, MISSING),
    (["DELETE FROM settlement", f"{GONE} > 0"], 1, MISSING),
)


def test_a_tampered_row_is_named(ledger: Ledger) -> None:
    kept = rows(ledger.engine)
    for statements, seq, says in ROWS:
        tamper(ledger.engine, *statements)
        assert fault(ledger) == (seq, LIFE[min(seq, 8) - 1].subject, says), statements
        put_back(ledger.engine, kept)
        assert ledger.find_fault() is None


def test_a_ledger_cut_off_along_with_its_settlements_is_named_by_its_journal(ledger: Ledger) -> None:
    """The three last events gone without a trace in the database itself."""
    tamper(
        ledger.engine,
        f"{GONE} > 5",
        "UPDATE settlement SET seq = 4, state = 'disputed', closes_at = 'x' WHERE seq = 6",
        "DELETE FROM settlement WHERE seq > 5",
    )
    assert fault(ledger) == (6, FIRST, MISSING)


Edit = Callable[[list[bytes]], Sequence[bytes]]
DIFFER = "the journal's line and the database's row differ"
LINES: dict[str, tuple[Edit, int, str]] = {
    "a digit": (lambda kept: [*kept[:2], kept[2].replace(b'good\\":150', b'good\\":151'), *kept[3:]], 3, DIFFER),
    "a digit of the last": (lambda kept: [*kept[:7], kept[7].replace(b'good\\":150', b'good\\":151')], 8, DIFFER),
    "two lines swapped": (lambda kept: [kept[0], kept[2], kept[1], *kept[3:]], 3, DIFFER),
    "a line twice": (lambda kept: [*kept[:3], kept[2], *kept[3:]], 3, DIFFER),
    "a line gone": (lambda kept: [*kept[:3], *kept[4:]], 5, DIFFER),
    "the first gone": (lambda kept: kept[1:], 2, DIFFER),
    "the end gone": (
        lambda kept: kept[:6],
        7,
        "the journal ends before it; `harness flags replay` repairs the journal",
    ),
    "all gone": (lambda _kept: [], 1, "the journal ends before it; `harness flags replay` repairs the journal"),
}


def test_a_tampered_line_is_named(ledger: Ledger) -> None:
    path = ledger.journal.path
    before = path.read_bytes()
    for way, (edit, seq, says) in LINES.items():
        path.write_bytes(b"".join(edit(before.splitlines(keepends=True))))
        assert path.read_bytes() != before
        assert fault(ledger) == (seq, LIFE[seq - 1].subject, says), way


def test_the_last_line_twice_is_a_line_too_many(ledger: Ledger) -> None:
    """The database lacks nothing, so replaying is no remedy."""
    path = ledger.journal.path
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
    seq, _, says = fault(ledger)
    assert seq == 8
    assert "database lacks" not in says


def test_error_a_line_that_is_no_event_is_named(ledger: Ledger) -> None:
    path = ledger.journal.path
    kept = path.read_bytes().splitlines(keepends=True)
    for line in (b"\n", b"{}\n", b"no JSON\n", b'{"seq":3}\n'):
        path.write_bytes(b"".join([*kept[:2], line, *kept[3:]]))
        with pytest.raises(BrokenJournal, match=r"line 3 is not an event as the ledger writes it$"):
            ledger.find_fault()


OTHERWISE = "its settlement does not say so; `harness flags replay` makes it anew"


SETTLEMENTS = (
    "UPDATE settlement SET state = 'open' WHERE seq = 8",
    "UPDATE settlement SET closes_at = '2027-12-29T02:30:00Z' WHERE seq = 8",
    "UPDATE settlement SET finalized_at = '2027-01-09T02:30:01Z' WHERE seq = 8",
    "UPDATE settlement SET finalized_at = NULL WHERE seq = 8",
    "UPDATE settlement SET slug = 'aci' WHERE seq = 8",
    "UPDATE settlement SET month = '2026-11' WHERE seq = 8",
    "UPDATE settlement SET seq = 3 WHERE seq = 8",
    "DELETE FROM settlement WHERE seq = 8",
    "UPDATE settlement SET subject = 'slf_ghost' WHERE seq = 8",
)


def test_an_altered_settlement_is_named_and_made_anew(ledger: Ledger) -> None:
    kept = rows(ledger.engine)
    for statement in SETTLEMENTS:
        tamper(ledger.engine, statement)
        assert fault(ledger) == (8, THIRD, OTHERWISE), statement
        ledger.replay()
        assert rows(ledger.engine) == kept
        assert ledger.find_fault() is None


@pytest.mark.parametrize("seq", [1, 8])
def test_a_settlement_without_events_is_named(ledger: Ledger, seq: int) -> None:
    """At an old event or at one that has its own settlement, whether its row lies before or behind the others."""
    kept = rows(ledger.engine)
    ghost = ("slf_ghost", seq, *kept["settlement"][0][2:])
    for settlements in ([*kept["settlement"], ghost], [ghost, *kept["settlement"]]):
        put_back(ledger.engine, {"settlement": settlements})
        assert ledger.find_fault() is not None


def check_meanwhile(ledger: Ledger, moment: int, append: Callable[[], None]) -> tuple[BrokenLink | None, bool]:
    """What a check finds while another appends after its so-manieth statement, and whether it came to that one."""
    statements, appended = count(1), list[Future[None]]()

    def after_statement(*_args: Any) -> None:
        if next(statements) == moment:
            appended.append(pool.submit(append))
            wait(appended, timeout=0.5)  # a check that makes writers wait lets this one go on when it is done

    with ThreadPoolExecutor(1) as pool:
        event.listen(ledger.engine, "after_cursor_execute", after_statement)
        found = ledger.find_fault()
        event.remove(ledger.engine, "after_cursor_execute", after_statement)
    for each in appended:
        each.result()
    return found, bool(appended)


def test_an_event_appended_at_any_moment_of_a_check_is_no_fault(engine: Engine, database_url: str) -> None:
    """Checking takes a while, and the nightly goes on meanwhile."""
    ledger, events = ledger_of(engine), nights(30)
    feed(ledger, events[:3])
    other = open_engine(database_url)
    faults = dict[int, BrokenLink | None]()
    for moment in range(1, 28):
        append = partial(feed, ledger_of(other), events[moment + 2 :][:1])
        faults[moment], reached = check_meanwhile(ledger, moment, append)
        if not reached:
            break
    other.dispose()
    assert len(faults) > 1
    assert {moment: found for moment, found in faults.items() if found is not None} == {}
    assert ledger.find_fault() is None
