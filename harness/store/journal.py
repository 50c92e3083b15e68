"""The ledger's journal: every event once more as a line of a file, fsynced before it is served (sla.md, Ledger)."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from filelock import FileLock

from harness.errors import StoreError
from harness.sla.model import LedgerEvent
from harness.store.files import sync_folder

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(LedgerEvent, strict=True)
_BLOCK: Final = 64 * 1024
_BATCH: Final = 1_000
"""Events written between two fsyncs."""


class BrokenJournal(StoreError):
    """A line of the journal is no event."""


@dataclass(slots=True)
class Journal:
    """`ledger.jsonl`: one event a line, in sequence. Only whole lines count; a torn last one was never served."""

    path: Path
    _durable: LedgerEvent | None = field(default=None, init=False, repr=False, compare=False)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Held by one writer at a time, of all processes on this host."""
        with self._failures():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(f"{self.path}.lock")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def last(self) -> LedgerEvent | None:
        """The event of the last whole line; None for a journal that is empty or not there yet."""
        try:
            with self._failures(), self.path.open("rb") as file:
                line = _last_line(file)
        except FileNotFoundError:
            return None
        return None if line is None else self._decode(line, "its last whole line")

    def make_durable(self, last: LedgerEvent | None) -> None:
        """Wait until the lines up to that last event would survive a power cut: another process may have written them
        and not yet waited for the disk."""
        if last is None or last == self._durable:
            return
        with self._failures(), self.path.open("rb") as file:
            os.fsync(file.fileno())
        self._durable = last

    def events(self) -> Iterator[LedgerEvent]:
        """Every whole line's event, in the order of the file. Raises BrokenJournal naming the line that is none."""
        try:
            with self._failures(), self.path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if not line.endswith(b"\n"):
                        return  # torn, or being written at this moment: what follows is the rest of it
                    yield self._decode(line, f"line {number}")
        except FileNotFoundError:
            return

    def append(self, events: Iterable[LedgerEvent]) -> None:
        """Write the events after the last whole line, durable when this returns; call it `alone`."""
        stream = iter(events)
        with self._failures():
            new = not self.path.exists()
            with self.path.open("ab") as file:
                file.truncate(_end_of_whole_lines(self.path))
                while batch := list(islice(stream, _BATCH)):
                    file.writelines(_ENCODER.encode(event) + b"\n" for event in batch)
                    file.flush()
                    os.fsync(file.fileno())
            if new:
                sync_folder(self.path.parent)

    def _decode(self, line: bytes, place: str) -> LedgerEvent:
        try:
            event = _DECODER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            event = None
        if event is None or _ENCODER.encode(event) != line.rstrip(b"\n"):
            raise BrokenJournal(f"journal {self.path}: {place} is not an event as the ledger writes it")
        return event

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"journal {self.path}: {error.strerror or type(error).__name__}") from None


def _last_line(file: BinaryIO) -> bytes | None:
    """The last line that ends with a line feed, without it; read from the end."""
    position = file.seek(0, os.SEEK_END)
    tail = b""
    while position and tail.count(b"\n") < 2:
        start = max(0, position - _BLOCK)
        file.seek(start)
        tail = file.read(position - start) + tail
        position = start
    whole, feed, _ = tail.rpartition(b"\n")
    return whole.rpartition(b"\n")[2] if feed else None


def _end_of_whole_lines(path: Path) -> int:
    """The offset behind the last line feed: what is after it was torn by a crash."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        while position:
            start = max(0, position - _BLOCK)
            file.seek(start)
            found = file.read(position - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            position = start
    return 0
