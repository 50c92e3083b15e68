"""Ranking: what matches, in which order, and that no question breaks it."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.reference.corpus import Passage, load_library
from harness.reference.search import TOP, Index, match_expression
from tests.reference.library import write_library


def passage(number: int, text: str, year: int | None = 2020) -> Passage:
    return Passage(
        society="ACME",
        standard="P-100",
        section=f"§{number}",
        text=text,
        citation=f"[ACME P-100 §{number}]",
        edition_year=year,
        section_path=(str(number),),
        words=len(text.split()),
    )


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    texts = ["pressure of pipes", "bending a pipe", "bolts", "the bolt of the flange flange flange", "who may"]
    opened = Index(passage(number, text, 2018 + number) for number, text in enumerate(texts))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("question", "sections"),
    [
        ("Pressure in a pipe?", ["§0", "§1"]),  # both words before one; "pipes" and "pipe" have one stem
        ("flange bolts", ["§3", "§2"]),
        ("BENDING", ["§1"]),
        ("nothing of this is there", []),
        ("who may", ["§4"]),  # stop words alone are searched for
        ("the bolts, who may?", ["§2", "§3"]),  # beside others they are not
        ("?!", []),
        ("", []),
        ('bolt" OR "pipe', ["§2", "§0", "§1", "§3"]),  # no syntax gets through; "or" is a stop word
        ("text:bolt NOT pressure*", ["§0", "§2", "§3"]),
    ],
)
def test_ranking(index: Index, question: str, sections: list[str]) -> None:
    assert [found.section for found in index.search(question, lambda _: True)] == sections


def test_only_accepted_passages_count(index: Index) -> None:
    found = index.search("pipe bolt", lambda each: each.edition_year in {2019, 2021}, top=1)
    assert [each.section for each in found] == ["§1"]


def test_ties_keep_the_order_of_the_corpus_and_ten_are_given() -> None:
    same = Index(passage(number, "equal words") for number in range(30))
    found = same.search("equal", lambda each: each.section != "§3")
    same.close()
    assert [each.section for each in found] == [f"§{number}" for number in (0, 1, 2, 4, 5, 6, 7, 8, 9, 10)]
    assert len(found) == TOP


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("What is the wall thickness?", '"wall" OR "thickness"'),
        ("wall Wall WALL", '"wall"'),
        ("302.3.5(c) p_max", '"302" OR "3" OR "5" OR "c" OR "p" OR "max"'),
        ("is it", '"is" OR "it"'),
        ("Über straße", '"über" OR "straße"'),
    ],
)
def test_match_expression(question: str, expression: str) -> None:
    assert match_expression(question) == expression


def test_a_very_long_question_is_cut_to_64_words() -> None:
    assert match_expression(" ".join(f"w{number}" for number in range(1000))).count(" OR ") == 63


@settings(max_examples=300)
@given(question=st.text() | st.text(alphabet='"*():^-+{}ABNORT \x00\ufeff\u0301é'))
def test_no_question_breaks_the_search(index: Index, question: str) -> None:
    once = index.search(question, lambda _: True)
    assert index.search(question, lambda _: True) == once


def test_two_indexes_of_one_corpus_agree(tmp_path: Path) -> None:
    corpora = load_library(write_library(tmp_path), date(2026, 3, 1)).corpora
    indexes = [Index(corpora["acme-p100"].passages) for _ in range(2)]
    first, second = (each.search("creep in the wall of a pipe", lambda _: True) for each in indexes)
    for each in indexes:
        each.close()
    assert first == second
    assert [found.section for found in first] == ["§1.4", "§1.2", "§1.2", "§1.3"]
