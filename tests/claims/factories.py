"""Random and one-line scores, and the tables they make."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, Literal

from hypothesis import strategies as st

from harness.citation.model import FIELDS
from harness.claims.part import Source
from harness.claims.produce import ClaimContext, TableFile
from harness.claims.tables import (
    ITEMS,
    ITEMS_COLUMNS,
    PASSAGES,
    PASSAGES_COLUMNS,
    SCORES,
    SCORES_COLUMNS,
    CallCosts,
    RowIds,
    item_cells,
    passage_cells,
    score_cells,
)
from harness.scoring.measures import Tally
from harness.scoring.model import ExpectationScore, ItemScore, Measure, Outcome, PassageScore

Rows = list[dict[str, str]]
Status = Literal["ok", "gateway_error", "harness_error"]

CONTEXT: Final = ClaimContext(
    society="ASME",
    slug="asme",
    night="2026-11-29",
    revision=1,
    scope="ASME B31.3 2022",
    fielded="2026-11-29T02:17:05.000000Z/2026-11-29T02:19:30.500000Z",
    tables={
        name: TableFile(url=f"https://eval.example/standards/asme/eval/2026-11-29/r1/{name}.csv", sha256=digit * 64)
        for name, digit in ((SCORES, "5"), (PASSAGES, "9"), (ITEMS, "1"))
    },
)


def score(name: str = "item-1", letters: str = "c", *, checks: Sequence[str] = FIELDS, **changes: Any) -> ItemScore:
    """An item with an expectation for each letter: c correct, i only the string wrong, m missing; `g` and `h` alone
    are an item without an answer, by the gateway's fault and by ours."""
    status: Status = {"g": "gateway_error", "h": "harness_error"}.get(letters, "ok")  # type: ignore[assignment]
    outcomes = {"c": Outcome.CORRECT, "i": Outcome.INCORRECT, "m": Outcome.MISSING}
    rows = tuple(
        ExpectationScore(
            expectation=number,
            outcome=outcomes.get(letter) or Outcome(status),
            checks=tuple(letter == "c" or (letter == "i" and name != "citation") for name in checks),
            rank=number if letter in "ci" else None,
            retrieved=letter in "ci",
            standard="B31.3",
            kind="section",
        )
        for number, letter in enumerate(letters, start=1)
    )
    fields: dict[str, Any] = {
        "item": name,
        "status": status,
        "cluster": None,
        "weight": "1",
        "standard": "B31.3",
        "kind": "section",
        "recall": None if status == "harness_error" else Fraction(sum(bool(row.retrieved) for row in rows), len(rows)),
        "reciprocal_rank": None if status == "harness_error" else Fraction(int(letters[0] in "ci")),
        "expectations": rows,
        "passages": (),
    }
    return ItemScore(**(fields | changes))


def ids_of(row: ItemScore) -> RowIds:
    """Stand-ins for the keyed hashes."""
    return RowIds(item=f"h-{row.item}", cluster=None if row.cluster is None else f"c-{row.cluster}")


def tables(scores: Iterable[ItemScore], checks: Sequence[str] = FIELDS) -> dict[str, Rows]:
    """The three tables of these scores, rows by column, in the published order."""
    found: dict[str, Rows] = {SCORES: [], PASSAGES: [], ITEMS: []}
    for row in sorted(scores, key=lambda row: ids_of(row).item):
        ids = ids_of(row)
        costs = CallCosts(latency_ms=None if row.status == "harness_error" else 41, attempts=1, tokens_returned=640)
        found[SCORES] += [dict(zip(SCORES_COLUMNS, cells, strict=True)) for cells in score_cells(row, checks, ids)]
        found[PASSAGES] += [dict(zip(PASSAGES_COLUMNS, cells, strict=True)) for cells in passage_cells(row, ids)]
        found[ITEMS].append(dict(zip(ITEMS_COLUMNS, item_cells(row, ids, costs), strict=True)))
    return found


def measures(scores: Iterable[ItemScore], checks: Sequence[str] = FIELDS) -> tuple[Measure, ...]:
    tally = Tally(checks)
    for row in scores:
        tally.add(row)
    return tally.measures()


def source(table: str = "scores", column: str = "correct", function: str = "share") -> Source:
    return Source(table=table, column=column, function=function)


CHECKS: Final = st.lists(st.sampled_from(FIELDS), min_size=1, unique=True).map(
    lambda names: tuple(sorted(names, key=FIELDS.index))
)
_VERDICT: Final = st.sampled_from([True, False, None])
_KINDS: Final = st.sampled_from(["section", "table", "odd [kind] 50%", ""])
_STANDARDS: Final = st.sampled_from(["B31.3", "J1939-21"])


@st.composite
def night(draw: st.DrawFn, checks: Sequence[str]) -> list[ItemScore]:
    """Scores of a night under these checks: any outcomes, clusters, weights and strata."""
    defined = {"society", "standard", "edition_year", "section_path"} <= set(checks)
    return [draw(_item(f"item-{number}", checks, defined)) for number in range(draw(st.integers(1, 12)))]


@st.composite
def _item(draw: st.DrawFn, name: str, checks: Sequence[str], defined: bool) -> ItemScore:
    status: Status = draw(st.sampled_from(["ok", "ok", "ok", "gateway_error", "harness_error"]))
    rows = tuple(
        draw(_expectation(number, status, len(checks), defined)) for number in range(1, draw(st.integers(1, 3)) + 1)
    )
    shares = st.integers(0, 3).map(lambda found: Fraction(found, 3))
    measured = defined and status != "harness_error"
    passages = st.builds(
        PassageScore, rank=st.integers(1, 9), edition_compliant=_VERDICT, consistent=_VERDICT, in_catalogue=_VERDICT
    )
    return ItemScore(
        item=name,
        status=status,
        cluster=draw(st.sampled_from([None, "a", "b", "item-0"])),
        weight=draw(st.sampled_from(["1", "1", "2.5", "0.1", "0"])),
        standard=rows[0].standard,
        kind=rows[0].kind,
        recall=draw(shares) if measured else None,
        reciprocal_rank=draw(shares) if measured else None,
        expectations=rows,
        passages=tuple(draw(st.lists(passages, max_size=4))) if status == "ok" else (),
    )


@st.composite
def _expectation(draw: st.DrawFn, number: int, status: Status, checks: int, defined: bool) -> ExpectationScore:
    aligned = status == "ok" and draw(st.integers(0, 3)) > 0
    told = tuple(draw(st.lists(st.booleans(), min_size=checks, max_size=checks))) if aligned else (False,) * checks
    if not aligned:
        outcome = Outcome.MISSING if status == "ok" else Outcome(status)
    else:
        outcome = Outcome.CORRECT if all(told) else Outcome.INCORRECT
    retrieved = status == "ok" and draw(st.booleans()) if defined else None
    return ExpectationScore(
        expectation=number,
        outcome=outcome,
        checks=told,
        rank=number if aligned else None,
        retrieved=retrieved,
        standard=draw(_STANDARDS),
        kind=draw(_KINDS),
    )
