"""The call journal: one line before each request leaves, so that a killed run knows what it may ask twice.

Lines survive the death of the process (the kernel holds them), which is what resuming needs; they are not fsynced.
"""

import errno
import os
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from harness.errors import StoreError
from harness.gateway.answer import Answer, GatewayClient, Question

_SITTING: Final = b"\n"
"""An empty line: another sitting begins. No ref is empty."""


class CallJournal:
    """Append-only file of question refs (`asme/item-1`), one line an attempt, an empty line before each sitting.

    `sent` counts the requests of all sittings; `asked_again` how often a question was asked in a sitting although an
    earlier one had asked it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sent = 0
        self.asked_again = 0
        self._earlier: set[bytes] = set()
        self._file: int | None = None

    def __enter__(self) -> Self:
        """Open for appending, counting what earlier sittings sent, and begin a sitting."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = self._whole_lines()
            self._count(lines)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            # The next line must not be glued to one that a crash has torn.
            os.ftruncate(self._file, sum(len(line) for line in lines))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot open the call journal: {error.strerror}") from None
        self._append(_SITTING)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def counts(self) -> Counter[str]:
        """Requests sent by question ref, over all sittings. A line torn by a crash is a request that was not sent."""
        return Counter(line[:-1].decode(errors="replace") for line in self._whole_lines() if line != _SITTING)

    def _whole_lines(self) -> list[bytes]:
        if not self.path.exists():
            return []
        with self.path.open("rb") as lines:
            return [line for line in lines if line.endswith(b"\n")]

    def note(self, ref: str) -> None:
        """Record that a request is about to leave. Raises StoreError: what cannot be counted is not sent."""
        line = f"{ref}\n".encode()
        self._append(line)
        self.sent += 1
        if line in self._earlier:
            self._earlier.discard(line)
            self.asked_again += 1

    def _count(self, lines: list[bytes]) -> None:
        now: set[bytes] = set()
        for line in lines:
            if line == _SITTING:
                self._earlier |= now
                now = set()
            elif line not in now:
                now.add(line)
                self.asked_again += line in self._earlier
        self._earlier |= now
        self.sent = sum(line != _SITTING for line in lines)

    def _append(self, line: bytes) -> None:
        assert self._file is not None  # noqa: S101 - used inside `with` only
        try:
            # A disk that fills up takes the first bytes of a line without an error.
            if (written := os.write(self._file, line)) != len(line):
                os.ftruncate(self._file, os.fstat(self._file).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot write the call journal: {error.strerror}") from None


class JournaledClient:
    """A client that notes each request in the journal before it leaves, and knows which are under way."""

    def __init__(self, client: GatewayClient, journal: CallJournal, in_flight: set[str]) -> None:
        self._client = client
        self._journal = journal
        self._in_flight = in_flight

    async def ask_once(self, question: Question) -> Answer:
        self._journal.note(question.ref)
        self._in_flight.add(question.ref)
        try:
            return await self._client.ask_once(question)
        finally:
            self._in_flight.discard(question.ref)

    async def aclose(self) -> None:
        await self._client.aclose()
