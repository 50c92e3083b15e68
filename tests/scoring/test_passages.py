"""What is true of a returned passage by itself (scoring.md, Measures)."""

from typing import Any

import pytest
from hypothesis import given, settings

from harness.scoring.passages import is_consistent, is_edition_compliant, is_in_catalogue, keys_of
from tests.scoring.factories import passage, terms
from tests.scoring.hostile import passages

CATALOGUE = frozenset({("B31.3", 2022, "§304.1.2"), ("B31.3", None, "§1")})
UNDATED = terms(editions={"B31.3": ()})
SAE = terms(society="SAE", editions={"J1939-21": (2024,)})
J1939: dict[str, Any] = {
    "society": "SAE",
    "standard": "J1939-21",
    "section": "§5.2",
    "edition_year": 2024,
    "section_path": ["5", "2"],
    "citation": "[SAE J1939-21:2024 §5.2]",
}


@pytest.mark.parametrize(
    ("changes", "asked", "complies"),
    [
        ({}, None, True),
        ({"edition_year": 2018}, None, False),
        ({"edition_year": "2022"}, None, False),
        ({"edition_year": 2022.0}, None, False),
        ({"edition_year": None}, None, False),
        ({"society": "NFPA"}, None, False),
        ({"standard": "B31.1"}, None, False),
        ({"standard": None}, None, False),
        ({"standard": ["B31.3"]}, None, False),
        ({"edition_year": 2018}, (2018, 2022), True),
        ({"edition_year": 2016}, (2018, 2022), False),
        ({"edition_year": True}, (1, 2022), False),
        ({"society": "NFPA"}, (2022,), False),
    ],
)
def test_edition_compliance(changes: dict[str, Any], asked: tuple[int, ...] | None, complies: bool) -> None:
    assert is_edition_compliant(passage(**changes), asked, terms()) is complies


@pytest.mark.parametrize(("year", "complies"), [(None, True), (2022, False), ("", False)])
def test_a_passage_of_an_undated_standard_carries_a_null(year: Any, complies: bool) -> None:
    assert is_edition_compliant(passage(edition_year=year), None, UNDATED) is complies


def test_an_absent_year_is_no_null() -> None:
    keys = passage()
    del keys["edition_year"]
    assert is_edition_compliant(keys, None, UNDATED) is False
    assert is_in_catalogue(keys | {"section": "§1"}, terms(catalogue=CATALOGUE)) is False
    assert is_consistent(keys, terms()) is False


@pytest.mark.parametrize(
    ("changes", "consistent"),
    [
        ({}, True),
        ({"edition_year": 2018}, True),  # this style prints no edition
        ({"section": "§304.1.1"}, False),
        ({"citation": "[ASME B31.3 §304.1.1]"}, False),
        ({"citation": "[ASME B31.3 §304.1.2]\n"}, False),
        ({"citation": None}, False),
        ({"section_path": ["304", "1"]}, False),
        ({"section_path": ["304", "1", 2]}, False),
        ({"section_path": "304.1.2"}, False),
        ({"section": "304.1.2", "citation": "[ASME B31.3 304.1.2]"}, False),
        ({"society": "AWWA", "citation": "[AWWA B31.3 §304.1.2]"}, False),
        ({"edition_year": "2022"}, False),
        ({"edition_year": True}, False),
    ],
)
def test_consistency(changes: dict[str, Any], consistent: bool) -> None:
    assert is_consistent(passage(**changes), terms()) is consistent


@pytest.mark.parametrize(
    ("changes", "consistent"),
    [
        ({}, True),
        ({"edition_year": 2022}, False),
        ({"edition_year": 2022, "citation": "[SAE J1939-21:2022 §5.2]"}, True),
        ({"edition_year": None}, False),
        ({"edition_year": 2024.0}, False),
    ],
)
def test_consistency_where_the_style_prints_the_edition(changes: dict[str, Any], consistent: bool) -> None:
    assert is_consistent(J1939 | changes, SAE) is consistent


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        ({}, True),
        ({"section": "§304.1.9"}, False),
        ({"edition_year": 2018}, False),
        ({"edition_year": 2022.0}, False),
        ({"edition_year": None, "section": "§1"}, True),
        ({"society": "NFPA"}, False),
        ({"section": ["§304.1.2"]}, False),
    ],
)
def test_catalogue_membership(changes: dict[str, Any], member: bool) -> None:
    assert is_in_catalogue(passage(**changes), terms(catalogue=CATALOGUE)) is member


def test_without_a_complete_catalogue_there_is_no_membership() -> None:
    assert is_in_catalogue(passage(), terms()) is None


@settings(deadline=None)
@given(passages)
def test_hostile_passages_are_judged_without_raising(found: Any) -> None:
    under = terms(catalogue=CATALOGUE)
    keys = keys_of(found)
    verdicts = is_edition_compliant(keys, None, under), is_consistent(keys, under), is_in_catalogue(keys, under)
    assert all(type(verdict) is bool for verdict in verdicts)
