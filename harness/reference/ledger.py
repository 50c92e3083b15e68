"""The gateway's own record of its calls, written before the response leaves; it never holds a question's text."""

import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError

_PRAGMAS: Final = ("PRAGMA busy_timeout = 5000", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL")
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS call (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    key_sha256 TEXT NOT NULL,
    operation TEXT NOT NULL,
    corpus TEXT,
    question_sha256 TEXT,
    status INTEGER NOT NULL,
    tokens_returned INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One authenticated and metered call. `at` is UTC text; `status` the HTTP status; the key stands as its SHA-256."""

    id: str
    at: str
    key_sha256: str
    operation: str
    corpus: str | None = None
    question_sha256: str | None = None
    status: int
    tokens_returned: int
    latency_ms: int

    def wire(self) -> dict[str, Any]:
        """The audit that `GET /api/v1/calls/{id}` gives."""
        told = asdict(self)
        del told["key_sha256"]
        return {"ledger_entry_id": told.pop("id"), **told}


class Ledger:
    """Calls in a SQLite file, or in memory without one. Raises UsageError for a file that cannot be opened as such."""

    def __init__(self, path: Path | None) -> None:
        target = ":memory:" if path is None else str(path)
        try:
            self._database = sqlite3.connect(target, check_same_thread=False, isolation_level=None)
        except sqlite3.Error as error:
            raise UsageError(f"{target}: cannot open the gateway's ledger: {error}") from None
        try:
            for statement in (*_PRAGMAS, _SCHEMA):
                self._database.execute(statement)
        except sqlite3.Error as error:
            self._database.close()
            raise UsageError(f"{target}: cannot open the gateway's ledger: {error}") from None

    def write(self, call: Call) -> None:
        """Append a call; it is committed when this returns."""
        self._database.execute(
            "INSERT INTO call VALUES (:id, :at, :key_sha256, :operation, :corpus, :question_sha256, :status,"
            " :tokens_returned, :latency_ms)",
            asdict(call),
        )

    def find(self, entry: str, key_sha256: str) -> Call | None:
        """The call of that id, if that key made it."""
        rows = self._database.execute("SELECT * FROM call WHERE id = ? AND key_sha256 = ?", (entry, key_sha256))
        names = [column[0] for column in rows.description]
        row = rows.fetchone()
        return None if row is None else Call(**dict(zip(names, row, strict=True)))

    def count(self) -> int:
        """Calls written in all."""
        total: int = self._database.execute("SELECT count(*) FROM call").fetchone()[0]
        return total

    def asked(self) -> Mapping[str, int]:
        """How often each question was asked, by its SHA-256, refused calls included."""
        return dict(
            self._database.execute(
                "SELECT question_sha256, count(*) FROM call WHERE question_sha256 IS NOT NULL GROUP BY question_sha256"
            )
        )

    def close(self) -> None:
        self._database.close()


def new_entry_id() -> str:
    """An id that no other call has."""
    return f"le_{secrets.token_hex(12)}"


def digest_of(text: str) -> str:
    """SHA-256 as it stands in the ledger, for a question and for a key."""
    return sha256(text.encode()).hexdigest()
