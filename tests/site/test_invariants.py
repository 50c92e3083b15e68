"""Every pre-publish invariant, broken one at a time, is named and keeps the result from going live."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from harness.errors import PublishRefused
from harness.scoring.model import Measure, Outcome, Outcomes
from harness.site.model import EvalResult, ItemRow
from harness.site.publish import publish
from harness.sla.model import Counted
from tests.site.results import Night, result

NIGHT = Night(outcomes="c" * 57 + "iim")


def refused(told: EvalResult, folder: Path) -> list[str]:
    """The lines that publishing the result is refused with."""
    with pytest.raises(PublishRefused) as caught:
        publish(folder / "site", [told], "urn:citehouse:demo", base_url="https://citehouse.example")
    assert not (folder / "site").exists()
    return str(caught.value).split("\n")


def changed(name: str, change: Callable[[Measure], Measure], stratum: str | None = None) -> EvalResult:
    """The night with one measure replaced."""
    told = result(NIGHT)
    measures = [
        change(measure) if (measure.name, measure.stratum) == (name, stratum) else measure for measure in told.measures
    ]
    assert tuple(measures) != told.measures
    return replace(told, measures=tuple(measures))


def with_rows(change: Callable[[ItemRow], ItemRow | None]) -> EvalResult:
    """The night with other rows under the same numbers."""
    told = result(NIGHT)

    def rows() -> Iterator[ItemRow]:
        return (row for row in map(change, told.rows()) if row is not None)

    return replace(told, rows=rows)


def counted(**changes: object) -> EvalResult:
    told = result(NIGHT)
    (assessment,) = told.assessments
    other: Counted = replace(assessment.counted, **changes)  # type: ignore[arg-type]
    return replace(told, assessments=(replace(assessment, counted=other),))


def test_a_sound_result_is_published(tmp_path: Path) -> None:
    publish(tmp_path / "site", [result(NIGHT)], "urn:citehouse:demo", base_url="https://citehouse.example")
    assert (tmp_path / "site" / "standards" / "asme" / "eval" / "index.html").is_file()


def test_error_outcomes_that_do_not_add_up_to_the_rows(tmp_path: Path) -> None:
    first = next(result(NIGHT).rows()).item_hash
    lines = refused(with_rows(lambda row: None if row.item_hash == first else row), tmp_path)
    assert lines[:2] == [
        "asme 2026-11-29 r1: outcomes do not add up: the table has 56 correct, 2 incorrect, 1 missing, "
        "0 gateway_error, 0 harness_error, the result 57 correct, 2 incorrect, 1 missing, 0 gateway_error, "
        "0 harness_error",
        "asme 2026-11-29 r1: items do not add up: the table has 59, the result 60",
    ]


def test_error_a_measure_whose_outcomes_are_not_the_plans(tmp_path: Path) -> None:
    other = Outcomes(correct=57, incorrect=3)
    lines = refused(changed("string_correctness", lambda measure: replace(measure, outcomes=other)), tmp_path)
    assert lines == [
        "asme 2026-11-29 r1: string_correctness: outcomes do not add up to the plan: 57 correct, 3 incorrect, "
        "0 missing, 0 gateway_error, 0 harness_error of 57 correct, 2 incorrect, 1 missing, 0 gateway_error, "
        "0 harness_error"
    ]


def test_error_a_value_that_is_not_good_of_valid(tmp_path: Path) -> None:
    lines = refused(changed("mrr", lambda measure: replace(measure, value=Fraction(1, 2))), tmp_path)
    assert lines[0].startswith("asme 2026-11-29 r1: mrr: value 1/2 is not good / valid, ")
    assert len(lines) == 1


def test_error_a_value_without_data(tmp_path: Path) -> None:
    told = result(Night(outcomes="h" * 30))
    measures = tuple(
        replace(measure, value=Fraction(1)) if measure.name == "answered" else measure for measure in told.measures
    )
    assert refused(replace(told, measures=measures), tmp_path) == [
        "asme 2026-11-29 r1: answered: value 1 is not good / valid, 0 / 0",
        "asme 2026-11-29 r1: answered: a value without an interval",
    ]


def test_error_an_interval_that_does_not_hold_its_value(tmp_path: Path) -> None:
    def narrow(measure: Measure) -> Measure:
        assert measure.interval is not None
        return replace(measure, interval=replace(measure.interval, low=0.96))

    assert refused(changed("citation_correctness", narrow), tmp_path) == [
        "asme 2026-11-29 r1: citation_correctness: the interval 0.959999 to 0.982851 does not hold 0.950000"
    ]


def test_error_a_value_without_an_interval(tmp_path: Path) -> None:
    lines = refused(changed("answered", lambda measure: replace(measure, interval=None)), tmp_path)
    assert lines == ["asme 2026-11-29 r1: answered: a value without an interval"]


def test_error_a_number_that_its_table_does_not_give_again(tmp_path: Path) -> None:
    def worse(row: ItemRow) -> ItemRow:
        return replace(row, score=replace(row.score, recall=Fraction(0)))

    assert refused(with_rows(worse), tmp_path)[0] == (
        "asme 2026-11-29 r1: recall_at_k: printed 0.983333, claimed 0.983333, re-run from the table 0.000000"
    )


def test_error_a_number_that_no_row_supports(tmp_path: Path) -> None:
    def without(row: ItemRow) -> ItemRow:
        return replace(row, score=replace(row.score, passages=()))

    assert refused(with_rows(without), tmp_path) == [
        "asme 2026-11-29 r1: a claim cannot be re-run: passages, edition_compliant, share: "
        "no data: no row has a value to compute with"
    ]


def test_error_a_floor_decided_from_other_counts(tmp_path: Path) -> None:
    assert refused(counted(good=58), tmp_path) == [
        "asme 2026-11-29 r1: floor on citation_correctness: decided from 58 / 60, published is 57 / 60"
    ]


def test_error_a_floor_decided_from_other_outcomes(tmp_path: Path) -> None:
    assert refused(counted(outcomes=Outcomes(correct=57, missing=3)), tmp_path) == [
        "asme 2026-11-29 r1: floor on citation_correctness: decided from 57 correct, 0 incorrect, 3 missing, "
        "0 gateway_error, 0 harness_error, published is 57 correct, 2 incorrect, 1 missing, 0 gateway_error, "
        "0 harness_error"
    ]


def test_error_a_floor_on_a_measure_that_is_not_published(tmp_path: Path) -> None:
    told = result(NIGHT)
    (assessment,) = told.assessments
    other = replace(assessment, floor=replace(assessment.floor, measure="society_correctness"))
    measures = tuple(measure for measure in told.measures if measure.name != "society_correctness")
    assert refused(replace(told, assessments=(other,), measures=measures), tmp_path) == [
        "asme 2026-11-29 r1: floor on society_correctness: the measure is not published"
    ]


def test_the_floor_of_a_month_pools_other_counts(tmp_path: Path) -> None:
    told = replace(counted(good=58), window="calendar_month")
    publish(tmp_path / "site", [told], "urn:citehouse:demo", base_url="https://citehouse.example")
    assert (tmp_path / "site" / "standards" / "asme" / "eval" / "index.html").is_file()


@pytest.mark.parametrize(
    ("slug", "night", "revision"),
    [
        ("../x", "2026-11-29", 1),
        ("a" * 200, "2026-11-29", 1),
        ("asme", "2026-11-29/../..", 1),
        ("asme", "2026-11-29\n", 1),
        ("asme", "2026-11-29", 0),
    ],
)
def test_error_what_no_address_can_be_made_of(tmp_path: Path, slug: str, night: str, revision: int) -> None:
    told = replace(result(NIGHT), slug=slug, night=night, revision=revision)
    assert refused(told, tmp_path) == [f"{slug!r} {night!r} r{revision}: no address can be made of these"]
    assert [path.name for path in tmp_path.iterdir() if path.name != ".site.lock"] == []


def test_every_broken_result_is_named(tmp_path: Path) -> None:
    broken = [counted(good=58), replace(result(Night(slug="sae")), items=61), result(Night(slug="nfpa"))]
    with pytest.raises(PublishRefused) as caught:
        publish(tmp_path / "site", broken, "urn:citehouse:demo", base_url="https://citehouse.example")
    assert str(caught.value).split("\n") == [
        "asme 2026-11-29 r1: floor on citation_correctness: decided from 58 / 60, published is 57 / 60",
        "sae 2026-11-29 r1: items do not add up: the table has 60, the result 61",
    ]
    shown = [path.parent.parent.name for path in (tmp_path / "site" / "standards").glob("*/eval/eval.json")]
    assert shown == ["nfpa"]


def test_a_changed_verdict_is_seen_in_every_measure_that_rests_on_it(tmp_path: Path) -> None:
    def spoiled(row: ItemRow) -> ItemRow:
        (ended,) = row.score.expectations
        if ended.outcome is not Outcome.CORRECT:
            return row
        other = replace(ended, checks=(False, *ended.checks[1:]))
        return replace(row, score=replace(row.score, expectations=(other,)))

    lines = refused(with_rows(spoiled), tmp_path)
    assert {line.split(": ")[1].partition(" ")[0] for line in lines} == {"society_correctness", "field_correctness"}
