"""Where a measure comes from: the triple of table, column and function, and a table's name with its stratum."""

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from harness.citation.model import FIELDS
from harness.claims.part import Source
from harness.claims.tables import ITEMS, PASSAGES, SCORES, TABLES, Table
from harness.errors import HarnessError
from harness.scoring.model import Measure

Bound = Literal["low", "high"]

_NAME: Final = re.compile(r"(?P<table>[a-z_]+)(?P<filters>(?:\[[a-z_]+=[^\[\]]*\])*)")
_FILTER: Final = re.compile(r"\[(?P<column>[a-z_]+)=(?P<value>[^\[\]]*)\]")
_QUOTED: Final = {ord(character): f"%{ord(character):02X}" for character in "%[]"}

_ORIGINS: Final = {
    "citation_correctness": (SCORES, "correct", "share"),
    "correctness_when_retrieved": (SCORES, "correct_when_retrieved", "share"),
    "string_correctness": (SCORES, "string_correct", "share"),
    "field_correctness": (SCORES, "fields_correct", "share"),
    **{f"{name}_correctness": (SCORES, f"check_{name}", "share") for name in FIELDS if name != "citation"},
    "weighted_citation_correctness": (SCORES, "correct", "weighted_share"),
    "edition_compliance": (PASSAGES, "edition_compliant", "share"),
    "passage_consistency": (PASSAGES, "consistent", "share"),
    "catalogue_membership": (PASSAGES, "in_catalogue", "share"),
    "recall_at_k": (ITEMS, "recall", "mean"),
    "mrr": (ITEMS, "reciprocal_rank", "mean"),
    "answered": (ITEMS, "answered", "share"),
}


class CannotRerun(HarnessError):
    """A claim that cannot be checked: unknown table, column or function, a broken table, or no data."""

    exit_code = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """A table and the rows of it that have each of these values in each of these columns."""

    table: Table
    filters: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name as a source states it; `%`, `[` and `]` in a value are percent-encoded."""
        return self.table.name + "".join(f"[{column}={value.translate(_QUOTED)}]" for column, value in self.filters)


def parse_subset(name: str) -> Subset:
    """The table that a source names, such as `scores` or `scores[kind=table]`.

    Raises CannotRerun for a table or column outside the closed set, a column twice, and any other form of name.
    """
    match = _NAME.fullmatch(name)
    table = None if match is None else TABLES.get(match["table"])
    if match is None or table is None:
        raise CannotRerun(
            f"unknown table {name[:80]!r}; known are {', '.join(TABLES)}, with a stratum as scores[kind=table]"
        )
    filters = tuple((found["column"], unquote(found["value"])) for found in _FILTER.finditer(match["filters"]))
    columns = [column for column, _ in filters]
    if not set(columns) <= set(table.filters) or len(set(columns)) < len(columns):
        raise CannotRerun(f"unknown stratum in {name[:80]!r}; {table.name} has {', '.join(table.filters)}, each once")
    subset = Subset(table=table, filters=filters)
    if subset.name != name:
        raise CannotRerun(f"table name {name[:80]!r} is written {subset.name[:80]!r}")
    return subset


def source_of(measure: Measure) -> Source:
    """The source that reproduces the measure's value. Raises KeyError for a measure that scoring does not describe."""
    table, column, function = _ORIGINS[measure.name]
    stratum = [] if measure.stratum is None else [measure.stratum.partition("=")]
    filters = tuple((name, value) for name, _, value in stratum)
    return Source(table=Subset(table=TABLES[table], filters=filters).name, column=column, function=function)


def bound_source_of(measure: Measure, bound: Bound) -> Source:
    """The source that reproduces a bound of the measure's interval."""
    source = source_of(measure)
    prefix = "weighted_" if source.function == "weighted_share" else ""
    return Source(table=source.table, column=source.column, function=f"{prefix}wilson_{bound}")
