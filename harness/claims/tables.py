"""The tables that every published number is re-run from: fixed columns, and the rows of a score (claims.md, Re-run).

A cell is "1" or "0" for a verdict, an exact fraction as `1/2`, a whole number, or a word. An empty cell is not
applicable, not contracted, or left out of every denominator because the failure was ours. No cell holds held-out text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final

from harness.citation.model import FIELDS
from harness.scoring.model import ExpectationScore, ItemScore, Outcome

SCORES: Final = "scores"
PASSAGES: Final = "passages"
ITEMS: Final = "items"


class Kind(Enum):
    """What a column's cells are."""

    WORD = "word"
    VERDICT = "verdict"  # 1 or 0
    SHARE = "share"  # an exact fraction in [0, 1]
    NUMBER = "number"  # a whole number, 0 or more
    DECIMAL = "decimal"  # 0 or more, as the item's author wrote it


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what its cells are, and what they say."""

    kind: Kind
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the closed set. `filters` are the columns whose values name a stratum: `scores[kind=table]`."""

    name: str
    says: str
    columns: Mapping[str, Column]
    filters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIds:
    """The keyed hashes that stand for an item and its cluster; `cluster` None: the item is its own."""

    item: str
    cluster: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCosts:
    """What was measured around an item's call. `latency_ms` None: no call was sent."""

    latency_ms: int | None
    attempts: int
    tokens_returned: int | None


_ITEM: Final = Column(Kind.WORD, "keyed hash of the item's id, the same every night")
_CLUSTER: Final = Column(Kind.WORD, "keyed hash of the item's cluster; empty: the item is a cluster of its own")
_STANDARD: Final = Column(Kind.WORD, "standard of the gold citation; an item's is that of its first expectation")
_KIND: Final = Column(Kind.WORD, "kind of the section asked for; an item's is that of its first expectation")
_WEIGHT: Final = Column(Kind.DECIMAL, "weight of the item")

TABLES: Final[Mapping[str, Table]] = {
    SCORES: Table(
        name=SCORES,
        says="one row per expectation",
        columns={
            "item": _ITEM,
            "expectation": Column(Kind.NUMBER, "number of the expectation within its item, from 1"),
            "outcome": Column(Kind.WORD, "correct, incorrect, missing, gateway_error or harness_error"),
            "correct": Column(Kind.VERDICT, "whether the outcome is correct; empty for a harness_error"),
            "correct_when_retrieved": Column(
                Kind.VERDICT,
                "the same, empty where no considered passage is relevant, but for a gateway_error, which stays in",
            ),
            "string_correct": Column(Kind.VERDICT, "whether the citation string is right"),
            "fields_correct": Column(Kind.VERDICT, "whether every contracted field beside the string is right"),
            "retrieved": Column(Kind.VERDICT, "whether some considered passage is relevant"),
            **{
                f"check_{name}": Column(Kind.VERDICT, f"whether {name} is right; empty where it is not contracted")
                for name in FIELDS
            },
            "rank": Column(Kind.NUMBER, "rank of the passage aligned with the expectation, from 1; empty without one"),
            "standard": _STANDARD,
            "kind": _KIND,
            "cluster": _CLUSTER,
            "weight": _WEIGHT,
        },
        filters=("outcome", "standard", "kind"),
    ),
    PASSAGES: Table(
        name=PASSAGES,
        says="one row per returned passage",
        columns={
            "item": _ITEM,
            "rank": Column(Kind.NUMBER, "rank of the passage in the response, from 1"),
            "edition_compliant": Column(Kind.VERDICT, "whether society and edition are contracted or asked for"),
            "consistent": Column(Kind.VERDICT, "whether the string is the society's style of the passage's fields"),
            "in_catalogue": Column(Kind.VERDICT, "whether the section exists; empty without a complete catalogue"),
            "standard": _STANDARD,
            "kind": _KIND,
            "cluster": _CLUSTER,
        },
        filters=("standard", "kind"),
    ),
    ITEMS: Table(
        name=ITEMS,
        says="one row per item",
        columns={
            "item": _ITEM,
            "status": Column(Kind.WORD, "ok, gateway_error or harness_error"),
            "answered": Column(Kind.VERDICT, "whether a usable answer came back; empty for a harness_error"),
            "recall": Column(Kind.SHARE, "share of the expectations with a relevant passage, as an exact fraction"),
            "reciprocal_rank": Column(Kind.SHARE, "one over the rank of the first relevant passage, 0 without one"),
            "latency_ms": Column(Kind.NUMBER, "milliseconds to the answer; empty where no call was sent"),
            "attempts": Column(Kind.NUMBER, "calls sent for the item, retries with them"),
            "tokens_returned": Column(Kind.NUMBER, "tokens of the answer as the gateway counts them"),
            "standard": _STANDARD,
            "kind": _KIND,
            "cluster": _CLUSTER,
            "weight": _WEIGHT,
            "expectations": Column(Kind.NUMBER, "expectations of the item"),
            "passages": Column(Kind.NUMBER, "passages returned for the item"),
        },
        filters=("status", "standard", "kind"),
    ),
}
"""The closed set of tables by name; columns are in file order and are added at the end only."""

SCORES_COLUMNS: Final = tuple(TABLES[SCORES].columns)
PASSAGES_COLUMNS: Final = tuple(TABLES[PASSAGES].columns)
ITEMS_COLUMNS: Final = tuple(TABLES[ITEMS].columns)


def score_cells(score: ItemScore, checks: Sequence[str], ids: RowIds) -> Iterator[tuple[str, ...]]:
    """The item's rows of scores.csv, in the order of `SCORES_COLUMNS`; `checks` are the contracted ones, in order."""
    for row in score.expectations:
        yield (
            ids.item,
            str(row.expectation),
            row.outcome.value,
            *_verdicts(row, checks),
            _whole(row.rank),
            row.standard,
            row.kind,
            ids.cluster or "",
            score.weight,
        )


def passage_cells(score: ItemScore, ids: RowIds) -> Iterator[tuple[str, ...]]:
    """The item's rows of passages.csv, in the order of `PASSAGES_COLUMNS`; strata are the item's own."""
    for row in score.passages:
        yield (
            ids.item,
            str(row.rank),
            _verdict(row.edition_compliant),
            _verdict(row.consistent),
            _verdict(row.in_catalogue),
            score.standard,
            score.kind,
            ids.cluster or "",
        )


def item_cells(score: ItemScore, ids: RowIds, costs: CallCosts) -> tuple[str, ...]:
    """The item's row of items.csv, in the order of `ITEMS_COLUMNS`."""
    return (
        ids.item,
        score.status,
        _verdict(None if score.status == "harness_error" else score.status == "ok"),
        _fraction(score.recall),
        _fraction(score.reciprocal_rank),
        _whole(costs.latency_ms),
        str(costs.attempts),
        _whole(costs.tokens_returned),
        score.standard,
        score.kind,
        ids.cluster or "",
        score.weight,
        str(len(score.expectations)),
        str(len(score.passages)),
    )


def _verdicts(row: ExpectationScore, checks: Sequence[str]) -> tuple[str, ...]:
    """The cells from `correct` to the last check; all empty where the failure was ours."""
    if row.outcome is Outcome.HARNESS_ERROR:
        return ("",) * (5 + len(FIELDS))
    correct = row.outcome is Outcome.CORRECT
    by_name = dict(zip(checks, row.checks, strict=True))
    others = [true for name, true in by_name.items() if name != "citation"]
    return (
        _verdict(correct),
        _verdict(correct if _in_retrieved_base(row) else None),
        _verdict(by_name.get("citation")),
        _verdict(all(others) if others else None),
        _verdict(row.retrieved),
        *(_verdict(by_name.get(name)) for name in FIELDS),
    )


def _in_retrieved_base(row: ExpectationScore) -> bool:
    """Whether correctness_when_retrieved counts the row: a call that failed stays in, or an outage would raise it."""
    return row.retrieved is not None and (row.retrieved or row.outcome is Outcome.GATEWAY_ERROR)


def _verdict(true: bool | None) -> str:
    return "" if true is None else "01"[true]


def _whole(number: int | None) -> str:
    return "" if number is None else str(number)


def _fraction(value: Fraction | None) -> str:
    return "" if value is None else str(value)
