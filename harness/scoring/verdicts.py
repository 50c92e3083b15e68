"""From an answer to verdicts: the score of one item (scoring.md, From an answer to verdicts).

A pure function of item, response and terms. Nothing that stands in a passage makes it raise.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from harness.citation.model import FIELDS, Citation
from harness.scoring.align import align
from harness.scoring.checks import compare_fields, is_relevant, relevance_contracted, select
from harness.scoring.model import (
    ExpectationScore,
    ItemScore,
    Outcome,
    Response,
    ScoringTerms,
)
from harness.scoring.passages import kind_of_section, score_passages
from harness.testset.model import Item

_Grade: TypeAlias = tuple[tuple[bool, ...], int, bool]
"""A passage against an expectation: its contracted checks, how many are true, and whether it is relevant."""


class _End(NamedTuple):
    """How an expectation ended: `rank` of the aligned passage, `relevant_rank` of the first relevant one."""

    outcome: Outcome
    checks: tuple[bool, ...]
    rank: int | None
    relevant_rank: int | None


def score_item(item: Item, response: Response, terms: ScoringTerms) -> ItemScore:
    """Every expectation of the item with exactly one outcome, and every returned passage.

    Only the first `terms.top_k` passages are considered for the expectations.
    """
    expectations = item.expectations
    if response.status == "ok":
        considered = response.passages[: terms.top_k]
        ended = _answered(expectations, considered, terms.checks)
    else:
        ended = [_End(Outcome(response.status), _all_false(terms.checks), None, None)] * len(expectations)
    defined = relevance_contracted(terms.checks)
    own_kind = item.tags.get("kind")
    rows = tuple(
        [
            ExpectationScore(
                expectation=number,
                outcome=end.outcome,
                checks=end.checks,
                rank=end.rank,
                retrieved=end.relevant_rank is not None if defined else None,
                standard=alternatives[0].standard,
                kind=own_kind or kind_of_section(terms.style, alternatives[0].section),
            )
            for number, (alternatives, end) in enumerate(zip(expectations, ended, strict=True), start=1)
        ]
    )
    measured = defined and response.status != "harness_error"
    return ItemScore(
        item=item.id,
        status=response.status,
        cluster=item.cluster,
        weight=item.weight,
        standard=rows[0].standard,
        kind=rows[0].kind,
        recall=_share_found(ended) if measured else None,
        reciprocal_rank=_reciprocal_rank(ended) if measured else None,
        expectations=rows,
        passages=score_passages(response.passages, item.editions, terms) if response.status == "ok" else (),
    )


def _answered(
    expectations: tuple[tuple[Citation, ...], ...], considered: tuple[Any, ...], checks: tuple[str, ...]
) -> list[_End]:
    grades = [[_grade(alternatives, passage, checks) for passage in considered] for alternatives in expectations]
    ranks = align([[points for _, points, _ in row] for row in grades])
    ended = []
    for row, rank in zip(grades, ranks, strict=True):
        relevant_rank = None
        for place, (_, _, relevant) in enumerate(row, start=1):
            if relevant:
                relevant_rank = place
                break
        if rank is None:
            ended.append(_End(Outcome.MISSING, _all_false(checks), None, relevant_rank))
            continue
        true, points, _ = row[rank - 1]
        outcome = Outcome.CORRECT if points == len(checks) else Outcome.INCORRECT
        ended.append(_End(outcome, true, rank, relevant_rank))
    return ended


def _grade(alternatives: tuple[Citation, ...], passage: Any, checks: tuple[str, ...]) -> _Grade:
    """The passage against the expectation's best alternative: most true checks, first listed on a tie.

    Relevance is to any alternative, whichever is the best.
    """
    compared = compare_fields(alternatives[0], passage)
    best = compared if checks == FIELDS else select(compared, checks)
    points = sum(best)
    relevant = is_relevant(compared)
    if len(alternatives) > 1:
        for gold in alternatives[1:]:
            compared = compare_fields(gold, passage)
            relevant = relevant or is_relevant(compared)
            other = select(compared, checks)
            if sum(other) > points:
                best, points = other, sum(other)
    return best, points, relevant


def _share_found(ended: list[_End]) -> Fraction:
    """The share of the expectations that some considered passage is relevant to."""
    return _fraction(sum(end.relevant_rank is not None for end in ended), len(ended))


def _reciprocal_rank(ended: list[_End]) -> Fraction:
    """One over the rank of the first considered passage that is relevant to any expectation, 0 without one."""
    ranks = [end.relevant_rank for end in ended if end.relevant_rank is not None]
    return _fraction(1, min(ranks)) if ranks else _fraction(0, 1)


@lru_cache(maxsize=64)
def _all_false(checks: tuple[str, ...]) -> tuple[bool, ...]:
    return (False,) * len(checks)


@lru_cache(maxsize=4096)
def _fraction(numerator: int, denominator: int) -> Fraction:
    return Fraction(numerator, denominator)
