"""Diagnosis shapes: each once at least, their order, and that nothing can make it raise (scoring.md, Diagnosis)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.citation.format import format_citation
from harness.citation.model import Citation
from harness.citation.parse import parse_section
from harness.scoring.diagnosis import FIELD_SHAPES, PASSAGE_SHAPES, STRING_SHAPES, Diagnosis, diagnose
from tests.scoring.factories import gold, passage, score, style, styles, terms
from tests.scoring.hostile import passages

CATALOGUE = frozenset({("B31.3", 2022, "§304.1.2")})
YEARS = {"B31.3": 2022, "J1939-21": 2024, "318": 2019, "70": 2023, "IBC": 2024, "M11": 2017}


def cited(society: str, standard: str, section: str) -> Citation:
    """A gold citation printed in its society's style, of the edition in YEARS."""
    year, own = YEARS[standard], style(society)
    return Citation(
        society=society,
        standard=standard,
        section=section,
        edition_year=year,
        section_path=parse_section(section, own).path,
        citation=format_citation(own, standard=standard, section=section, edition_year=year),
    )


ASME = cited("ASME", "B31.3", "§304.1.2")
SAE = cited("SAE", "J1939-21", "§5.2")
ACI = cited("ACI", "318", "§22.5")
NFPA = cited("NFPA", "70", "§250.66")
ICC = cited("ICC", "IBC", "§1605.1")

STRING_CASES = [
    (ASME, None, "not_a_string"),
    (ASME, 7, "not_a_string"),
    (ASME, ["[ASME B31.3 §304.1.2]"], "not_a_string"),
    (ASME, "[ASME B31.3  §304.1.2]", "whitespace"),
    (ASME, "[ASME B31.3\u00a0§304.1.2]", "whitespace"),
    (ASME, "[ASME B31.3 § 304.1.2]", "whitespace"),
    (ASME, "[ASME B31.3 §304.1.2]\n", "whitespace"),
    (ASME, "[ASME B31.3 §304.1.\u200b2]", "lookalike"),
    (ACI, "[ACI 318\u201319 §22.5]", "lookalike"),
    (ACI, "[ACI 318\u201119  §22.5]", "lookalike"),
    (ASME, "[asme b31.3 §304.1.2]", "case"),
    (ACI, "[aci 318\u201319  §22.5]", "case"),
    (ASME, "ASME B31.3 §304.1.2", "brackets"),
    (ASME, "(ASME B31.3 §304.1.2)", "brackets"),
    (ASME, "［ASME B31.3 §304.1.2］", "brackets"),
    (ASME, "[asme B31.3 §304.1.2", "brackets"),
    (SAE, "[SAE J1939-21 §5.2]", "style"),
    (SAE, "[SAE J1939-21 2024 §5.2]", "style"),
    (ICC, "[ICC IBC §1605.1]", "style"),
    (ICC, "icc ibc:2024 §1605.1", "style"),
    (ACI, "[ACI 318 §22.5]", "style"),
    (ASME, "[ASME B31.3-22 §304.1.2]", "style"),
    (ASME, "[ASME B31.3 2022 §304.1.2]", "style"),
    (ASME, "ASME B31.3, Section 304.1.2", "style"),
    (SAE, "[SAE J1939-21:2022 §5.2]", "edition"),
    (SAE, "[SAE J1939-21:2022 §5.3]", "edition"),
    (ASME, "[ASME B31.3-2018 §304.1.2]", "edition"),
    (ASME, "[NFPA 70 art. 250]", "society"),
    (ASME, "[SAE J1939-21:2022 §5.2]", "society"),
    (ASME, "[SAE B31.3 §304.1.2]", "society"),
    (ASME, "[NFPA 70 §250.66, §250.68]", "society"),
    (ASME, "[ASME B31.3 §304.1.2-304.1.4]", "section:other"),
    (ASME, "[ASME B31.1 §304.1.2]", "standard"),
    (ASME, "[ASME B31.1 §304.1.9]", "standard"),
    (ASME, "[ASME B31.3 §304.1]", "section:ancestor"),
    (ASME, "[ASME B31.3 §304.1.2(a)]", "section:descendant"),
    (ASME, "[ASME B31.3 §304.1.1]", "section:sibling"),
    (ASME, "[ASME B31.3 §305.2]", "section:other"),
    (ASME, "[ASME B31.3 Table 304.1.2]", "section:other"),
    (NFPA, "[NFPA 70 art. 250]", "section:ancestor"),
    (NFPA, "[NFPA 70 §250.68]", "section:sibling"),
    (ASME, "", "unparseable"),
    (ASME, "see the standard", "unparseable"),
    (ASME, "[ASME B313 §30412]", "unparseable"),
    (ASME, "[ASME B31.3 §304.1.2 and whatever else]", "unparseable"),
    (ASME, "§" * 10_000, "unparseable"),
]


def diagnosed(of: Citation, **changes: Any) -> Diagnosis:
    """The diagnosis of a passage that carries the gold's fields but for these changes."""
    keys: dict[str, Any] = {
        "society": of.society,
        "standard": of.standard,
        "section": of.section,
        "edition_year": of.edition_year,
        "section_path": list(of.section_path),
        "citation": of.citation,
    }
    under = terms(society=of.society, editions={of.standard: (of.edition_year,)})
    return diagnose((of,), keys | changes, under, styles())


@pytest.mark.parametrize(("of", "text", "shape"), STRING_CASES)
def test_shape_of_a_string(of: Citation, text: Any, shape: str) -> None:
    assert diagnosed(of, citation=text).string == shape


def test_every_string_shape_has_a_case() -> None:
    assert {shape for _, _, shape in STRING_CASES} | {"absent"} == set(STRING_SHAPES)


def test_the_worked_example_is_white_space() -> None:
    returned = [passage("1"), passage(citation="[ASME B31.3  §304.1.2]"), passage(edition_year=2018)]
    (row,) = score(*returned).expectations
    assert row.rank == 2
    assert diagnose((gold(),), returned[row.rank - 1], terms(), styles()) == Diagnosis(
        string="whitespace", passage=("string_disagrees_with_fields",)
    )


def test_a_correct_passage_has_no_diagnosis() -> None:
    assert diagnose((gold("1"), gold("2")), passage("2"), terms(), styles()) == Diagnosis()


def test_no_passage_is_absent_in_all() -> None:
    assert diagnose((gold(),), None, terms(), styles()) == Diagnosis(
        string="absent",
        fields=dict.fromkeys(("society", "standard", "section", "edition_year", "section_path"), "absent"),
    )


@pytest.mark.parametrize(
    ("name", "value", "shape"),
    [
        ("society", "asme", "value"),
        ("society", None, "type"),
        ("standard", 31.3, "type"),
        ("section", "304.1.2", "value"),
        ("edition_year", 2018, "value"),
        ("edition_year", None, "value"),
        ("edition_year", "2022", "type"),
        ("edition_year", 2022.0, "type"),
        ("edition_year", True, "type"),
        ("section_path", ["304", "1"], "value"),
        ("section_path", [304, 1, 2], "type"),
        ("section_path", "304.1.2", "type"),
    ],
)
def test_shape_of_a_field(name: str, value: Any, shape: str) -> None:
    found = diagnose((gold(),), passage(**{name: value}), terms(), styles())
    assert (found.string, found.fields) == (None, {name: shape})


@pytest.mark.parametrize(
    ("changes", "shapes"),
    [
        ({"edition_year": 2018}, ("edition_not_contracted", "not_in_catalogue")),
        ({"citation": "[ASME B31.3 §304.1.3]"}, ("string_disagrees_with_fields",)),
        ({"section": "§304.1.1"}, ("string_disagrees_with_fields", "not_in_catalogue")),
        ({"citation": "<b>[ASME B31.3 §304.1.2]</b>"}, ("string_disagrees_with_fields", "unescaped_markup")),
        ({"section_path": ["304", "<i>1", "2"]}, ("string_disagrees_with_fields", "unescaped_markup")),
        ({"citation": "[ASME B31.3 §304.1.2] < 5"}, ("string_disagrees_with_fields",)),
        (
            {
                "society": "NFPA",
                "standard": "70",
                "section": "art. 250",
                "section_path": ["250"],
                "edition_year": 2023,
                "citation": "[NFPA 70 art. 250]",
            },
            (),
        ),
        ({"society": "unknown"}, ()),
    ],
)
def test_shapes_of_a_passage(changes: dict[str, Any], shapes: tuple[str, ...]) -> None:
    assert diagnose((gold(),), passage(**changes), terms(catalogue=CATALOGUE), styles()).passage == shapes


def test_an_edition_that_was_asked_for_is_not_held_against_the_passage() -> None:
    found = diagnose((gold(),), passage(edition_year=2018), terms(), styles(), asked=(2018, 2022))
    assert (found.fields, found.passage) == ({"edition_year": "value"}, ())


def test_fields_that_are_not_contracted_are_not_diagnosed() -> None:
    found = diagnose((gold(),), {"society": "SAE"}, terms(checks=("society", "section")), styles())
    assert (found.string, found.fields) == (None, {"society": "value", "section": "absent"})


def test_the_alternative_that_the_score_took_is_diagnosed() -> None:
    returned = passage("2", citation="[ASME B31.3 § 304.1.2]")
    assert diagnose((gold("1"), gold("2")), returned, terms(), styles()).string == "whitespace"


@settings(max_examples=200, deadline=None)
@given(passages)
def test_no_passage_makes_the_diagnosis_raise_and_each_failed_check_has_a_shape(found: Any) -> None:
    under = terms(catalogue=CATALOGUE)
    told = diagnose((gold(),), found, under, styles())
    (row,) = score(found, under=under).expectations
    failed = {name for name, true in zip(under.checks, row.checks, strict=True) if not true}
    assert told.fields.keys() | ({"citation"} if told.string else set()) == failed
    assert told.string is None or told.string in STRING_SHAPES
    assert set(told.fields.values()) <= set(FIELD_SHAPES)
    assert set(told.passage) <= set(PASSAGE_SHAPES)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text("[]ASMEBasme §304.12-–\u200b() "))
def test_any_string_has_one_of_the_shapes(text: str) -> None:
    told = diagnose((gold(),), passage(citation=text), terms(), styles())
    assert (told.string is None) == (text == gold().citation)
    assert told.string is None or told.string in STRING_SHAPES
