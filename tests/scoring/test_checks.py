"""Strict comparison of gold with a decoded JSON value (scoring.md, From an answer to verdicts, 3)."""

from typing import Any

import pytest
from hypothesis import given, settings

from harness.citation.model import FIELDS
from harness.scoring.checks import best_alternative, check, compare_fields, is_relevant
from tests.scoring.factories import gold, passage
from tests.scoring.hostile import json_values, passages


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("society", "asme"),
        ("society", "ASME "),
        ("society", ["ASME"]),
        ("society", None),
        ("standard", 31.3),
        ("standard", "Β31.3"),  # Greek capital beta
        ("section", "304.1.2"),
        ("section", "§304.1.2\n"),
        ("section", "§ 304.1.2"),
        ("edition_year", "2022"),
        ("edition_year", 2022.0),
        ("edition_year", True),
        ("edition_year", None),
        ("edition_year", [2022]),
        ("edition_year", 2022 + 2**64),
        ("section_path", [304, 1, 2]),
        ("section_path", ["304", "1"]),
        ("section_path", ["304", "2", "1"]),
        ("section_path", ["304", "1", "2", ""]),
        ("section_path", ["304", "1", ["2"]]),
        ("section_path", "304.1.2"),
        ("section_path", {"0": "304", "1": "1", "2": "2"}),
        ("section_path", None),
        ("citation", "[ASME B31.3 §304.1.2] "),
        ("citation", None),
    ],
)
def test_one_wrong_value_fails_that_check_alone(field: str, value: Any) -> None:
    assert check(gold(), passage(**{field: value}), FIELDS) == tuple(name != field for name in FIELDS)


@pytest.mark.parametrize("field", FIELDS)
def test_an_absent_key_fails_that_check_alone(field: str) -> None:
    keys = passage()
    del keys[field]
    assert check(gold(), keys, FIELDS) == tuple(name != field for name in FIELDS)


def test_composed_and_decomposed_letters_differ() -> None:
    citation = gold(section="§\u00e9")
    assert check(citation, passage(section="§\u00e9"), ("section",)) == (True,)
    assert check(citation, passage(section="§e\u0301"), ("section",)) == (False,)


@pytest.mark.parametrize(("value", "equal"), [(None, True), (2022, False), (0, False), (False, False), ("", False)])
def test_a_gold_without_a_year_wants_a_null(value: Any, equal: bool) -> None:
    assert check(gold(edition_year=None), passage(edition_year=value), ("edition_year",)) == (equal,)


def test_a_gold_without_a_year_wants_the_key() -> None:
    keys = passage()
    del keys["edition_year"]
    assert check(gold(edition_year=None), keys, ("edition_year",)) == (False,)


def test_true_is_not_the_year_one() -> None:
    assert check(gold(edition_year=1), passage(edition_year=True), ("edition_year",)) == (False,)


def test_checks_come_in_the_contracts_order() -> None:
    assert check(gold(), passage(society="SAE"), ("citation", "society")) == (True, False)


@pytest.mark.parametrize("value", [None, 1, "[ASME B31.3 §304.1.2]", ["society"], True])
def test_a_passage_that_is_no_object_carries_nothing(value: Any) -> None:
    assert check(gold(), value, FIELDS) == (False,) * 6


def test_the_best_alternative_has_the_most_true_checks_and_is_the_first_listed_on_a_tie() -> None:
    first, second = gold("1"), gold("2")
    assert best_alternative((first, second), passage("2"), FIELDS)[0] is second
    assert best_alternative((first, second), passage("3"), FIELDS)[0] is first
    assert best_alternative((second, first), passage("3"), FIELDS)[0] is second


@settings(deadline=None)
@given(passages)
def test_a_relevant_passage_has_the_four_fields_and_no_others_are_looked_at(found: Any) -> None:
    compared = dict(zip(FIELDS, compare_fields(gold(), found), strict=True))
    four = [compared[name] for name in ("society", "standard", "edition_year", "section_path")]
    assert is_relevant(compare_fields(gold(), found)) == all(four)


@settings(deadline=None)
@given(json_values)
def test_any_value_is_compared_without_raising(value: Any) -> None:
    assert check(gold(), value, FIELDS) == (False,) * 6
