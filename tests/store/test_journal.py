"""The journal is one event a line, byte for byte the same whenever it is written; only whole lines count."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from io import BufferedReader
from pathlib import Path, PosixPath
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import StoreError
from harness.sla.model import LedgerEvent
from harness.store import journal as module
from harness.store.journal import BrokenJournal, Journal
from tests.store.journals import life, nights, no_room_beyond
from tests.store.processes import at_once

PLAIN = LedgerEvent(
    seq=1,
    event_id="e1",
    subject="slf_ä_2026-11-29",
    revision=1,
    type="window.evaluated.v1",
    body='{"quoted":"\\"","line":"\n","sign":"§","tab":"\t"}',
    data_sha256="0a",
    prev_sha256="00",
    recorded_at="2026-11-30T02:30:00.000000Z",
)
LINE = (
    '{"seq":1,"event_id":"e1","subject":"slf_ä_2026-11-29","revision":1,"type":"window.evaluated.v1",'
    '"body":"{\\"quoted\\":\\"\\\\\\"\\",\\"line\\":\\"\\n\\",\\"sign\\":\\"§\\",\\"tab\\":\\"\\t\\"}",'
    '"data_sha256":"0a","prev_sha256":"00","recorded_at":"2026-11-30T02:30:00.000000Z"}\n'
).encode()
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
EVENTS = st.builds(
    LedgerEvent,
    seq=st.integers(1, 2**63 - 1),
    event_id=_TEXT,
    subject=_TEXT,
    revision=st.integers(1, 2**31 - 1),
    type=_TEXT,
    body=_TEXT,
    data_sha256=_TEXT,
    prev_sha256=_TEXT,
    recorded_at=_TEXT,
)


def written(path: Path, *events: LedgerEvent) -> Journal:
    journal = Journal(path)
    journal.append(events)
    return journal


def test_a_line_is_these_bytes(tmp_path: Path) -> None:
    journal = written(tmp_path / "ledger.jsonl", PLAIN)
    assert journal.path.read_bytes() == LINE
    assert journal.last() == PLAIN
    assert list(journal.events()) == [PLAIN]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=4))
def test_any_events_come_back_and_their_lines_are_compact_json(tmp_path: Path, events: list[LedgerEvent]) -> None:
    path = tmp_path / "ledger.jsonl"
    again = tmp_path / "again.jsonl"
    for each in (path, again):
        each.unlink(missing_ok=True)
    journal = written(path, *events)
    assert list(journal.events()) == events
    assert journal.last() == (events[-1] if events else None)
    assert path.read_bytes().count(b"\n") == len(events)
    assert [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] == [asdict(event) for event in events]
    assert written(again, *journal.events()).path.read_bytes() == path.read_bytes()


def test_events_are_added_behind_what_is_there(tmp_path: Path) -> None:
    first, *others = life()
    journal = written(tmp_path / "ledger.jsonl", first)
    before = journal.path.read_bytes()
    journal.append(others)
    assert journal.path.read_bytes().startswith(before)
    assert list(journal.events()) == life()
    journal.append([])
    assert list(journal.events()) == life()
    assert written(tmp_path / "at_once.jsonl", *life()).path.read_bytes() == journal.path.read_bytes()


def test_a_journal_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "none" / "ledger.jsonl")
    assert journal.last() is None
    assert list(journal.events()) == []
    with journal.alone():
        journal.append([PLAIN])
    assert list(journal.events()) == [PLAIN]


TORN = {"nothing": b"", "one byte": LINE[:1], "half a line": LINE[:150], "all but the line feed": LINE[:-1]}


@pytest.mark.parametrize("block", [1, 2, 150, len(LINE) - 1, len(LINE), len(LINE) + 1, 64 * 1024])
@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_torn_last_line_does_not_count_and_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, torn: bytes, count: int
) -> None:
    """Whatever the pieces are in which the file is read from its end."""
    monkeypatch.setattr(module, "_BLOCK", block)
    events = [replace(PLAIN, seq=seq) for seq in range(1, count + 2)]
    journal = written(tmp_path / "ledger.jsonl", *events[:count])
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + torn)
    assert journal.last() == (events[count - 1] if count else None)
    assert list(journal.events()) == events[:count]
    journal.append(events[count:])
    assert list(journal.events()) == events
    assert journal.path.read_bytes().startswith(whole + b'{"seq":%d,' % (count + 1))


class _Completed(PosixPath):
    """A path whose torn last line is completed by its writer between two reads of one reader."""

    def open(self, *_args: Any, **_options: Any) -> Any:
        return _Reading(super().open("rb"), self)


class _Reading:
    def __init__(self, file: Any, path: Path) -> None:
        self.file = cast(BufferedReader, file)
        self.path = path

    def __enter__(self) -> "_Reading":
        return self

    def __exit__(self, *_error: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __iter__(self) -> Iterator[bytes]:
        for line in self.file:
            if not line.endswith(b"\n"):
                with Path(self.path).open("ab") as writer:
                    writer.write(LINE[len(line) :])
            yield line


def test_a_line_that_is_completed_while_it_is_read_is_not_broken(tmp_path: Path) -> None:
    """A reader takes no lock: what was half a line when it came there is not to be taken for two."""
    first = nights(1)[0]
    journal = written(tmp_path / "ledger.jsonl", first)
    with journal.path.open("ab") as file:
        file.write(LINE[:150])
    assert list(Journal(_Completed(journal.path)).events()) in ([first], [first, PLAIN])


def _without(name: str) -> bytes:
    return json.dumps({key: value for key, value in asdict(PLAIN).items() if key != name}).encode()


BROKEN = {
    "no JSON": b"{",
    "another JSON": b"[]",
    "nothing": b"",
    "a blank": LINE[:-1] + b" ",
    "a carriage return": LINE[:-1] + b"\r",
    "a byte order mark": b"\xef\xbb\xbf" + LINE[:-1],
    "a space": LINE[:-1].replace(b'"seq":1', b'"seq": 1'),
    "an escape": LINE[:-1].replace("ä".encode(), b"\\u00e4"),
    "no UTF-8": LINE[:-1].replace("ä".encode(), b"\xe4"),
    "another order": b'{"event_id":"e1",' + LINE[:-1].replace(b'"event_id":"e1",', b"")[1:],
    "a key more": LINE[:-2] + b',"more":1}',
    "a key twice": LINE[:-2] + b',"seq":1}',
    "a key less": _without("body"),
    "a text for a number": LINE[:-1].replace(b'"seq":1', b'"seq":"1"'),
    "a float": LINE[:-1].replace(b'"seq":1', b'"seq":1.0'),
    "null": LINE[:-1].replace(b'"e1"', b"null"),
    "two events": LINE[:-1] * 2,
    "the end of one": LINE[60:-1],
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_error_a_line_that_is_no_event_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(LINE + line + b"\n" + LINE)
    read = Journal(path).events()
    assert next(read) == PLAIN
    with pytest.raises(BrokenJournal) as caught:
        next(read)
    assert str(caught.value) == f"journal {path}: line 2 is not an event as the ledger writes it"
    assert Journal(path).last() == PLAIN
    path.write_bytes(LINE + line + b"\n" + LINE[:9])
    with pytest.raises(BrokenJournal) as caught:
        Journal(path).last()
    assert str(caught.value) == f"journal {path}: its last whole line is not an event as the ledger writes it"


USES: dict[str, Callable[[Journal], object]] = {
    "last": lambda journal: journal.last(),
    "events": lambda journal: list(journal.events()),
    "append": lambda journal: journal.append([PLAIN]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_error_a_place_that_takes_no_file_is_named(tmp_path: Path, use: Callable[[Journal], object]) -> None:
    (tmp_path / "ledger.jsonl").mkdir()
    with pytest.raises(StoreError) as caught:
        use(Journal(tmp_path / "ledger.jsonl"))
    assert str(caught.value) == f"journal {tmp_path}/ledger.jsonl: Is a directory"
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as caught:
        use(Journal(tmp_path / "file" / "ledger.jsonl"))
    assert str(caught.value) == f"journal {tmp_path}/file/ledger.jsonl: Not a directory"


def test_error_a_place_that_takes_no_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "ledger.jsonl", tmp_path / "file" / "deep" / "ledger.jsonl"):
        says = rf"^journal {path}: (Not a directory|File exists)$"
        with pytest.raises(StoreError, match=says), Journal(path).alone():
            pytest.fail("it was held")


@pytest.mark.parametrize("room", [0, 1, 100, len(LINE) + 1])
def test_error_a_disk_that_fills_up_leaves_whole_lines_and_a_later_append_mends(tmp_path: Path, room: int) -> None:
    journal = written(tmp_path / "ledger.jsonl", *nights(1))
    whole = journal.path.read_bytes()
    later = [PLAIN, replace(PLAIN, seq=2)]
    with no_room_beyond(len(whole) + room), pytest.raises(StoreError) as caught:
        journal.append(later)
    assert str(caught.value) == f"journal {journal.path}: File too large"
    assert len(journal.path.read_bytes()) == len(whole) + room
    left = list(journal.events())
    assert left == [*nights(1), *later[: room // len(LINE)]]
    journal.append(later[len(left) - 1 :])
    assert journal.path.read_bytes() == whole + LINE + LINE.replace(b'"seq":1', b'"seq":2')


def test_what_was_written_is_durable_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File and, when it is new, the folder that names it."""
    synced: list[tuple[int, int]] = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        fsync(handle)
        stat = os.fstat(handle)
        synced.append((stat.st_ino, stat.st_size))

    monkeypatch.setattr(os, "fsync", watched)
    monkeypatch.setattr(module, "_BATCH", 2)
    journal = written(tmp_path / "ledger.jsonl", *life()[:5])
    ends = [0]
    for line in journal.path.read_bytes().splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    inode = journal.path.stat().st_ino
    assert [size for found, size in synced if found == inode] == [ends[2], ends[4], ends[5]]
    assert tmp_path.stat().st_ino in {found for found, _ in synced}
    synced.clear()
    journal.append(life()[5:])
    assert [found for found, _ in synced] == [inode, inode]
    assert synced[-1][1] == journal.path.stat().st_size


def _count_up(path: str, _number: int) -> None:
    counter = Path(path).with_name("counter")
    for _ in range(25):
        with Journal(Path(path)).alone():
            counter.write_text(str(int(counter.read_text()) + 1))


def test_one_process_at_a_time_is_alone(tmp_path: Path) -> None:
    (tmp_path / "counter").write_text("0")
    at_once(4, _count_up, str(tmp_path / "ledger.jsonl"))
    assert (tmp_path / "counter").read_text() == "100"


def test_an_exception_gives_the_journal_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "ledger.jsonl")
    with pytest.raises(KeyError), journal.alone():
        raise KeyError
    with journal.alone():
        journal.append([PLAIN])
    assert journal.last() == PLAIN
