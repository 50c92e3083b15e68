"""scores.csv, passages.csv and items.csv: streamed in one pass, digests taken while writing (claims.md, Re-run)."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from harness.claims.tables import (
    ITEMS,
    PASSAGES,
    SCORES,
    TABLES,
    CallCosts,
    RowIds,
    item_cells,
    passage_cells,
    score_cells,
)
from harness.scoring.model import Outcome, Outcomes
from harness.site.model import EvalResult
from harness.site.tree import Build

_LINE_END: Final = "\r\n"  # RFC 4180


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTable:
    """A table as written: its name, what a row is, the SHA-256 of its bytes, rows without the head."""

    name: str
    says: str
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTables:
    """The tables of a revision by claim name, and the expectations counted by outcome while they were written."""

    by_name: Mapping[str, SavedTable]
    outcomes: Outcomes

    @property
    def items(self) -> int:
        return self.by_name[ITEMS].rows

    @property
    def all(self) -> tuple[SavedTable, ...]:
        return tuple(self.by_name.values())


class _Writer:
    """One table being written: rows go in, their bytes are counted into the digest."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name = name
        self._file = file
        self._digest = sha256()
        self._csv = csv.writer(self, lineterminator=_LINE_END)
        self._csv.writerow(TABLES[name].columns)
        self._rows = 0

    def write(self, line: str) -> None:
        content = line.encode("utf-8")
        self._digest.update(content)
        self._file.write(content)

    def add(self, rows: Iterable[tuple[str, ...]]) -> None:
        for row in rows:
            self._csv.writerow(row)
            self._rows += 1

    def saved(self) -> SavedTable:
        return SavedTable(
            name=f"{self._name}.csv",
            says=TABLES[self._name].says,
            sha256=self._digest.hexdigest(),
            rows=self._rows,
        )


def save_tables(result: EvalResult, build: Build, folder: str) -> SavedTables:
    """Write the three tables to the folder from one pass over the result's rows.

    Raises PublishRefused where a canary is in one of them.
    """
    counts: Counter[Outcome] = Counter()
    with ExitStack() as files:
        scores, passages, items = writers = [
            _Writer(name, files.enter_context(build.writing(f"{folder}/{name}.csv")))
            for name in (SCORES, PASSAGES, ITEMS)
        ]
        for row in result.rows():
            ids = RowIds(item=row.item_hash, cluster=row.cluster_hash)
            costs = CallCosts(latency_ms=row.latency_ms, attempts=row.attempts, tokens_returned=row.tokens_returned)
            scores.add(score_cells(row.score, result.checks, ids))
            passages.add(passage_cells(row.score, ids))
            items.add([item_cells(row.score, ids, costs)])
            counts.update(ended.outcome for ended in row.score.expectations)
    return SavedTables(
        by_name=dict(zip((SCORES, PASSAGES, ITEMS), (writer.saved() for writer in writers), strict=True)),
        outcomes=Outcomes(**{outcome.value: counts[outcome] for outcome in Outcome}),
    )


def read_table(path: Path) -> Iterator[dict[str, str | None]]:
    """The rows of a table as written, by column."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
