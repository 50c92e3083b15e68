"""Laws of the score, and what the agreed cases leave out."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.citation.model import FIELDS, Citation
from harness.scoring.model import ItemScore, Outcome
from harness.scoring.verdicts import score_item
from harness.testset.model import Item
from tests.scoring.factories import gold, item, passage, response, score, terms
from tests.scoring.hostile import passages

CATALOGUE = frozenset({("B31.3", 2022, "§304.1.1"), ("B31.3", 2022, "§304.1.2")})

items = st.builds(
    lambda lasts, match, editions: item(*[gold(last) for last in lasts], match=match, editions=editions),
    st.lists(st.sampled_from("123"), min_size=1, max_size=4, unique=True),
    st.sampled_from(["all", "any"]),
    st.sampled_from([None, (2018, 2022)]),
)
check_sets = st.lists(st.sampled_from(FIELDS), min_size=1, max_size=6, unique=True).map(tuple)


@settings(max_examples=150, deadline=None)
@given(items, st.lists(passages, max_size=7), check_sets, st.integers(1, 6))
def test_no_answer_raises_and_every_expectation_has_one_outcome(
    of: Item, found: list[Any], checks: tuple[str, ...], top_k: int
) -> None:
    under = terms(checks=checks, top_k=top_k, catalogue=CATALOGUE)
    result = score(*found, of=of, under=under)
    assert [row.expectation for row in result.expectations] == list(range(1, len(of.expectations) + 1))
    assert [passage.rank for passage in result.passages] == list(range(1, len(found) + 1))
    aligned = [row.rank for row in result.expectations if row.rank is not None]
    assert len(aligned) == len(set(aligned)) == min(len(of.expectations), len(found), top_k)
    for row in result.expectations:
        assert len(row.checks) == len(checks)
        assert (row.outcome is Outcome.MISSING) == (row.rank is None)
        assert (row.outcome is Outcome.CORRECT) == all(row.checks)


def shuffled(value: Any) -> Any:
    """The same JSON value with the keys of every object in reverse order."""
    if isinstance(value, dict):
        return {key: shuffled(inner) for key, inner in reversed(value.items())}
    return [shuffled(inner) for inner in value] if isinstance(value, list) else value


@settings(deadline=None)
@given(items, st.lists(passages, max_size=5))
def test_the_same_answer_scores_the_same_whatever_the_order_of_its_keys(of: Item, found: list[Any]) -> None:
    assert score(*found, of=of) == score(*(shuffled(passage) for passage in found), of=of) == score(*found, of=of)


@settings(deadline=None)
@given(items, st.lists(passages, max_size=5), st.lists(passages, max_size=3))
def test_passages_beyond_top_k_change_no_expectation(of: Item, first: list[Any], beyond: list[Any]) -> None:
    under = terms(top_k=max(1, len(first)))
    short, long = score(*first, of=of, under=under), score(*first, *beyond, of=of, under=under)
    if first:
        assert (short.expectations, short.recall, short.reciprocal_rank) == (
            long.expectations,
            long.recall,
            long.reciprocal_rank,
        )
    assert len(long.passages) == len(first) + len(beyond)


@settings(deadline=None)
@given(items, st.lists(passages, max_size=5))
def test_a_gateway_error_is_never_better_than_an_answer(of: Item, found: list[Any]) -> None:
    answered, failed = score(*found, of=of), score_item(of, response(status="gateway_error"), terms())
    assert failed.recall == 0
    assert failed.reciprocal_rank == 0
    for before, after in zip(answered.expectations, failed.expectations, strict=True):
        assert after.outcome is Outcome.GATEWAY_ERROR
        assert all(was >= now for was, now in zip(before.checks, after.checks, strict=True))


@pytest.mark.parametrize("status", ["gateway_error", "harness_error"])
def test_without_an_answer_nothing_is_aligned_judged_or_retrieved(status: Any) -> None:
    result = score_item(item(gold("1"), gold("2")), response(passage(), status=status), terms())
    assert [(row.outcome, row.rank, row.retrieved, any(row.checks)) for row in result.expectations] == [
        (Outcome(status), None, False, False)
    ] * 2
    assert result.passages == ()
    assert (result.recall is None) == (status == "harness_error")


def test_the_worked_example() -> None:
    result = score(
        passage("1"),
        passage(citation="[ASME B31.3  §304.1.2]"),
        passage(edition_year=2018),
    )
    (row,) = result.expectations
    assert (row.rank, row.outcome) == (2, Outcome.INCORRECT)
    assert row.checks == (True, True, True, True, True, False)
    assert [judged.edition_compliant for judged in result.passages] == [True, True, False]
    assert (result.recall, result.reciprocal_rank) == (Fraction(1), Fraction(1, 2))


def test_relevance_is_to_any_alternative_also_when_another_has_more_true_checks() -> None:
    # Five checks of §304.1.1 hold, four of §304.1.2, and only those four make it relevant.
    mixed = passage("1", section_path=["304", "1", "2"])
    result = score(mixed, of=item(gold("1"), gold("2"), match="any"))
    (row,) = result.expectations
    assert (row.checks, row.retrieved) == ((True, True, True, True, False, True), True)
    assert result.recall == 1


def test_one_passage_may_be_relevant_to_two_equal_expectations_and_is_aligned_with_one() -> None:
    result = score(passage(), of=item(gold(), gold()))
    assert [row.rank for row in result.expectations] == [1, None]
    assert (result.recall, result.reciprocal_rank) == (Fraction(1), Fraction(1))


def kinds_of(result: ItemScore) -> list[str]:
    return [row.kind for row in result.expectations]


TABLE = gold(section="Table 304.1.1", section_path=("table", "304", "1", "1"), citation="[ASME B31.3 Table 304.1.1]")
OTHER: Citation = gold(standard="B31.1", citation="[ASME B31.1 §304.1.2]")


def test_kind_is_the_tag_or_the_kind_of_the_gold_section() -> None:
    assert kinds_of(score(of=item(gold(), TABLE))) == ["section", "table"]
    assert kinds_of(score(of=item(gold(), TABLE, tags={"kind": "figure"}))) == ["figure", "figure"]
    assert kinds_of(score(of=item(TABLE, gold(), match="any"))) == ["table"]


def test_standard_and_kind_of_an_item_are_those_of_its_first_citation() -> None:
    result = score(of=item(OTHER, TABLE))
    assert (result.standard, result.kind) == ("B31.1", "section")
    assert [row.standard for row in result.expectations] == ["B31.1", "B31.3"]


def test_fields_that_are_not_contracted_leave_their_judgements_out() -> None:
    result = score(passage(), under=terms(checks=("society", "standard", "edition_year", "citation")))
    (judged,) = result.passages
    assert (judged.edition_compliant, judged.consistent, judged.in_catalogue) == (True, None, None)
    assert (result.recall, result.reciprocal_rank, result.expectations[0].retrieved) == (None, None, None)


def test_a_score_is_made_of_plain_values_of_json_types() -> None:
    (row,) = score(passage()).expectations
    assert json.dumps(row.checks) == "[true, true, true, true, true, true]"
