"""A month for billing: what of its windows is evaluated and final, and what is billable of each."""

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sla.model import Settlement, Status
from harness.sla.period import Contract, Period, period_of
from harness.sla.windows import Window, month_window, night_window
from tests.sla.acting import after, dispute
from tests.sla.contracts import BEGAN, DECEMBER, NOVEMBER, contract, monthly, nightly
from tests.sla.factories import breach, extend, floor, folded, said, settlement, terms, tick

MEASURE: Final = "citation_correctness"
OTHER: Final = "string_correctness"


def final(percent: str, window: Window, measure: str = MEASURE, *, days: int = 0, slug: str = "asme") -> Settlement:
    """A settlement of that window that is final with this credit."""
    under = terms(dispute_days=days, floors=(floor(measure=measure),))
    breached = said(Status.BREACHED, percent, under=under, window=window, slug=slug, society_id=slug.upper())
    return settlement(breached)


def pending(percent: str, window: Window, measure: str = MEASURE) -> Settlement:
    """A settlement that is open: nothing of it is billable yet."""
    return final(percent, window, measure, days=30)


def period(contracts: Sequence[Contract], *settlements: Settlement, month: date = NOVEMBER) -> Period:
    found = period_of(month, contracts, settlements)
    assert found is not None
    return found


def flags(found: Period) -> list[tuple[str, bool, bool]]:
    return [(each.slug, each.complete, each.settled) for each in found.societies]


ONE_NIGHT: Final = nightly(date(2026, 11, 29), date(2026, 11, 29), floors=(floor(), floor(measure=OTHER)))
NIGHT: Final = night_window(date(2026, 11, 29))
MONTH: Final = month_window(NOVEMBER)


def test_a_window_that_is_not_evaluated_is_missing_by_its_subject() -> None:
    found = period([contract(ONE_NIGHT)])
    (society,) = found.societies
    assert society.missing == (f"slf_asme_{MEASURE}_2026-11-29", f"slf_asme_{OTHER}_2026-11-29")
    assert (society.id, society.slug, society.windows) == ("ASME", "asme", ())
    assert (found.month, found.complete, found.settled) == ("2026-11", False, False)
    assert flags(found) == [("asme", False, False)]


def test_one_floor_of_two_is_not_the_whole_window() -> None:
    found = period([contract(ONE_NIGHT)], final("10", NIGHT))
    assert found.societies[0].missing == (f"slf_asme_{OTHER}_2026-11-29",)
    assert flags(found) == [("asme", False, False)]


@pytest.mark.parametrize(
    ("second", "settled"), [(final("25", NIGHT, OTHER), True), (pending("25", NIGHT, OTHER), False)]
)
def test_a_month_is_complete_when_all_are_evaluated_and_settled_when_all_are_final(
    second: Settlement, settled: bool
) -> None:
    found = period([contract(ONE_NIGHT)], final("10", NIGHT), second)
    assert (found.complete, found.settled) == (True, settled)
    assert flags(found) == [("asme", True, settled)]
    (window,) = found.societies[0].windows
    assert (window.settled, len(window.settlements)) == (settled, 2)


def test_a_disputed_settlement_is_evaluated_and_not_settled() -> None:
    disputed = folded(dispute(extend([], breach("25")), 1))
    one_floor = nightly(date(2026, 11, 29), date(2026, 11, 29))
    assert flags(period([contract(one_floor)], disputed)) == [("asme", True, False)]


def test_a_reopened_settlement_is_not_settled_and_bills_what_was_final() -> None:
    events = extend(tick(extend([], breach("10")), after(30)), breach("100"), after(31))
    one_floor = nightly(date(2026, 11, 29), date(2026, 11, 29))
    found = period([contract(one_floor)], folded(events))
    assert flags(found) == [("asme", True, False)]
    assert found.societies[0].windows[0].billable_percent == "10"


def test_a_window_says_its_span_and_carries_its_settlements_as_they_stand() -> None:
    stands = final("10", MONTH)
    (window,) = period([contract(monthly(BEGAN))], stands).societies[0].windows
    assert (window.label, window.kind) == ("2026-11", "calendar_month")
    assert (window.start, window.end) == ("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z")
    assert window.settlements == (stands.data,)


@pytest.mark.parametrize(
    ("percents", "billable"),
    [
        (("10", "25"), "25"),
        (("25", "10"), "25"),
        (("9", "10"), "10"),
        (("100", "25"), "100"),
        (("12.5", "12.25"), "12.5"),
        (("0", "0"), "0"),
    ],
)
def test_of_several_settlements_over_one_window_the_highest_final_target_counts(
    percents: tuple[str, str], billable: str
) -> None:
    one, other = percents
    found = period([contract(ONE_NIGHT)], final(one, NIGHT), final(other, NIGHT, OTHER))
    assert [window.billable_percent for window in found.societies[0].windows] == [billable]


def test_a_target_that_is_not_final_is_not_billable() -> None:
    found = period([contract(ONE_NIGHT)], final("10", NIGHT, OTHER), pending("100", NIGHT))
    assert [window.billable_percent for window in found.societies[0].windows] == ["10"]


@given(percents=st.lists(st.sampled_from(["0", "5", "10", "12.5", "100"]), min_size=1, max_size=4))
def test_every_window_bills_for_itself(percents: list[str]) -> None:
    windows = [night_window(NOVEMBER + timedelta(days=number)) for number in range(len(percents))]
    stand = [final(percent, window) for percent, window in zip(percents, windows, strict=True)]
    (society,) = period([], *stand[::-1]).societies
    assert [window.label for window in society.windows] == [window.label for window in windows]
    assert [Fraction(window.billable_percent) for window in society.windows] == [*map(Fraction, percents)]


def test_a_settlement_without_a_contract_is_shown_all_the_same() -> None:
    found = period([], final("10", NIGHT))
    assert flags(found) == [("asme", True, True)]
    assert flags(period([], pending("10", NIGHT))) == [("asme", True, False)]


def test_a_settlement_that_the_contract_does_not_want_is_shown_beside_what_is_missing() -> None:
    found = period([contract(monthly(BEGAN))], final("10", NIGHT))
    (society,) = found.societies
    assert society.missing == (f"slf_asme_{MEASURE}_2026-11",)
    assert [window.label for window in society.windows] == ["2026-11-29"]
    assert (society.complete, society.settled) == (False, False)


def test_societies_stand_by_slug_and_each_for_itself() -> None:
    under = [contract(monthly(BEGAN), slug=slug) for slug in ("sae", "asme", "nfpa")]
    found = period(
        under,
        final("10", MONTH, slug="sae"),
        pending("10", MONTH),
        final("10", MONTH, slug="aci"),
    )
    assert flags(found) == [("aci", True, True), ("asme", True, False), ("nfpa", False, False), ("sae", True, True)]
    assert (found.complete, found.settled) == (False, False)


def test_a_month_is_settled_when_every_society_is() -> None:
    under = [contract(monthly(BEGAN), slug=slug) for slug in ("sae", "asme")]
    sae, asme = final("10", MONTH, slug="sae"), final("0", MONTH)
    assert (period(under, sae, asme).complete, period(under, sae, asme).settled) == (True, True)
    still = period(under, sae, pending("10", MONTH))
    assert (still.complete, still.settled) == (True, False)


def test_a_society_without_floors_is_not_in_the_period() -> None:
    found = period([contract(nightly(BEGAN, floors=()), slug="aci"), contract(monthly(BEGAN))], final("0", MONTH))
    assert flags(found) == [("asme", True, True)]


@pytest.mark.parametrize(
    "contracts",
    [
        [],
        [contract()],
        [contract(nightly(BEGAN, floors=()))],
        [contract(nightly(DECEMBER))],
        [contract(nightly(BEGAN), first=DECEMBER)],
        [contract(monthly(BEGAN, date(2026, 10, 31)))],
    ],
)
def test_a_month_of_which_nothing_is_known_is_no_period(contracts: list[Contract]) -> None:
    assert period_of(NOVEMBER, contracts, []) is None


@pytest.mark.parametrize(("day", "label"), [(date(2026, 12, 31), "2026-12"), (date(2027, 2, 28), "2027-02")])
def test_any_day_names_its_month(day: date, label: str) -> None:
    found = period([contract(monthly(BEGAN))], month=day)
    assert (found.month, found.societies[0].missing) == (label, (f"slf_asme_{MEASURE}_{label}",))
