"""The call journal: one line before each request leaves, so that a killed run knows what it may ask twice.

Lines survive the death of the process (the kernel holds them), which is what resuming needs; they are not fsynced.
"""

import errno
import os
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.errors import StoreError
from harness.gateway.answer import Answer, GatewayClient, Question


class CallJournal:
    """Append-only file of question refs (`asme/item-1`), one line an attempt."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sent = 0
        self._file: int | None = None

    def __enter__(self) -> Self:
        """Open for appending, counting what earlier sittings sent."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = self._whole_lines()
            self.sent = len(lines)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            # The next line must not be glued to one that a crash has torn.
            os.ftruncate(self._file, sum(len(line) for line in lines))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot open the call journal: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def counts(self) -> Counter[str]:
        """Requests sent by question ref, over all sittings. A line torn by a crash is a request that was not sent."""
        return Counter(line[:-1].decode(errors="replace") for line in self._whole_lines())

    def _whole_lines(self) -> list[bytes]:
        if not self.path.exists():
            return []
        with self.path.open("rb") as lines:
            return [line for line in lines if line.endswith(b"\n")]

    def note(self, ref: str) -> None:
        """Record that a request is about to leave. Raises StoreError: what cannot be counted is not sent."""
        assert self._file is not None  # noqa: S101 - used inside `with` only
        line = f"{ref}\n".encode()
        try:
            # A disk that fills up takes the first bytes of a line without an error.
            if (written := os.write(self._file, line)) != len(line):
                os.ftruncate(self._file, os.fstat(self._file).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise StoreError(f"{self.path}: cannot write the call journal: {error.strerror}") from None
        self.sent += 1


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
