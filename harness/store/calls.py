"""The call journal: one line before each request leaves, so that a killed run knows what it may ask twice.

Lines survive the death of the process (the kernel holds them), which is what resuming needs; they are not fsynced.
"""

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
            self.sent = self.counts().total()
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
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
        if not self.path.exists():
            return Counter()
        with self.path.open(encoding="utf-8") as lines:
            return Counter(line[:-1] for line in lines if line.endswith("\n"))

    def note(self, ref: str) -> None:
        """Record that a request is about to leave. Raises StoreError: what cannot be counted is not sent."""
        assert self._file is not None  # noqa: S101 - used inside `with` only
        try:
            os.write(self._file, f"{ref}\n".encode())
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
