"""The tables' columns, which are a promise, and the cells of a score."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.model import FIELDS
from harness.claims.tables import ITEMS_COLUMNS, PASSAGES_COLUMNS, SCORES_COLUMNS, TABLES, Kind
from harness.scoring.model import PassageScore
from tests.claims.factories import CHECKS, night, score, tables

SCORES_HEAD = (
    "item,expectation,outcome,correct,correct_when_retrieved,string_correct,fields_correct,retrieved,check_society,"
    "check_standard,check_section,check_edition_year,check_section_path,check_citation,rank,standard,kind,cluster,weight"
)
PASSAGES_HEAD = "item,rank,edition_compliant,consistent,in_catalogue,standard,kind,cluster"
ITEMS_HEAD = (
    "item,status,answered,recall,reciprocal_rank,latency_ms,attempts,tokens_returned,standard,kind,cluster,weight,"
    "expectations,passages"
)


def test_the_columns_are_those_that_were_promised() -> None:
    assert ",".join(SCORES_COLUMNS) == SCORES_HEAD
    assert ",".join(PASSAGES_COLUMNS) == PASSAGES_HEAD
    assert ",".join(ITEMS_COLUMNS) == ITEMS_HEAD
    assert list(TABLES) == ["scores", "passages", "items"]


def test_every_column_says_what_its_cells_are() -> None:
    for table in TABLES.values():
        told = [column.says for column in table.columns.values()]
        assert all(says and not says.endswith(".") for says in told)
        assert len(set(told)) == len(told)


def test_a_stratum_is_named_by_words_only() -> None:
    for table in TABLES.values():
        assert {table.columns[name].kind for name in table.filters} == {Kind.WORD}


@pytest.mark.parametrize(
    ("letters", "checks", "rows"),
    [
        ("c", FIELDS, ["h-x,1,correct,1,1,1,1,1,1,1,1,1,1,1,1,B31.3,section,,1"]),
        ("i", FIELDS, ["h-x,1,incorrect,0,0,0,1,1,1,1,1,1,1,0,1,B31.3,section,,1"]),
        ("m", FIELDS, ["h-x,1,missing,0,,0,0,0,0,0,0,0,0,0,,B31.3,section,,1"]),
        ("g", FIELDS, ["h-x,1,gateway_error,0,0,0,0,0,0,0,0,0,0,0,,B31.3,section,,1"]),
        ("h", FIELDS, ["h-x,1,harness_error,,,,,,,,,,,,,B31.3,section,,1"]),
        ("c", ("citation",), ["h-x,1,correct,1,1,1,,1,,,,,,1,1,B31.3,section,,1"]),
        ("i", ("section", "citation"), ["h-x,1,incorrect,0,0,0,1,1,,,1,,,0,1,B31.3,section,,1"]),
        ("c", ("society",), ["h-x,1,correct,1,1,,1,1,1,,,,,,1,B31.3,section,,1"]),
        (
            "cm",
            ("society",),
            [
                "h-x,1,correct,1,1,,1,1,1,,,,,,1,B31.3,section,,1",
                "h-x,2,missing,0,,,0,0,0,,,,,,,B31.3,section,,1",
            ],
        ),
    ],
)
def test_scores(letters: str, checks: tuple[str, ...], rows: list[str]) -> None:
    found = tables([score("x", letters, checks=checks)], checks)["scores"]
    assert [",".join(row.values()) for row in found] == rows


def test_passages_carry_their_items_strata_and_nothing_of_themselves() -> None:
    passages = (
        PassageScore(rank=1, edition_compliant=True, consistent=False, in_catalogue=None),
        PassageScore(rank=7, edition_compliant=None, consistent=True, in_catalogue=False),
    )
    found = tables([score("x", "c", passages=passages, cluster="304")])["passages"]
    assert [",".join(row.values()) for row in found] == [
        "h-x,1,1,0,,B31.3,section,c-304",
        "h-x,7,,1,0,B31.3,section,c-304",
    ]


@pytest.mark.parametrize(
    ("letters", "row"),
    [
        ("cmm", "h-x,ok,1,1/3,1,41,1,640,B31.3,section,,1,3,0"),
        ("g", "h-x,gateway_error,0,0,0,41,1,640,B31.3,section,,1,1,0"),
        ("h", "h-x,harness_error,,,,,1,640,B31.3,section,,1,1,0"),
    ],
)
def test_items(letters: str, row: str) -> None:
    found = tables([score("x", letters)])["items"]
    assert [",".join(cells.values()) for cells in found] == [row]


def test_what_is_not_contracted_is_empty() -> None:
    (row,) = tables([score("x", "c", recall=None, reciprocal_rank=Fraction(1, 2))])["items"]
    assert (row["recall"], row["reciprocal_rank"]) == ("", "1/2")


@given(data=st.data(), checks=CHECKS)
def test_every_expectation_passage_and_item_has_its_row_and_no_name_leaves(
    data: st.DataObject, checks: tuple[str, ...]
) -> None:
    scores = data.draw(night(checks))
    found = tables(scores, checks)
    assert len(found["scores"]) == sum(len(row.expectations) for row in scores)
    assert len(found["passages"]) == sum(len(row.passages) for row in scores)
    assert len(found["items"]) == len(scores)
    cells = {cell for rows in found.values() for row in rows for cell in row.values()}
    assert cells.isdisjoint(row.item for row in scores)
