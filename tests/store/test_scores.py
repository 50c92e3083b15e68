"""A revision is stored whole or not at all, and its digest does not depend on the order of scoring."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from harness.errors import StoreError
from harness.scoring.model import ItemScore, Measure, Outcomes
from harness.sla.model import Assessment, Counted, Status
from harness.store import wire
from harness.store.engine import reading
from harness.store.schema import FAULT, MEASURE, REVISION, SCORE
from harness.store.scores import (
    BATCH,
    Rescore,
    Revision,
    Scored,
    find_score,
    iter_faults,
    iter_scores,
    latest_revision,
    load_assessments,
    load_measures,
    next_revision,
    save_assessments,
    save_revision,
)
from harness.testset.model import Floor, Tier
from tests.store.factories import (
    IDS_BY_CODE_POINT,
    MEASURES,
    NIGHT,
    SCORED_AT,
    SCORES,
    key,
    measure,
    revised,
    score,
    scored,
    started,
)

OVER_AND_OVER = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""The fixture's database is shared by the examples; each takes a revision of its own."""


def _rows(engine: Engine) -> list[int]:
    with reading(engine) as connection:
        return [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (REVISION, SCORE, MEASURE, FAULT)
        ]


@settings(max_examples=80)
@given(value=SCORES)
def test_a_verdict_has_one_text(value: ItemScore) -> None:
    text = wire.encode(value)
    assert wire.VERDICT.decode(text) == value
    assert wire.encode(wire.VERDICT.decode(text)) == text


@settings(max_examples=80)
@given(value=MEASURES)
def test_a_measure_has_one_text(value: Measure) -> None:
    text = wire.encode(value)
    assert wire.MEASURE.decode(text) == value
    assert wire.encode(wire.MEASURE.decode(text)) == text


def test_a_fraction_is_written_exactly() -> None:
    assert '"recall":"1/3"' in wire.encode(score(recall=Fraction(1, 3)))
    assert '"recall":"1"' in wire.encode(score(recall=Fraction(2, 2)))


@OVER_AND_OVER
@given(
    scores=st.lists(SCORES, max_size=4, unique_by=lambda each: each.item),
    measures=st.lists(MEASURES, max_size=4, unique_by=lambda each: (each.name, each.stratum)),
)
def test_a_revision_comes_back_as_it_was(engine: Engine, scores: list[ItemScore], measures: list[Measure]) -> None:
    # PostgreSQL keeps no NUL in a text; ids and names of tables have none (testsets.md).
    scores = [replace(each, item=each.item.replace("\0", "0")) for each in scores]
    scores = list({each.item: each for each in scores}.values())
    measures = [
        replace(each, name=f"{number}", stratum=each.stratum and each.stratum.replace("\0", "0"))
        for number, each in enumerate(measures)
    ]
    if latest_revision(engine, "r1", "asme") is None:
        started(engine)
        revised(engine)
    last = latest_revision(engine, "r1", "asme")
    assert last is not None
    here = key(last.revision + 1)
    marked = [Scored(item_hash=f"{number}", score=each, faults={}) for number, each in enumerate(scores)]
    saved = save_revision(engine, here, marked, measures, SCORED_AT)
    assert latest_revision(engine, "r1", "asme") == saved
    assert list(iter_scores(engine, here)) == sorted(scores, key=lambda each: each.item)
    assert load_measures(engine, here) == measures
    for each in scores:
        assert find_score(engine, here, each.item) == each


def test_the_digest_is_over_verdicts_by_id_whatever_order_they_came_in(engine: Engine) -> None:
    started(engine)
    items = [scored(item) for item in IDS_BY_CODE_POINT]
    text = "".join(f"{wire.encode(each.score)}\n" for each in items)
    expected = hashlib.sha256(text.encode()).hexdigest()
    for revision in (1, 2, 3):
        Random(revision).shuffle(items)
        saved = save_revision(engine, key(revision), iter(items), (), SCORED_AT)
        assert saved.scores_sha256 == expected
        assert [each.item for each in iter_scores(engine, saved.key)] == list(IDS_BY_CODE_POINT)
        assert latest_revision(engine, "r1", "asme") == saved


def test_more_than_a_batch_is_stored_in_order(engine: Engine) -> None:
    started(engine)
    ids = [f"i{number:05d}" for number in range(BATCH + 3)]
    saved = save_revision(engine, key(), (scored(item, faults={1: "{}"}) for item in reversed(ids)), (), SCORED_AT)
    assert [each.item for each in iter_scores(engine, saved.key)] == ids
    assert [item for item, _, _ in iter_faults(engine, saved.key)] == ids


def test_measures_are_taken_after_all_verdicts_and_come_by_name_the_whole_first(engine: Engine) -> None:
    started(engine)
    seen: list[str] = []

    def verdicts() -> Iterator[Scored]:
        for item in ("i2", "i1"):
            seen.append(item)
            yield scored(item)

    def numbers() -> Iterator[Measure]:
        assert seen == ["i2", "i1"]
        yield from (measure("b"), measure("a", "standard=B31.3"), measure("a", "kind=ä"), measure("a"))

    saved = save_revision(engine, key(), verdicts(), numbers(), SCORED_AT)
    assert load_measures(engine, saved.key) == [
        measure("a"),
        measure("a", "kind=ä"),
        measure("a", "standard=B31.3"),
        measure("b"),
    ]
    assert saved == Revision(
        run_id="r1",
        slug="asme",
        revision=1,
        scorer_version=1,
        scored_at=SCORED_AT,
        scores_sha256=saved.scores_sha256,
    )


class Stop(Exception):
    """What breaks off a scoring."""


def _broken(after: int) -> Iterator[Scored]:
    for number in range(after):
        yield scored(f"i{number:05d}", faults={1: "{}"})
    raise Stop


@pytest.mark.parametrize("after", [0, 1, BATCH + 1])
def test_error_a_scoring_that_breaks_off_leaves_nothing(engine: Engine, after: int) -> None:
    started(engine)
    with pytest.raises(Stop):
        save_revision(engine, key(), _broken(after), (), SCORED_AT)
    assert latest_revision(engine, "r1", "asme") is None
    assert _rows(engine) == [0, 0, 0, 0]


def test_error_numbers_that_break_off_leave_nothing(engine: Engine) -> None:
    started(engine)

    def numbers() -> Iterator[Measure]:
        yield measure()
        raise Stop

    with pytest.raises(Stop):
        save_revision(engine, key(), [scored(faults={1: "{}"})], numbers(), SCORED_AT)
    assert _rows(engine) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "items",
    [(scored("i1"), scored("i1", published="other")), (scored("i1", published="h"), scored("i2", published="h"))],
    ids=["same item", "same published id"],
)
def test_error_two_verdicts_of_one_name_leave_nothing(engine: Engine, items: tuple[Scored, ...]) -> None:
    started(engine)
    with pytest.raises(StoreError):
        revised(engine, *items)
    assert _rows(engine) == [0, 0, 0, 0]


def test_error_a_revision_is_never_replaced(engine: Engine) -> None:
    started(engine)
    revised(engine, scored("i1"))
    before = latest_revision(engine, "r1", "asme")
    with pytest.raises(StoreError):
        revised(engine, scored("i2"))
    assert latest_revision(engine, "r1", "asme") == before
    assert [each.item for each in iter_scores(engine, key())] == ["i1"]


def test_the_latest_revision_is_the_greatest_of_its_run_and_society(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    assert latest_revision(engine, "r1", "asme") is None
    for revision in (1, 10, 2):
        revised(engine, scored(f"i{revision}"), revision=revision)
    save_revision(engine, key(11, "aci"), (), (), SCORED_AT)
    latest = latest_revision(engine, "r1", "asme")
    assert latest is not None
    assert latest.key == key(10)
    assert [each.item for each in iter_scores(engine, latest.key)] == ["i10"]
    assert find_score(engine, latest.key, "i2") is None


def test_faults_come_by_item_and_expectation(engine: Engine) -> None:
    started(engine)
    here = revised(
        engine,
        scored("ä", faults={1: '{"n":1}'}),
        scored("b"),
        scored("B", faults={10: '{"n":10}', 2: '{"n":2}'}),
        revision=4,
    )
    assert list(iter_faults(engine, here)) == [("B", 2, '{"n":2}'), ("B", 10, '{"n":10}'), ("ä", 1, '{"n":1}')]
    assert list(iter_faults(engine, here, "B")) == [("B", 2, '{"n":2}'), ("B", 10, '{"n":10}')]
    assert list(iter_faults(engine, here, "b")) == list(iter_faults(engine, key(5))) == []


def _assessment(name: str, status: Status = Status.MET) -> Assessment:
    tier = Tier(below="0.95", at_least="0", credit_percent="10")
    return Assessment(
        floor=Floor(measure=name, floor="0.950", rule="point", tiers=(tier,)),
        status=status,
        counted=Counted(good=1, valid=2, outcomes=Outcomes(correct=1, missing=1), calls_sent=2),
        tier=tier if status is Status.BREACHED else None,
        target_percent="10" if status is Status.BREACHED else "0",
        reasons=("few",),
    )


def test_assessments_are_stored_once(engine: Engine) -> None:
    started(engine)
    first, second = revised(engine, scored()), revised(engine, scored(), revision=2)
    kept = [_assessment("section_correctness", Status.BREACHED), _assessment("citation_correctness")]
    save_assessments(engine, first, (), SCORED_AT)
    assert load_assessments(engine, first) == []
    save_assessments(engine, first, kept, SCORED_AT)
    save_assessments(engine, first, [_assessment("citation_correctness", Status.NOT_RUN)], SCORED_AT)
    assert load_assessments(engine, first) == kept[::-1]
    assert load_assessments(engine, second) == []
    save_assessments(engine, second, kept[:1], SCORED_AT)
    assert load_assessments(engine, second) == kept[:1]


def test_a_rescore_is_kept_with_its_reason_and_its_gold(engine: Engine) -> None:
    started(engine)
    revised(engine, scored())
    gold = Rescore(reason="gold_corrected", gold_sha256="9" * 64, testset_version="2026.04", testset_sha256="8" * 64)
    scorer = Rescore(reason="scorer_corrected")
    for revision, rescore in ((2, gold), (3, scorer)):
        saved = save_revision(engine, key(revision), [scored()], (), SCORED_AT, rescore)
        assert latest_revision(engine, "r1", "asme") == saved
        assert (
            Rescore(
                reason=saved.reason or "",
                gold_sha256=saved.gold_sha256,
                testset_version=saved.testset_version,
                testset_sha256=saved.testset_sha256,
            )
            == rescore
        )
    save_revision(engine, key(4), [scored()], (), SCORED_AT)
    last = latest_revision(engine, "r1", "asme")
    assert last is not None
    assert (last.reason, last.gold_sha256, last.testset_version, last.testset_sha256) == (None, None, None, None)


def test_a_rescore_leaves_earlier_revisions_readable(engine: Engine) -> None:
    started(engine)
    first = save_revision(engine, key(1), [scored("i1", faults={1: "{}"})], [measure()], SCORED_AT).key
    save_assessments(engine, first, [_assessment("citation_correctness")], SCORED_AT)
    second = Rescore(reason="gold_corrected")
    save_revision(engine, key(2), [scored("i1"), scored("i2")], [measure("b")], SCORED_AT, second)
    assert [each.item for each in iter_scores(engine, first)] == ["i1"]
    assert load_measures(engine, first) == [measure()]
    assert list(iter_faults(engine, first)) == [("i1", 1, "{}")]
    assert load_assessments(engine, first) == [_assessment("citation_correctness")]
    assert load_assessments(engine, key(2)) == []
    assert load_measures(engine, key(2)) == [measure("b")]


def test_error_a_rescore_that_breaks_off_leaves_the_revision_before_it(engine: Engine) -> None:
    started(engine)
    first = revised(engine, scored("i1"))
    with pytest.raises(Stop):
        save_revision(engine, key(2), _broken(3), (), SCORED_AT, Rescore(reason="scorer_corrected"))
    last = latest_revision(engine, "r1", "asme")
    assert last is not None
    assert last.key == first


def test_the_next_revision_counts_on_over_all_runs_of_the_night(engine: Engine) -> None:
    started(engine, "r1", ("aci", "asme"))
    started(engine, "r2", ("aci", "asme"), attempt=2)
    started(engine, "r3", night="2026-03-02")

    def due(night: str = NIGHT) -> tuple[int, int]:
        return next_revision(engine, night, "asme"), next_revision(engine, night, "aci")

    assert due() == due("2026-03-02") == due("2026-03-03") == (1, 1)
    for saved, expected in (
        (key(1), (2, 1)),
        (key(2, run_id="r2"), (3, 1)),
        (key(1, "aci", "r2"), (3, 2)),
        (key(3), (4, 2)),
        (key(9, run_id="r3"), (4, 2)),
    ):
        save_revision(engine, saved, [scored()], (), SCORED_AT)
        assert due() == expected
    assert due("2026-03-02") == (10, 1)
