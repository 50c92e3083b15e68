"""What is loaded of a folder, and what is not."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from harness.errors import InvalidInput, UsageError
from harness.reference.corpus import Passage, load_library
from tests.reference.library import ACME, NINE, P100, TERMS, write_folder, write_library
from tests.shared import TESTSETS

TODAY = date(2026, 3, 1)


def test_a_passage_carries_the_societys_citation(tmp_path: Path) -> None:
    corpus = load_library(write_library(tmp_path), TODAY).corpora["acme-p100"]
    assert corpus.passages[3] == Passage(
        society="ACME",
        standard="P-100",
        section="Table 1-1",
        text="Quality factors of castings and forgings.",
        citation="[ACME P-100:2018 Table 1-1]",
        edition_year=2018,
        section_path=("table", "1-1"),
        words=6,
    )
    assert len(corpus.passages) == 6


@pytest.mark.parametrize(
    ("today", "corpus", "standard", "pinned"),
    [
        (date(2026, 3, 1), "acme-p100", "P-100", {2018}),  # the terms in force
        (date(2027, 3, 1), "acme-p100", "P-100", {2022}),
        (date(2025, 3, 1), "acme-p100", "P-100", {2022}),  # none in force: the latest version
        (date(2026, 3, 1), "acme-q7", "Q7", {2005}),  # not contracted: the newest edition held
        (date(2026, 3, 1), "bolt-9", "9", {None}),  # undated
    ],
)
def test_the_contracted_editions_are_pinned(
    tmp_path: Path, today: date, corpus: str, standard: str, pinned: set[int | None]
) -> None:
    assert load_library(write_library(tmp_path), today).corpora[corpus].pinned[standard] == pinned


def test_a_folder_without_corpus_is_passed_over(tmp_path: Path) -> None:
    write_library(tmp_path)
    (tmp_path / "bolt" / "corpus.jsonl").unlink()
    library = load_library(tmp_path, TODAY)
    assert sorted(library.corpora) == ["acme-p100", "acme-q7"]
    assert library.left_out == ()


@pytest.mark.parametrize(
    ("file", "change", "line", "key"),
    [
        ("society.toml", ('id = "BOLT"', ""), 1, "id"),
        ("corpus.jsonl", ("§2.2", "§ 2.2"), 3, "section"),
        ("corpus.jsonl", ('"9"', '"8"'), 1, "standard"),
    ],
)
def test_a_bad_folder_is_left_out_and_the_others_are_served(
    tmp_path: Path, file: str, change: tuple[str, str], line: int, key: str
) -> None:
    write_library(tmp_path)
    path = tmp_path / "bolt" / file
    path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    library = load_library(tmp_path, TODAY)
    assert sorted(library.corpora) == ["acme-p100", "acme-q7"]
    assert [(each.file, each.line, each.field) for each in library.left_out] == [(path.as_posix(), line, key)]


def test_bad_terms_leave_the_folder_out(tmp_path: Path) -> None:
    write_folder(tmp_path, ACME, P100, TERMS.replace("min_sample = 1\n", "min_sample = -1\n", 1))
    with pytest.raises(InvalidInput) as caught:
        load_library(tmp_path, TODAY)
    assert [problem.field for problem in caught.value.problems] == ["terms[0].min_sample"]


def test_error_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_library(tmp_path / "nowhere", TODAY)
    assert str(caught.value) == (
        f"{tmp_path / 'nowhere'}: no readable folder of societies (No such file or directory)."
    )


def test_two_societies_may_share_a_corpus(tmp_path: Path) -> None:
    write_folder(tmp_path, ACME, P100, TERMS)
    other = ACME.replace('"ACME"', '"ALSO"').replace('slug = "acme"', 'slug = "also"')
    write_folder(tmp_path, other, P100)
    corpus = load_library(tmp_path, TODAY).corpora["acme-p100"]
    assert corpus.societies == ("ACME", "ALSO")
    assert len(corpus.passages) == 12
    assert corpus.pinned == {"P-100": {2018, 2022}}


def test_the_shipped_societies_are_served_without_their_items(tmp_path: Path) -> None:
    """The gateway does not know the questions or their gold: it loads the same without those files."""
    whole = load_library(TESTSETS, TODAY)
    copy = tmp_path / "testsets"
    shutil.copytree(TESTSETS, copy, ignore=shutil.ignore_patterns("items.jsonl", "catalogue.jsonl", "*.md"))
    bare = load_library(copy, TODAY)
    assert whole.left_out == ()
    assert bare.corpora == whole.corpora
    assert len({society for corpus in bare.corpora.values() for society in corpus.societies}) == 7


def test_passages_do_not_show_their_text() -> None:
    passage = Passage(
        society="BOLT",
        standard="9",
        section="§1",
        text=NINE[0][3],
        citation="[BOLT 9 §1]",
        edition_year=None,
        section_path=("1",),
        words=13,
    )
    assert NINE[0][3] not in repr(passage)
