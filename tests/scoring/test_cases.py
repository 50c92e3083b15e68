"""The agreed scoring cases, each with its verdicts (scoring.jsonl)."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from harness.citation.model import FIELDS, Citation
from harness.scoring.model import ItemScore, Response, ScoringTerms
from harness.scoring.verdicts import score_item
from harness.testset.model import Item
from tests.scoring.factories import style

Case = dict[str, Any]

CASES: Final[list[Case]] = [
    json.loads(line) for line in (Path(__file__).parent / "scoring.jsonl").read_text("utf-8").splitlines()
]


def test_all_cases_are_there_and_named_once() -> None:
    assert len(CASES) == 48
    assert len({case["name"] for case in CASES}) == 48


def item_of(told: Case) -> Item:
    return Item(
        id=told["id"],
        query=told["query"],
        citations=tuple(
            Citation(**(fields | {"section_path": tuple(fields["section_path"])})) for fields in told["citations"]
        ),
        match=told.get("match", "all"),
        editions=tuple(told["editions"]) if "editions" in told else None,
    )


def terms_of(told: Case) -> ScoringTerms:
    return ScoringTerms(
        society=told["society"],
        style=style(told["society"]),
        editions={standard: tuple(years) for standard, years in told["editions"].items()},
        top_k=told.get("top_k", 5),
        checks=tuple(told.get("checks", FIELDS)),
    )


def as_expected(score: ItemScore, checks: tuple[str, ...]) -> Case:
    """The score in the words of the case file."""
    rows = score.expectations
    found: Case = {
        "expectations": [
            {"rank": row.rank, "checks": dict(zip(checks, row.checks, strict=True)), "outcome": row.outcome.value}
            for row in rows
        ]
    }
    judged = [passage.edition_compliant for passage in score.passages if passage.edition_compliant is not None]
    if score.status == "ok" and len(judged) == len(score.passages):
        found["edition_compliance"] = [sum(judged), len(judged)]
    if score.recall is not None and score.reciprocal_rank is not None:
        found["reciprocal_rank"] = str(score.reciprocal_rank)
        assert score.recall * len(rows) == sum(bool(row.retrieved) for row in rows)
        found["recall"] = [int(score.recall * len(rows)), len(rows)]
    return found


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: Case) -> None:
    answer, terms = case["answer"], terms_of(case["terms"])
    response = Response(status=answer["status"], passages=tuple(answer.get("passages", ())))
    assert as_expected(score_item(item_of(case["item"]), response, terms), terms.checks) == case["expected"]
