"""Assessments of nights and months: the table of statuses, the words of their reasons, exactness where floats fail."""

from fractions import Fraction
from itertools import pairwise, permutations
from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from harness.scoring.model import Outcomes
from harness.sla.assess import assess, tier_of, worst
from harness.sla.binomial import at_most, critical_count, is_rarer, smallest_telling_sample
from harness.sla.model import Assessment, Counted, Status
from harness.testset.model import Floor, Tier
from tests.sla.factories import TIERS, counted, floor, terms

RATES = st.integers(1, 99).map(lambda hundredths: f"0.{hundredths:02d}")


def assessed(counts: Counted, against: Floor | None = None) -> Assessment:
    return assess(terms(), against or floor(), counts)


def month(counts: Counted, missed: int = 0, **changes: Any) -> Assessment:
    """The pooled counts of a month with so many missed nights, of which the terms forgive three."""
    return assess(terms(window="calendar_month", **changes), floor(), counts, missed)


MISSED = "4 nights were not run or had no sufficient data, more than 3"


@pytest.mark.parametrize(
    ("counts", "status", "percent", "reasons"),
    [
        (counted(190), Status.MET, "0", ()),
        (counted(200), Status.MET, "0", ()),
        (counted(189), Status.BREACHED, "10", ()),
        (counted(180), Status.BREACHED, "10", ()),
        (counted(179), Status.BREACHED, "25", ()),
        (counted(0), Status.BREACHED, "100", ()),
        (
            counted(80, gateway=120),
            Status.BREACHED,
            "100",
            ("120 of 200 expectations had no usable answer from the gateway and count as incorrect",),
        ),
        (counted(0, 0, sent=0), Status.NOT_RUN, "0", ("no call was sent",)),
        (counted(0, 0, harness=200, sent=0), Status.NOT_RUN, "0", ("no call was sent",)),
        (counted(59, 59), Status.MET, "0", ()),
        (counted(58, 58), Status.INSUFFICIENT_DATA, "0", ("58 valid expectations, fewer than 59",)),
        (counted(0, 58), Status.INSUFFICIENT_DATA, "0", ("58 valid expectations, fewer than 59",)),
        (counted(0, 0, sent=3), Status.INSUFFICIENT_DATA, "0", ("0 valid expectations, fewer than 59",)),
        (counted(0, 98, harness=2), Status.BREACHED, "100", ()),
        (
            counted(0, 97, harness=3),
            Status.INSUFFICIENT_DATA,
            "0",
            ("3 of 100 expectations ended in a failure of our own, more than a share of 0.02",),
        ),
        (
            counted(50, 50, harness=50),
            Status.INSUFFICIENT_DATA,
            "0",
            (
                "50 of 100 expectations ended in a failure of our own, more than a share of 0.02",
                "50 valid expectations, fewer than 59",
            ),
        ),
    ],
)
def test_a_window_comes_to(counts: Counted, status: Status, percent: str, reasons: tuple[str, ...]) -> None:
    found = assessed(counts)
    assert (found.status, found.target_percent, found.reasons) == (status, percent, reasons)
    assert (found.tier is not None) == (status is Status.BREACHED)


def test_a_base_of_what_was_retrieved_holds_no_gateway_error() -> None:
    outcomes = Outcomes(correct=100, incorrect=60, gateway_error=40)
    when_retrieved = floor(measure="correctness_when_retrieved")
    found = assessed(Counted(good=100, valid=160, outcomes=outcomes, calls_sent=200), when_retrieved)
    assert (found.status, found.reasons) == (Status.BREACHED, ())


def test_no_valid_expectation_is_insufficient_under_any_minimum() -> None:
    found = assess(terms(min_sample=0), floor(), counted(0, 0, sent=3))
    assert (found.status, found.reasons) == (Status.INSUFFICIENT_DATA, ("no valid expectation",))


@pytest.mark.parametrize(
    ("good", "status"), [(190, Status.MET), (188, Status.MET), (185, Status.MET), (184, Status.BREACHED)]
)
def test_the_binomial_rule_forgives_what_chance_explains(good: int, status: Status) -> None:
    assert assessed(counted(good), floor(rule="exact_binomial_95")).status is status


@pytest.mark.parametrize(
    "counts",
    [
        Counted(good=2, valid=1, outcomes=Outcomes(correct=2), calls_sent=1),
        Counted(good=-1, valid=1, outcomes=Outcomes(correct=1), calls_sent=1),
        Counted(good=1, valid=2, outcomes=Outcomes(correct=1, harness_error=1), calls_sent=1),
    ],
)
def test_contradicting_counts_decide_nothing(counts: Counted) -> None:
    with pytest.raises(ValueError, match=r"^good -?\d, valid \d of \d measured$"):
        assessed(counts)


def test_error_no_tier_holds_a_breach() -> None:
    with pytest.raises(ValueError) as caught:
        assessed(counted(150), floor(tiers=TIERS[:2]))
    assert str(caught.value) == "no tier of citation_correctness holds 3/4; tiers tile [0, 0.95)"


@pytest.mark.parametrize(
    ("counts", "missed", "status", "percent", "reasons"),
    [
        (counted(5700, 6000), 0, Status.MET, "0", ()),
        (counted(5700, 6000), 3, Status.MET, "0", ()),
        (counted(5700, 6000), 4, Status.INSUFFICIENT_DATA, "0", (MISSED,)),
        (counted(5699, 6000), 0, Status.BREACHED, "10", ()),
        (counted(5699, 6000), 3, Status.BREACHED, "10", ()),
        (counted(5699, 6000), 4, Status.BREACHED, "10", ()),
        (counted(0, 6000), 30, Status.BREACHED, "100", ()),
        (counted(59, 59), 3, Status.MET, "0", ()),
        (counted(58, 58), 0, Status.INSUFFICIENT_DATA, "0", ("58 valid expectations, fewer than 59",)),
        (counted(0, 58), 0, Status.INSUFFICIENT_DATA, "0", ("58 valid expectations, fewer than 59",)),
        (counted(58, 58), 4, Status.INSUFFICIENT_DATA, "0", ("58 valid expectations, fewer than 59",)),
        (counted(0, 0, sent=1), 30, Status.INSUFFICIENT_DATA, "0", ("0 valid expectations, fewer than 59",)),
        (counted(0, 0, sent=0), 30, Status.NOT_RUN, "0", ("no call was sent",)),
        (counted(0, 0, harness=6000, sent=0), 30, Status.NOT_RUN, "0", ("no call was sent",)),
        (counted(0, 0, sent=0), 0, Status.NOT_RUN, "0", ("no call was sent",)),
        (
            counted(80, gateway=120),
            4,
            Status.BREACHED,
            "100",
            ("120 of 200 expectations had no usable answer from the gateway and count as incorrect",),
        ),
    ],
)
def test_a_month_comes_to(counts: Counted, missed: int, status: Status, percent: str, reasons: tuple[str, ...]) -> None:
    found = month(counts, missed)
    assert (found.status, found.target_percent, found.reasons) == (status, percent, reasons)


@pytest.mark.parametrize(("good", "status"), [(190, Status.MET), (189, Status.BREACHED)])
def test_the_share_of_our_own_failures_is_a_nights_and_not_a_months(good: int, status: Status) -> None:
    counts = counted(good, harness=5000)
    assert month(counts).status is status
    assert assessed(counts).status is Status.INSUFFICIENT_DATA


@pytest.mark.parametrize(("allowed", "missed"), [(0, 1), (1, 2), (31, 32)])
def test_a_month_forgives_as_many_missed_nights_as_its_terms_say(allowed: int, missed: int) -> None:
    assert month(counted(200), allowed, max_missed_nights=allowed).status is Status.MET
    found = month(counted(200), missed, max_missed_nights=allowed)
    assert found.status is Status.INSUFFICIENT_DATA
    assert found.reasons == (f"{missed} nights were not run or had no sufficient data, more than {allowed}",)


def test_a_night_has_no_missed_nights_to_be_judged_by() -> None:
    assert assess(terms(max_missed_nights=0), floor(), counted(190)).status is Status.MET


@given(nights=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=31), data=st.data())
def test_a_month_is_decided_by_its_pooled_counts_and_never_by_its_nights(
    nights: list[tuple[int, int]], data: st.DataObject
) -> None:
    good, wrong = (sum(each) for each in zip(*nights, strict=True))
    missed = data.draw(st.integers(0, len(nights)))
    valid = good + wrong
    if valid == 0:
        expected = Status.NOT_RUN
    elif valid < 59:
        expected = Status.INSUFFICIENT_DATA
    elif good * 100 < 95 * valid:
        expected = Status.BREACHED
    else:
        expected = Status.MET if missed <= 3 else Status.INSUFFICIENT_DATA
    assert month(counted(good, valid), missed).status is expected


@given(good=st.integers(0, 200), missed=st.integers(0, 31), more=st.integers(0, 31))
def test_missing_more_nights_never_makes_a_breach_nor_ends_one(good: int, missed: int, more: int) -> None:
    few, many = month(counted(good), missed), month(counted(good), missed + more)
    assert (few.status is Status.BREACHED) == (many.status is Status.BREACHED)
    assert few.target_percent == many.target_percent
    assert few.tier == many.tier


@given(good=st.integers(0, 60), wrong=st.integers(0, 60), gateway=st.integers(0, 20), harness=st.integers(0, 20))
def test_the_statuses_part_all_counts_and_only_a_breach_has_a_target(
    good: int, wrong: int, gateway: int, harness: int
) -> None:
    counts = counted(good, good + wrong + gateway, gateway=gateway, harness=harness)
    planned = good + wrong + gateway + harness
    silent = counts.calls_sent == 0
    lacking = counts.valid < 59 or harness * 100 > 2 * planned
    expected = {
        Status.NOT_RUN: silent,
        Status.INSUFFICIENT_DATA: not silent and lacking,
        Status.BREACHED: not silent and not lacking and good * 100 < 95 * counts.valid,
        Status.MET: not silent and not lacking and good * 100 >= 95 * counts.valid,
    }
    found = assessed(counts)
    assert [status for status, applies in expected.items() if applies] == [found.status]
    assert (found.target_percent != "0") == (found.status is Status.BREACHED)


@given(st.permutations([Status.MET, Status.BREACHED, Status.NOT_RUN, Status.INSUFFICIENT_DATA]), st.integers(1, 4))
def test_a_page_has_the_worst_of_its_floors(statuses: list[Status], kept: int) -> None:
    order = ["breached", "not_run", "insufficient_data", "met"]
    assert worst(statuses[:kept]) == min(statuses[:kept], key=lambda status: order.index(status.value))


def test_a_page_without_a_floor_says_so() -> None:
    assert worst([]) is Status.NO_FLOOR


@given(scale=st.integers(1, 10**30), hundredths=st.integers(1, 100))
def test_the_floor_itself_is_met_and_one_less_is_breached_at_any_size(scale: int, hundredths: int) -> None:
    value = f"{hundredths // 100}.{hundredths % 100:02d}"
    at_floor, valid = hundredths * scale, 100 * scale
    assert assessed(counted(at_floor, valid), floor(value)).status is Status.MET
    assert assessed(counted(at_floor - 1, valid), floor(value)).status is Status.BREACHED


@given(n=st.integers(1, 40), data=st.data(), rate=RATES)
def test_the_binomial_tail_is_the_sum_of_its_terms(n: int, data: st.DataObject, rate: str) -> None:
    good = data.draw(st.integers(0, n))
    p = Fraction(rate)
    by_definition = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(good + 1))
    assert Fraction(*at_most(good, n, p)) == by_definition
    assert is_rarer(good, n, p) == (by_definition < Fraction(1, 20))


@given(n=st.integers(1, 200), rate=RATES)
def test_the_critical_count_is_where_the_binomial_rule_turns_and_never_reaches_the_floor(n: int, rate: str) -> None:
    critical = critical_count(n, Fraction(rate))
    assert critical < 0 or is_rarer(critical, n, Fraction(rate))
    assert not is_rarer(critical + 1, n, Fraction(rate))
    assert Fraction(critical, n) < Fraction(rate)


def test_a_floor_of_one_is_breached_by_a_single_miss_under_both_rules() -> None:
    for rule in ("point", "exact_binomial_95"):
        assert assessed(counted(200), floor("1", rule)).status is Status.MET
        assert assessed(counted(199), floor("1", rule)).status is Status.BREACHED


def test_a_chance_of_exactly_one_in_twenty_is_no_breach() -> None:
    assert at_most(0, 1, Fraction("0.95")) == (1, 20)
    assert assess(terms(min_sample=1), floor(rule="exact_binomial_95"), counted(0, 1)).status is Status.MET


def test_a_hundred_thousand_expectations_are_decided_exactly() -> None:
    critical = 98_947
    assert binom.cdf(critical, 100_000, 0.99) < 0.049
    assert binom.cdf(critical + 1, 100_000, 0.99) > 0.051
    assert assessed(counted(critical, 100_000), floor("0.99", "exact_binomial_95")).status is Status.BREACHED
    assert assessed(counted(critical + 1, 100_000), floor("0.99", "exact_binomial_95")).status is Status.MET


@given(rate=RATES)
def test_one_expectation_fewer_than_the_smallest_telling_sample_cannot_tell(rate: str) -> None:
    n = smallest_telling_sample(Fraction(rate))
    assert Fraction(rate) ** n < Fraction(1, 20) <= Fraction(rate) ** (n - 1)


@pytest.mark.parametrize("tiers", [TIERS, TIERS[::-1]])
@pytest.mark.parametrize(("good", "percent"), [(180, "10"), (179, "25"), (160, "25"), (159, "100")])
def test_an_edge_belongs_to_the_tier_above_it(tiers: tuple[Tier, ...], good: int, percent: str) -> None:
    assert tier_of(floor(tiers=tiers), Fraction(good, 200)).credit_percent == percent


@given(edges=st.lists(st.integers(1, 94), unique=True, max_size=4).map(sorted), good=st.integers(0, 189))
def test_exactly_one_tier_holds_each_breach_in_whatever_order_they_are_listed(edges: list[int], good: int) -> None:
    bounds = [0, *edges, 95]
    tiers = [
        Tier(below=f"0.{above:02d}", at_least=f"0.{under:02d}", credit_percent=str(100 - under))
        for under, above in pairwise(bounds)
    ]
    under = max(edge for edge in bounds if edge * 200 <= good * 100)
    for order in list(permutations(tiers))[:6]:
        assert tier_of(floor(tiers=order), Fraction(good, 200)).credit_percent == str(100 - under)
