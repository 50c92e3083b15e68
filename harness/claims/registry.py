"""The re-run of claims over a table's rows, all claims of a table in one pass (claims.md, Re-run).

Names are looked up in closed sets and nowhere else. Every sum is exact.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from harness.claims.functions import FUNCTIONS, Figure, Function, Totals
from harness.claims.part import Source
from harness.claims.source import CannotRerun, Subset, parse_subset
from harness.claims.tables import Kind
from harness.scoring.decimals import PLACES
from harness.scoring.strata import Exact, Pair, Sums

__all__ = ["FUNCTIONS", "Figure", "Row", "rerun", "rerun_all"]

Row: TypeAlias = Mapping[str, str | None]
"""A table's row by column; None, as a CSV reader gives it for a row that is cut short, counts as no such column."""

_CELLS: Final = {
    Kind.VERDICT: re.compile(r"[01]"),
    Kind.SHARE: re.compile(r"0|1|[1-9][0-9]{0,17}/[1-9][0-9]{0,17}"),
    Kind.NUMBER: re.compile(r"[0-9]{1,18}"),
    Kind.DECIMAL: re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?"),
}

_KEPT: Final = 4096
"""Distinct rows, and distinct items, that are remembered before they are folded into the sums."""


def rerun(source: Source, rows: Iterable[Row], places: int = PLACES) -> str:
    """The number that the source's function prints over the table's rows, all of them, whatever its stratum.

    Raises CannotRerun for an unknown table, stratum, column or function, a row that its table cannot hold, and where
    no row has a value: 0 of 0 is no number.
    """
    return rerun_all([source], rows)[source].text(places)


def rerun_all(sources: Iterable[Source], rows: Iterable[Row]) -> dict[Source, Figure]:
    """Every source's figure in one pass over the rows of the one table that all of them name.

    Memory grows with tagged clusters, not with rows. Wilson limits need the rows in the published order, ascending by
    item, since an item without a cluster is its own.

    Raises CannotRerun as `rerun` does, and where the sources name several tables.
    """
    claims = {source: _resolve(source) for source in sources}
    tables = {claim.subset.table.name for claim in claims.values()}
    if len(tables) > 1:
        raise CannotRerun(f"one pass reads one table; these sources name {', '.join(sorted(tables))}")
    if not claims:
        return {}
    table = tables.pop()
    reading = _Reading(tuple(claims.values()))
    for number, row in enumerate(rows, start=1):
        try:
            reading.add(row)
        except KeyError as error:
            raise CannotRerun(f"{table}: row {number} has no column {error.args[0]!r}") from None
        except CannotRerun as error:
            raise CannotRerun(f"{table}: row {number}: {error}") from None
    return {source: _figure(source, claim, reading) for source, claim in claims.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A source resolved against the closed sets."""

    subset: Subset
    column: str
    function: Function


def _resolve(source: Source) -> _Claim:
    subset = parse_subset(source.table)
    table = subset.table
    column = table.columns.get(source.column)
    if column is None:
        raise CannotRerun(f"{table.name} has no column {source.column[:80]!r}; it has {', '.join(table.columns)}")
    function = FUNCTIONS.get(source.function)
    if function is None:
        raise CannotRerun(f"unknown function {source.function[:80]!r}; known are {', '.join(FUNCTIONS)}")
    if column.kind not in function.kinds or not set(function.reads) <= set(table.columns):
        raise CannotRerun(f"{source.function} is not defined over {table.name}, column {source.column}")
    return _Claim(subset=subset, column=source.column, function=function)


def _figure(source: Source, claim: _Claim, reading: "_Reading") -> Figure:
    try:
        return claim.function.figure(reading.totals(claim))
    except CannotRerun as error:
        raise CannotRerun(f"{source.table}, {source.column}, {source.function}: {error}") from None


class _Base:
    """The cells of one column in one subset of the rows, summed. `weighted`: some function asks for the weights."""

    __slots__ = ("_good", "_open", "_squared", "_sums", "_weight", "column", "filters", "kind", "weighted")

    def __init__(self, claim: _Claim) -> None:
        self.filters = claim.subset.filters
        self.column = claim.column
        self.kind = claim.subset.table.columns[claim.column].kind
        self.weighted = False
        self._sums = Sums()
        self._open: dict[str, Pair] = {}
        self._good: Exact = 0
        self._weight: Exact = 0
        self._squared: Exact = 0

    def holds(self, row: Row) -> bool:
        """Whether the row belongs to the subset and has a value in the column."""
        return row[self.column] != "" and all(row[name] == value for name, value in self.filters)

    def fold(self, pair: Pair, cluster: str, times: int) -> None:
        """Take in `times` equal items of that good and valid, all of that cluster, or each its own where it is ""."""
        if not cluster:
            self._sums.fold(pair, times)
            return
        good, valid = self._open.get(cluster, (0, 0))
        self._open[cluster] = (good + times * pair[0], valid + times * pair[1])

    def weigh(self, value: Exact, weight: Exact, times: int) -> None:
        """Take in `times` equal cells of that weight."""
        self._good += times * weight * value
        self._weight += times * weight
        self._squared += times * weight * weight

    @property
    def totals(self) -> Totals:
        return Totals(
            sums=self._sums.total(self._open.values()),
            weighted_good=Fraction(self._good),
            weight=Fraction(self._weight),
            squared_weight=Fraction(self._squared),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What a row gives: its value for each base that holds it, and its weight where one of them asks for it."""

    by_base: tuple[tuple[_Base, Exact], ...]
    weight: Exact


class _Reading:
    """One pass over a table for claims on it. Equal items are counted first and folded into the sums together."""

    def __init__(self, claims: Sequence[_Claim]) -> None:
        self._bases: dict[tuple[str, str], _Base] = {}
        for claim in claims:
            base = self._bases.setdefault((claim.subset.name, claim.column), _Base(claim))
            base.weighted |= "weight" in claim.function.reads
        names = {name for claim in claims for name in (claim.column, *(column for column, _ in claim.subset.filters))}
        if any(base.weighted for base in self._bases.values()):
            names.add("weight")
        self._columns = tuple(sorted(names))
        self._by_cluster = any("cluster" in claim.function.reads for claim in claims)
        self._known: dict[tuple[str | None, ...], _Values] = {}
        self._item = ("", "")
        self._rows: list[_Values] = []
        self._pending: Counter[tuple[str, tuple[_Values, ...]]] = Counter()

    def add(self, row: Row) -> None:
        """Take in a row. Raises KeyError for a column that it lacks, CannotRerun for a cell that cannot be."""
        cells = tuple([row[column] for column in self._columns])
        values = self._known.get(cells)
        if values is None:
            values = self._parse(cells)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[cells] = values
        if self._by_cluster:
            item = (_cell(row, "item"), _cell(row, "cluster"))
            if item != self._item or not item[0]:
                self._begin(item)
        else:
            self._close()
        self._rows.append(values)

    def totals(self, claim: _Claim) -> Totals:
        """The sums for that claim over all rows so far."""
        self._close()
        self._settle()
        return self._bases[claim.subset.name, claim.column].totals

    def _begin(self, item: tuple[str, str]) -> None:
        if item[0] <= self._item[0]:
            raise CannotRerun(
                f"item {item[0][:40]!r} does not come after {self._item[0][:40]!r}; rows are ascending by item, "
                "the rows of an item together and of one cluster"
            )
        self._close()
        self._item = item

    def _parse(self, cells: tuple[str | None, ...]) -> _Values:
        row = dict(zip(self._columns, cells, strict=True))
        for column in self._columns:
            _cell(row, column)
        bases = [base for base in self._bases.values() if base.holds(row)]
        weight = _number(row, "weight", Kind.DECIMAL) if any(base.weighted for base in bases) else 0
        return _Values(tuple((base, _number(row, base.column, base.kind)) for base in bases), weight)

    def _close(self) -> None:
        """End the item whose rows were taken in last; where clusters do not matter, each row ends at once."""
        if self._rows:
            self._pending[self._item[1], tuple(self._rows)] += 1
            self._rows.clear()
            if len(self._pending) >= _KEPT:
                self._settle()

    def _settle(self) -> None:
        for (cluster, rows), times in self._pending.items():
            pairs: dict[_Base, Pair] = {}
            for row in rows:
                for base, value in row.by_base:
                    good, valid = pairs.get(base, (0, 0))
                    pairs[base] = (good + value, valid + 1)
                    if base.weighted:
                        base.weigh(value, row.weight, times)
            for base, pair in pairs.items():
                base.fold(pair, cluster, times)
        self._pending.clear()


def _cell(row: Row, column: str) -> str:
    cell = row[column]
    if cell is None:
        raise KeyError(column)
    return cell


def _number(row: Row, column: str, kind: Kind) -> Exact:
    """The exact number of a cell; a word counts as 0, since only its presence is ever asked for."""
    cell = _cell(row, column)
    if kind is Kind.WORD:
        return 0
    if not _CELLS[kind].fullmatch(cell):
        raise CannotRerun(f"column {column} holds {cell[:40]!r}, which is no {kind.value}")
    value = int(cell) if cell.isdigit() else Fraction(cell)
    if kind is Kind.SHARE and value > 1:
        raise CannotRerun(f"column {column} holds {cell[:40]!r}, which is above 1")
    return value
