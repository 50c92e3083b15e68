"""The part beside each number."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.claims.check import part_problems
from harness.claims.produce import claim_for, fielded_of, scope_of
from harness.scoring.model import Measure
from tests.claims.factories import CHECKS, CONTEXT, measures, night, score


def measure(name: str = "citation_correctness", stratum: str | None = None, letters: str = "cci") -> Measure:
    scores = [score(f"item-{number}", letter, weight=str(number)) for number, letter in enumerate(letters, start=1)]
    return next(row for row in measures(scores) if (row.name, row.stratum) == (name, stratum))


def test_the_part_of_the_headline_whole() -> None:
    assert claim_for(measure(), replace(CONTEXT, warnings=("sample data",))).to_wire() == {
        "study": "Citehouse nightly citation eval: ASME",
        "period": "night 2026-11-29, revision 1",
        "fielded": "2026-11-29T02:17:05.000000Z/2026-11-29T02:19:30.500000Z",
        "base": {"name": "held-out expectations, ASME B31.3 2022", "n": 3},
        "weight": "unweighted",
        "source": {"table": "scores", "column": "correct", "function": "share"},
        "warnings": ["base 3 is below 100", "sample data"],
        "society": "ASME",
        "slug": "asme",
        "night": "2026-11-29",
        "revision": 1,
        "measure": "citation_correctness",
        "stratum": None,
        "value": "0.666666",
        "data": "https://eval.example/standards/asme/eval/2026-11-29/r1/scores.csv",
        "data_sha256": "5" * 64,
    }


@pytest.mark.parametrize(
    ("name", "stratum", "base", "weight", "triple", "file"),
    [
        (
            "citation_correctness",
            "kind=section",
            "held-out expectations, ASME B31.3 2022, kind=section",
            "unweighted",
            ("scores[kind=section]", "correct", "share"),
            "scores.csv",
        ),
        (
            "weighted_citation_correctness",
            None,
            "held-out expectations, ASME B31.3 2022",
            "weight",
            ("scores", "correct", "weighted_share"),
            "scores.csv",
        ),
        (
            "correctness_when_retrieved",
            "standard=B31.3",
            "held-out expectations whose section was retrieved or whose call failed, ASME B31.3 2022, standard=B31.3",
            "unweighted",
            ("scores[standard=B31.3]", "correct_when_retrieved", "share"),
            "scores.csv",
        ),
        (
            "mrr",
            None,
            "held-out queries, ASME B31.3 2022",
            "unweighted",
            ("items", "reciprocal_rank", "mean"),
            "items.csv",
        ),
    ],
)
def test_a_part_names_base_weight_source_and_file(
    name: str, stratum: str | None, base: str, weight: str, triple: tuple[str, str, str], file: str
) -> None:
    part = claim_for(measure(name, stratum), CONTEXT)
    assert (part.base_name, part.weight) == (base, weight)
    assert (part.source.table, part.source.column, part.source.function) == triple
    assert part.domain["data"].rpartition("/")[2] == file


def test_n_is_the_unweighted_count() -> None:
    assert claim_for(measure("weighted_citation_correctness"), CONTEXT).base_n == 3


def test_a_value_has_as_many_decimals_as_asked_for() -> None:
    assert claim_for(measure(), CONTEXT, places=8).domain["value"] == "0.66666666"


def test_a_warning_is_said_once() -> None:
    part = claim_for(measure(), replace(CONTEXT, warnings=("base 3 is below 100", "sample data", "sample data")))
    assert part.warnings == ("base 3 is below 100", "sample data")


def test_error_no_data() -> None:
    with pytest.raises(ValueError) as caught:
        claim_for(measure(letters="h"), CONTEXT)
    assert str(caught.value) == "citation_correctness, whole: there is no value to claim"


@given(data=st.data(), checks=CHECKS)
def test_every_part_conforms(data: st.DataObject, checks: tuple[str, ...]) -> None:
    for row in measures(data.draw(night(checks)), checks):
        if row.value is not None:
            assert part_problems(claim_for(row, CONTEXT).to_wire()) == ()


@pytest.mark.parametrize(
    ("editions", "scope"),
    [
        ({"B31.3": (2022,)}, "ASME B31.3 2022"),
        ({"B31.3": (2020, 2022), "B31.1": ()}, "ASME B31.1, B31.3 2020/2022"),
        ({}, "ASME"),
    ],
)
def test_the_scope(editions: dict[str, tuple[int, ...]], scope: str) -> None:
    assert scope_of("ASME", editions) == scope


def test_fielded_is_first_to_last_answer() -> None:
    assert fielded_of("2026-11-29T02:17:05Z", "2026-11-29T02:19:30Z") == "2026-11-29T02:17:05Z/2026-11-29T02:19:30Z"
    assert fielded_of(None, None) is None
