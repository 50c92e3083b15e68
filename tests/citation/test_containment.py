"""What one section is to another, rule by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.citation.containment import Relation, relation
from harness.citation.parse import parse_section
from tests.citation.styles import LAW, STYLES, citations

INVERSE: dict[Relation, Relation] = {
    "same": "same",
    "ancestor": "descendant",
    "descendant": "ancestor",
    "sibling": "sibling",
    "other": "other",
}

# found, gold, what found is to gold
RELATIONS = [
    ("asme", "§304.1.2", "§304.1.2", "same"),
    ("asme", "§304.1", "§304.1.2", "ancestor"),
    ("asme", "§304.1.2(a)", "§304.1.2", "descendant"),
    ("asme", "§304.1.1", "§304.1.2", "sibling"),
    ("asme", "§305", "§304", "sibling"),
    ("asme", "§304", "§M304", "other"),
    ("asme", "§302.3.5", "Table 302.3.5", "other"),
    ("asme", "Table 302.3.4", "Table 302.3.5", "sibling"),
    ("asme", "Table A-1", "Table A-2", "sibling"),
    ("asme", "App. F", "§F323.2.2", "other"),
    ("asme", "UG-27(c)", "UG-27(c)(1)", "ancestor"),
    ("asme", "UG-27", "UG-28", "sibling"),
    ("asme", "UG-27", "UW-27", "other"),
    ("aci", "ch. 22", "§22.5.1", "ancestor"),
    ("aci", "ch. 22", "§22", "ancestor"),
    ("aci", "ch. 22", "Table 22.5.8.2", "ancestor"),
    ("aci", "ch. 22", "ch. 23", "sibling"),
    ("aci", "ch. 2", "§22.5", "other"),
    ("aci", "ch. 22", "§R22.5", "other"),
    ("aci", "§22.5.1.1", "§R22.5.1.1", "other"),
    ("aci", "§R22.5", "§R22.5.1.1", "ancestor"),
    ("awwa", "ch. 7", "Table 7-3", "ancestor"),
    ("awwa", "ch. 7", "Figure 7-5", "ancestor"),
    ("awwa", "ch. 5", "Eq. 5-9", "other"),
    ("asce", "ch. 12", "Table 12.2-1", "ancestor"),
    ("nfpa", "art. 250", "§250.122(B)", "ancestor"),
    ("nfpa", "art. 250", "Table 250.66", "ancestor"),
    ("nfpa", "art. 250", "art. 250 Part III", "ancestor"),
    ("nfpa", "art. 250 Part II", "art. 250 Part III", "sibling"),
    ("nfpa", "art. 250 Part III", "§250.66", "sibling"),
    ("nfpa", "art. 250", "art. 310", "sibling"),
    ("nfpa", "§250.66", "§250.66 Exception No. 1", "ancestor"),
    ("nfpa", "§250.66", "§250.122", "sibling"),
    ("nfpa", "§250.66", "§310.15", "other"),
    ("nfpa", "ch. 9", "ch. 9 Table 1", "ancestor"),
    ("nfpa", "ch. 9 Table 1", "ch. 9 Table 8", "sibling"),
    ("nfpa", "ch. 9 Table 1", "Table 1", "other"),
    ("icc", "ch. 16", "§1605.1", "ancestor"),
    ("icc", "ch. 16", "Table 1607.1", "ancestor"),
    ("icc", "ch. 2", "§202", "ancestor"),
    ("icc", "ch. 16", "§16.1", "other"),
    ("icc", "ch. 3", "§R313.1", "other"),
    ("icc", "§1605", "§1605.1", "ancestor"),
    ("icc", "§1605", "§1607", "sibling"),
    ("icc", "§1605", "§1705", "other"),
    ("nist", "AC-2", "AC-2(1)", "ancestor"),
    ("nist", "AC-2(1)", "AC-2(2)", "sibling"),
    ("nist", "AC-2", "AC-3", "sibling"),
    ("nist", "AC-2", "AU-2", "other"),
]


def test_the_table_has_each_case_once() -> None:
    assert len({case[:3] for case in RELATIONS}) == len(RELATIONS) == 49


@pytest.mark.parametrize(("name", "found", "gold", "expected"), RELATIONS)
def test_relation(name: str, found: str, gold: str, expected: Relation) -> None:
    style = STYLES[name]
    first, second = parse_section(found, style), parse_section(gold, style)
    assert relation(style, first, second) == expected
    assert relation(style, second, first) == INVERSE[expected]


@pytest.mark.parametrize("name", STYLES)
@given(data=st.data())
@LAW
def test_every_relation_has_its_inverse(name: str, data: st.DataObject) -> None:
    style = STYLES[name]
    first, second = (parse_section(data.draw(citations(style)).section, style) for _ in range(2))
    assert relation(style, second, first) == INVERSE[relation(style, first, second)]
    assert (relation(style, first, second) == "same") == (first == second)
