"""Both parsers survive real identifiers, arbitrary text and texts made to be slow."""

import csv
import json
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.error import CitationError
from harness.citation.lenient import find_citation
from harness.citation.parse import parse_citation, parse_section
from harness.citation.style import Style
from tests.citation.styles import LAW, STYLES
from tests.shared import shared

LONG = [
    "§" * 10_000,
    "[" * 10_000,
    "[ASME B31.3 §" + "1." * 5_000,
    "[ASME B31.3 §" + "1" * 10_000,
    "[ASME B31.3 §1" + "(a)" * 3_333 + "(",
    "[ASME B31.3 §1(" + "1." * 5_000,
    "[ASME B31.3 Table " + "1-" * 5_000,
    "[ASME B31.3 §1." + "ivxlc" * 2_000,
    "[NFPA 70 ch. 9 Table " * 500,
    "[ACI 318-19 §1 and " * 500,
    "[ICC IBC 2024 " + " " * 10_000,
    "\ud800" * 10_000,
]
DENSE = [
    "[ASME B31.3 §" + "1.1-" * 120 + "1]",
    "[ASME B31.3 §" + "1.1, " * 95 + "x]",
    "[ASME B31.3 §" + "1.1-1.2," * 60 + "x]",
    "[ASME B31.3 §1.1" + " to 1" * 95 + "]",
    "[ASME B31.3 §1] [" * 28,
    "[" + "ANSI/" * 90 + "ASME B31.3 §1]",
    "[NFPA 70 " + "Exception No. " * 30 + "]",
    "[NFPA 70 §1" + ", table 1" * 50 + "]",
]


def attempt(text: str, style: Style) -> bool:
    """Whether the strict parser accepts; any other exception than its own is a failure."""
    try:
        return parse_citation(text, style).citation == text
    except CitationError as error:
        assert error.position is not None
        assert 0 <= error.position <= len(text)
        return False


def calls_of(text: str, style: Style) -> int:
    """How many functions, of Python and of C, one strict parse calls."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        attempt(text, style)
    finally:
        sys.setprofile(before)
    return count


def test_every_real_identifier_string_is_survived() -> None:
    with shared("facts/identifier_strings.csv").open(encoding="utf-8", newline="") as file:
        strings = [row["string"] for row in csv.DictReader(file)]
    assert len(strings) == 2277
    found = dict.fromkeys(STYLES, 0)
    for style_name, style in STYLES.items():
        for string in strings:
            assert not attempt(string, style)
            assert find_citation(string, style).kind == "none"
            text = f"[{string} {'AC-2' if style.society == 'NIST' else '§5.2'}]"
            accepted = attempt(text, style)
            citation = find_citation(text, style).citation
            assert citation is not None or not accepted
            found[style_name] += citation is not None
    assert all(found[name] >= 1 for name in ("asme", "sae", "aci", "awwa", "nfpa", "icc", "asce"))


def test_every_citation_of_the_nist_corpus_is_canonical() -> None:
    style, unlabelled = STYLES["nist"], STYLES["nist_unlabelled"]
    with shared("corpora/nist/corpus.jsonl").open(encoding="utf-8") as file:
        passages = [json.loads(line) for line in file]
    assert len(passages) == 1930
    for passage in passages:
        citation = parse_citation(passage["citation"], style)
        assert (citation.standard, citation.edition_year) == (passage["standard"], passage["edition_year"])
        assert (citation.section, list(citation.section_path)) == (passage["section"], passage["section_path"])
        assert not attempt(passage["citation"], unlabelled)


@pytest.mark.parametrize("name", STYLES)
@given(text=st.text(st.characters(codec=None), max_size=60))
@LAW
def test_arbitrary_text_is_survived(name: str, text: str) -> None:
    style = STYLES[name]
    for each in (text, f"{next(iter(style.heads))}{text}", f"{next(iter(style.heads))}§{text}]"):
        if attempt(each, style):
            assert find_citation(each, style).steps == ()
        find_citation(each, style)
        try:
            parse_section(each, style)
        except CitationError as error:
            assert error.position is not None


@pytest.mark.parametrize("unit", ["1.", "1", "(a)", "ivxlc", "-", " Part I", "§"])
def test_the_strict_parser_is_linear(unit: str) -> None:
    for style in STYLES.values():
        head = f"{next(iter(style.heads))}{style.grammar.words['section']}1"
        once, twice = calls_of(head + unit * 1000, style), calls_of(head + unit * 2000, style)
        assert twice <= 2 * once + 10


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_a_long_text_is_refused_by_both(text: str) -> None:
    for style in STYLES.values():
        assert not attempt(text, style)
        assert find_citation(text, style).kind == "none"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", DENSE, ids=range(len(DENSE)))
def test_a_dense_text_is_no_citation_and_does_not_explode(text: str) -> None:
    for style in STYLES.values():
        assert not attempt(text, style)
        assert find_citation(text, style).citation is None
