"""Sections and their paths: one line per shape, and the place where a refusal points."""

import pytest

from harness.citation.error import CitationError
from harness.citation.parse import parse_citation, parse_section
from tests.citation.styles import STYLES

PATHS = [
    ("asme", "§304.1.2", "section", "304 1 2"),
    ("asme", "§304.1.2(a)", "section", "304 1 2 a"),
    ("asme", "§304.1.2(a)(1)", "section", "304 1 2 a 1"),
    ("asme", "§304.1.2(A)", "section", "304 1 2 A"),
    ("asme", "§304.1.2(xviii)", "section", "304 1 2 xviii"),
    ("asme", "§304.1.2(3.1)", "section", "304 1 2 3.1"),
    ("asme", "§304", "section", "304"),
    ("asme", "§K300", "section", "K300"),
    ("asme", "Table 302.3.5", "table", "table 302 3 5"),
    ("asme", "Table A-1M", "table", "table A-1M"),
    ("asme", "Table UCS-66.1", "table", "table UCS-66 1"),
    ("asme", "Figure 323.2.2A", "figure", "figure 323 2 2A"),
    ("asme", "Eq. (3a)", "equation", "equation 3a"),
    ("asme", "App. F", "appendix", "appendix F"),
    ("asme", "ch. VIII", "chapter", "VIII"),
    ("asme", "UG-27", "paragraph", "UG-27"),
    ("asme", "UG-27(c)(1)", "paragraph", "UG-27 c 1"),
    ("aci", "§R22.5.1.1", "commentary", "R22 5 1 1"),
    ("aci", "Eq. 19.2.2.1.a", "equation", "equation 19 2 2 1 a"),
    ("aci", "Table R20.1", "table", "table R20 1"),
    ("asce", "§C12.8", "commentary", "C12 8"),
    ("asce", "§R12.8", "section", "R12 8"),
    ("asce", "Table 12.2-1", "table", "table 12 2-1"),
    ("icc", "§R313.1", "section", "R313 1"),
    ("icc", "Table 721.1(2)", "table", "table 721 1 2"),
    ("nfpa", "art. 250", "article", "250"),
    ("nfpa", "ch. 9", "chapter", "9"),
    ("nfpa", "ch. 9 Table 12(A)", "table", "ch._9 table 12 A"),
    ("nfpa", "art. 250 Part III", "article", "250 part_III"),
    ("nfpa", "§250.66 Exception No. 1", "exception", "250 66 exception_1"),
    ("nfpa", "§250.122(B) Part II", "section", "250 122 B part_II"),
    ("nfpa", "Annex K", "annex", "annex K"),
    ("nist", "AC-2(1)", "control", "AC 2 1"),
    ("nist", "03.09.01", "section", "03 09 01"),
]

# The caret stands under the first character that cannot be there.
REFUSED = [
    ("asme", "", "^"),
    ("asme", "304.1.2", "^"),
    ("asme", "§", " ^"),
    ("asme", "§ 304", " ^"),
    ("asme", "§§304", " ^"),
    ("asme", "§m302", " ^"),
    ("asme", "§M", "  ^"),
    ("asme", "§ABCD1", "    ^"),
    ("asme", "§304.", "     ^"),
    ("asme", "§304..1", "     ^"),
    ("asme", "§304.note", "        ^"),
    ("asme", "§304(note)", "        ^"),
    ("asme", "§304()", "     ^"),
    ("asme", "§304(a", "      ^"),
    ("asme", "§304(a-c)", "      ^"),
    ("asme", "§304.1-304.2", "      ^"),
    ("asme", "§304.1\n", "      ^"),
    ("asme", "§٣", " ^"),
    ("asme", "Table 12.2-1-3", "            ^"),
    ("asme", "Table 12.2-1.3", "            ^"),
    ("asme", "Table 12(a)-12(b)", "           ^"),
    ("asme", "Tables 7", "     ^"),
    ("asme", "Eq. (3a", "       ^"),
    ("asme", "Eq. (3a)-(3c)", "        ^"),
    ("asme", "ch. 4.2", "     ^"),
    ("asme", "UG27", "  ^"),
    ("asme", "UG-", "   ^"),
    ("asme", "Annex K", " ^"),
    ("nfpa", "ch. 9 Table", "           ^"),
    ("nfpa", "ch. 9 Table x", "            ^"),
    ("nfpa", "ch. 9  Table 1", "      ^"),
    ("nfpa", "§250.66 Exception", "                 ^"),
    ("nfpa", "§250.66 Exception No. x", "                      ^"),
    ("nfpa", "Table 1 Part II", "       ^"),
    ("nist", "AC-2-3", "    ^"),
]


def test_the_tables_have_each_case_once() -> None:
    assert len({case[:2] for case in PATHS}) == len(PATHS) == 34
    assert len({case[:2] for case in REFUSED}) == len(REFUSED) == 35


@pytest.mark.parametrize(("name", "section", "kind", "path"), PATHS)
def test_section_path(name: str, section: str, kind: str, path: str) -> None:
    parsed = parse_section(section, STYLES[name])
    assert (parsed.kind, parsed.path) == (kind, tuple(element.replace("_", " ") for element in path.split()))


@pytest.mark.parametrize(("name", "section", "caret"), REFUSED)
def test_refusal_points_at_the_first_offending_character(name: str, section: str, caret: str) -> None:
    with pytest.raises(CitationError) as caught:
        parse_section(section, STYLES[name])
    assert caught.value.position == len(caret) - 1
    assert caught.value.diagram().splitlines()[1].startswith(caret + " expected ")


@pytest.mark.parametrize("name", STYLES)
def test_an_empty_string_is_refused(name: str) -> None:
    with pytest.raises(CitationError) as caught:
        parse_citation("", STYLES[name])
    assert caught.value.position == 0
