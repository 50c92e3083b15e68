"""The measures: the table, the contract's fields, strata, weights, and the laws of the denominator."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.citation.model import FIELDS
from harness.scoring.intervals import cluster_interval
from harness.scoring.measures import DESCRIPTIONS, Tally
from harness.scoring.model import ItemScore, Measure, Outcome, Outcomes
from harness.scoring.verdicts import score_item
from harness.testset.model import COUNT_MEASURES
from tests.scoring.factories import gold, item, passage, response, score, terms
from tests.scoring.hostile import passages
from tests.scoring.test_stats_reference import sums_of

CATALOGUE = frozenset({("B31.3", 2022, "§304.1.2")})
RIGHT, WRONG = passage("2"), passage("1")


def tally(scores: Iterable[ItemScore], checks: tuple[str, ...] = FIELDS) -> Tally:
    found = Tally(checks)
    for row in scores:
        found.add(row)
    return found


def measured(scores: Iterable[ItemScore], checks: tuple[str, ...] = FIELDS) -> dict[tuple[str, str | None], Measure]:
    return {(row.name, row.stratum): row for row in tally(scores, checks).measures()}


def named(name: str, *passages: Any, **fields: Any) -> ItemScore:
    """The score of an item with that id, its gold §304.1.2, and these passages."""
    return score(*passages, of=item(id=name, **fields))


def counts(row: Measure) -> tuple[str, int]:
    """Good, as an exact text, and valid."""
    return str(row.good), row.valid


def failed(name: str, status: Any = "gateway_error", **fields: Any) -> ItemScore:
    return score_item(item(id=name, **fields), response(status=status), terms())


def test_the_table_names_each_measure_once_and_says_what_it_is() -> None:
    assert len({row.name for row in DESCRIPTIONS}) == len(DESCRIPTIONS) == 16
    assert len({row.title for row in DESCRIPTIONS}) == len(DESCRIPTIONS)
    assert all(row.says.endswith(".") and set(row.needs) <= set(FIELDS) for row in DESCRIPTIONS)


def test_floors_may_name_exactly_the_count_measures() -> None:
    assert tuple(row.name for row in DESCRIPTIONS if row.floors) == COUNT_MEASURES
    assert all(row.unit == "expectation" for row in DESCRIPTIONS if row.floors)


ALWAYS = {"citation_correctness", "answered"}


@pytest.mark.parametrize(
    ("checks", "names"),
    [
        (("citation",), {"string_correctness"}),
        (("society",), {"field_correctness", "society_correctness"}),
        (
            ("society", "standard", "edition_year"),
            {
                "field_correctness",
                "society_correctness",
                "standard_correctness",
                "edition_year_correctness",
                "edition_compliance",
            },
        ),
        (
            ("society", "standard", "edition_year", "section_path"),
            {
                "correctness_when_retrieved",
                "field_correctness",
                "society_correctness",
                "standard_correctness",
                "edition_year_correctness",
                "section_path_correctness",
                "edition_compliance",
                "recall_at_k",
                "mrr",
            },
        ),
        (FIELDS, {row.name for row in DESCRIPTIONS} - {"weighted_citation_correctness"}),
    ],
)
def test_a_measure_that_needs_a_field_which_is_not_contracted_is_not_there(
    checks: tuple[str, ...], names: set[str]
) -> None:
    under = terms(checks=checks, catalogue=CATALOGUE)
    found = tally([score(RIGHT, under=under)], checks).measures()
    assert {row.name for row in found if row.stratum is None} == names | ALWAYS


def test_a_night_by_hand() -> None:
    found = measured(
        [
            named("a", RIGHT),
            named("b", WRONG, RIGHT),
            named("c", WRONG, passage(citation="[ASME B31.3  §304.1.2]")),
            named("d"),
            failed("e"),
            failed("f", "harness_error"),
        ]
    )
    whole = {name: row for (name, stratum), row in found.items() if stratum is None}
    assert {name: counts(row) for name, row in whole.items()} == {
        "citation_correctness": ("2", 5),
        "correctness_when_retrieved": ("2", 4),
        "string_correctness": ("2", 5),
        "field_correctness": ("3", 5),
        "society_correctness": ("3", 5),
        "standard_correctness": ("3", 5),
        "section_correctness": ("3", 5),
        "edition_year_correctness": ("3", 5),
        "section_path_correctness": ("3", 5),
        "edition_compliance": ("5", 5),
        "passage_consistency": ("4", 5),
        "recall_at_k": ("3", 5),
        "mrr": ("2", 5),
        "answered": ("4", 5),
    }
    plan = Outcomes(correct=2, incorrect=1, missing=1, gateway_error=1, harness_error=1)
    assert whole["string_correctness"].outcomes == whole["citation_correctness"].outcomes == plan
    assert whole["correctness_when_retrieved"].outcomes == Outcomes(correct=2, incorrect=1, gateway_error=1)
    assert whole["answered"].outcomes is None
    assert whole["correctness_when_retrieved"].warnings == (
        "base 4 is below 100",
        "not retrieved and outside the base: 1 of 5 expectations",
    )


def test_the_count_of_those_not_retrieved_is_told() -> None:
    scores = [named("a", RIGHT), named("b", WRONG), named("c"), failed("d"), failed("e", "harness_error")]
    assert tally(scores).not_retrieved == 2
    assert tally([], checks=("citation",)).not_retrieved is None


def test_without_items_there_is_no_number() -> None:
    found = Tally(FIELDS).measures()
    assert "citation_correctness" in {row.name for row in found}
    assert {(row.valid, row.value, row.interval, row.stratum, row.warnings) for row in found} == {
        (0, None, None, None, ())
    }


def test_a_night_of_harness_errors_alone_has_a_plan_and_no_number() -> None:
    found = measured([failed("a", "harness_error")])
    headline = found["citation_correctness", None]
    assert (headline.valid, headline.value, headline.outcomes) == (0, None, Outcomes(harness_error=1))
    assert {stratum for _, stratum in found} == {None}


def test_strata_are_by_standard_then_kind_and_count_what_is_theirs() -> None:
    table = gold(section="Table 1", section_path=("table", "1"), citation="[ASME B31.3 Table 1]")
    other = gold(standard="B31.1", citation="[ASME B31.1 §304.1.2]")
    scores = [
        named("a", RIGHT, citations=(gold(), table)),
        named("b", WRONG, citations=(other,)),
    ]
    found = tally(scores).measures()
    strata = list(dict.fromkeys(row.stratum for row in found))
    assert strata == [None, "standard=B31.1", "standard=B31.3", "kind=section", "kind=table"]
    assert {row.stratum: counts(row) for row in found if row.name == "citation_correctness"} == {
        None: ("1", 3),
        "standard=B31.1": ("0", 1),
        "standard=B31.3": ("1", 2),
        "kind=section": ("1", 2),
        "kind=table": ("0", 1),
    }
    # The item and its passages count in the strata of its first citation.
    answered = {row.stratum: row.valid for row in found if row.name == "answered"}
    assert answered == {None: 2, "standard=B31.1": 1, "standard=B31.3": 1, "kind=section": 2}


@pytest.mark.parametrize(("items", "warnings"), [(99, ("base 99 is below 100",)), (100, ())])
def test_a_small_base_is_warned_of(items: int, warnings: tuple[str, ...]) -> None:
    found = measured(named(str(number), RIGHT if number % 2 else WRONG) for number in range(items))
    assert found["citation_correctness", "kind=section"].warnings == warnings
    assert found["citation_correctness", None].warnings == warnings


def test_weights_are_exact_and_only_there_where_they_differ() -> None:
    alike = measured([named("a", RIGHT, weight="2"), named("b", WRONG, weight="2.0")])
    assert ("weighted_citation_correctness", None) not in alike
    found = measured([named("a", RIGHT, weight="0.1"), named("b", WRONG, weight="0.2"), failed("c", weight="0.3")])
    row = found["weighted_citation_correctness", None]
    assert (row.good, row.weight_total, row.value, row.valid) == (Fraction("0.1"), Fraction("0.6"), Fraction(1, 6), 3)
    assert row.interval is not None
    assert row.interval.n_effective == pytest.approx(0.36 / 0.14)


def test_weights_of_harness_errors_are_left_out_and_no_weight_is_no_number() -> None:
    found = measured([named("a", RIGHT, weight="0"), failed("b", "harness_error", weight="5")])
    row = found["weighted_citation_correctness", None]
    assert (counts(row), str(row.weight_total), row.value, row.interval) == (("0", 1), "0", None, None)


def test_a_cluster_tag_holds_items_together_and_an_untagged_item_is_its_own_cluster() -> None:
    scores = [
        *(named(f"a{number}", RIGHT, cluster="304") for number in range(5)),
        *(named(f"b{number}", WRONG, cluster="305") for number in range(5)),
        named("c", RIGHT),
    ]
    row = measured(scores)["citation_correctness", None]
    assert row.clusters == 3
    assert row.interval is not None
    assert row.interval.method == "wilson_cluster"
    assert row.interval.n_effective < 3
    apart = measured(named(str(number), RIGHT if number < 6 else WRONG) for number in range(11))
    plain = apart["citation_correctness", None]
    assert (plain.good, plain.valid, plain.clusters) == (row.good, row.valid, 11)
    assert plain.interval is not None
    assert (plain.interval.method, plain.interval.n_effective) == ("wilson", 11.0)


lasts = st.lists(st.sampled_from("123"), min_size=1, max_size=3, unique=True)


@st.composite
def nights(draw: st.DrawFn) -> list[ItemScore]:
    """Up to 8 scored items: answered, failed or not asked, with clusters, weights, kinds and several expectations."""
    night = []
    for number in range(draw(st.integers(0, 8))):
        of = item(
            *[gold(last) for last in draw(lasts)],
            id=str(number),
            cluster=draw(st.sampled_from([None, None, "x", "y"])),
            weight=draw(st.sampled_from(["1", "0.5", "3"])),
            tags=draw(st.sampled_from([{}, {"kind": "table"}])),
        )
        status: Any = draw(st.sampled_from(["ok", "ok", "ok", "gateway_error", "harness_error"]))
        found = draw(st.lists(passages, max_size=4))
        night.append(score_item(of, response(*found, status=status), terms(catalogue=CATALOGUE)))
    return night


@settings(max_examples=60, deadline=None)
@given(nights(), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_no_measure(night: list[ItemScore], shuffler: Any) -> None:
    mixed = list(night)
    shuffler.shuffle(mixed)
    assert tally(night).measures() == tally(mixed).measures()


@settings(max_examples=60, deadline=None)
@given(nights())
def test_each_number_is_what_counting_the_rows_gives(night: list[ItemScore]) -> None:
    found = measured(night)
    rows = [row for one in night for row in one.expectations]
    valid = [row for row in rows if row.outcome is not Outcome.HARNESS_ERROR]
    headline = found["citation_correctness", None]
    assert headline.outcomes is not None
    assert headline.outcomes.planned == len(rows)
    assert counts(headline) == (str(sum(row.outcome is Outcome.CORRECT for row in valid)), len(valid))
    for position, field in enumerate(FIELDS):
        row = found["string_correctness" if field == "citation" else f"{field}_correctness", None]
        assert counts(row) == (str(sum(row.checks[position] for row in valid)), len(valid))
    assert counts(found["field_correctness", None]) == (str(sum(all(row.checks[:5]) for row in valid)), len(valid))
    recalls = [one.recall for one in night if one.recall is not None]
    assert counts(found["recall_at_k", None]) == (str(sum(recalls)), len(recalls))
    judged = [passage.consistent for one in night for passage in one.passages]
    assert counts(found["passage_consistency", None]) == (str(sum(map(bool, judged))), len(judged))


@settings(max_examples=60, deadline=None)
@given(nights())
def test_the_interval_is_that_of_the_clusters_gathered_from_the_rows(night: list[ItemScore]) -> None:
    clusters: dict[str, list[bool]] = {}
    for one in night:
        verdicts = [row.checks[5] for row in one.expectations if row.outcome is not Outcome.HARNESS_ERROR]
        clusters.setdefault(one.cluster or f"item {one.item}", []).extend(verdicts)
    pairs = [(sum(verdicts), len(verdicts)) for verdicts in clusters.values() if verdicts]
    row = measured(night)["string_correctness", None]
    assert row.clusters == len(pairs)
    assert row.interval == (cluster_interval(sums_of(pairs))[0] if pairs else None)


@settings(max_examples=60, deadline=None)
@given(nights())
def test_every_row_is_in_itself_sound(night: list[ItemScore]) -> None:
    for row in tally(night).measures():
        assert (row.value is None) == (row.interval is None)
        if row.name != "weighted_citation_correctness":
            assert row.value == (row.good / row.valid if row.valid else None)
        if row.interval is not None and row.value is not None:
            assert 0 <= row.interval.low <= float(row.value) <= row.interval.high <= 1
            assert 0 < row.interval.n_effective <= row.valid
        if row.outcomes is not None:
            assert row.outcomes.valid == row.valid


@settings(max_examples=60, deadline=None)
@given(nights())
def test_the_strata_of_one_label_add_up_to_the_whole(night: list[ItemScore]) -> None:
    found = tally(night).measures()
    for label in ("standard=", "kind="):
        for whole in (row for row in found if row.stratum is None and not row.name.startswith("weighted")):
            parts = [row for row in found if row.name == whole.name and (row.stratum or "").startswith(label)]
            assert sum(part.good for part in parts) == whole.good
            assert sum(part.valid for part in parts) == whole.valid


@settings(max_examples=60, deadline=None)
@given(nights(), st.data())
def test_a_gateway_error_never_raises_a_share_of_expectations_or_items(
    night: list[ItemScore], data: st.DataObject
) -> None:
    answered = [number for number, one in enumerate(night) if one.status == "ok"]
    if not answered:
        return
    hit = data.draw(st.sampled_from(answered))
    one = night[hit]
    citations = tuple(gold(str(number)) for number in range(len(one.expectations)))
    of = item(*citations, id=one.item, cluster=one.cluster, weight=one.weight, tags={"kind": one.kind})
    outage = [*night[:hit], score_item(of, response(status="gateway_error"), terms()), *night[hit + 1 :]]
    before, after = measured(night), measured(outage)
    for key, row in after.items():
        was = before.get(key)
        if row.unit != "passage" and row.value is not None and was is not None and was.value is not None:
            assert row.value <= was.value, key


def test_an_item_may_be_added_after_the_measures_were_read() -> None:
    found = tally([named("a", RIGHT, cluster="x")])
    found.measures()
    found.add(named("b", WRONG, cluster="x"))
    assert found.measures() == tally([named("a", RIGHT, cluster="x"), named("b", WRONG, cluster="x")]).measures()
    assert found.outcomes == Outcomes(correct=1, incorrect=1)


def test_memory_is_bounded_when_no_two_items_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.scoring.measures._PENDING", 3)
    night = [named(str(number), *([WRONG] * number), RIGHT, weight=str(number)) for number in range(10)]
    found = tally(night)
    assert len(found._pending) < 3
    assert found.measures() == tally(reversed(night)).measures()
    assert found.outcomes.planned == 10
