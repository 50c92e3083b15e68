"""Printed numbers never cross a floor, and bounds lie outward."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.decimals import format_bound, format_percent, format_ratio, places_for


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(190, 200), 6, "0.950000"),
        (Fraction(93, 98), 6, "0.948979"),
        (Fraction(2, 3), 6, "0.666666"),
        (Fraction(1), 6, "1.000000"),
        (Fraction(0), 6, "0.000000"),
        (Fraction(-1, 3), 6, "-0.333333"),
        (Fraction(-1, 10**7), 6, "0.000000"),
        (Fraction(9999999, 10**7), 6, "0.999999"),
        (Fraction(2, 3), 8, "0.66666666"),
    ],
)
def test_ratios_are_cut_off(value: Fraction, places: int, text: str) -> None:
    assert format_ratio(value, places) == text


@pytest.mark.parametrize(("floor", "places"), [("0.95", 6), ("1", 6), ("0.9500001", 7), ("0.123456", 6)])
def test_places_are_six_or_as_many_as_the_floor_has(floor: str, places: int) -> None:
    assert places_for(floor) == places


@settings(deadline=None)
@given(st.integers(1, 10**6), st.data(), st.integers(0, 9), st.data())
def test_a_printed_ratio_is_on_its_own_side_of_every_floor(
    valid: int, counts: st.DataObject, digits: int, floors: st.DataObject
) -> None:
    value = Fraction(counts.draw(st.integers(0, valid)), valid)
    floor = f"{Decimal(floors.draw(st.integers(1, 10**digits))).scaleb(-digits):f}"
    printed = Fraction(format_ratio(value, places_for(floor)))
    assert (printed < Fraction(floor)) == (value < Fraction(floor))


@settings(deadline=None)
@given(st.floats(0, 1))
def test_bounds_are_rounded_outward_by_less_than_a_unit(value: float) -> None:
    low = Fraction(format_bound(value, direction="down"))
    high = Fraction(format_bound(value, direction="up"))
    assert low <= Fraction(value) <= high
    assert high - low in (0, Fraction(1, 10**6))


def test_bounds_by_hand() -> None:
    assert format_bound(0.8752318455, direction="down") == "0.875231"
    assert format_bound(0.8752318455, direction="up") == "0.875232"
    assert format_bound(-0.0000001, direction="down") == "-0.000001"
    assert format_bound(1.0, direction="up", places=2) == "1.00"


@pytest.mark.parametrize(
    ("ratio", "percent"),
    [
        ("0.949999", "94.9999"),
        ("1.000000", "100.0000"),
        ("0.000001", "0.0001"),
        ("-0.012345", "-1.2345"),
        ("0.9500001", "95.00001"),
    ],
)
def test_a_percent_is_the_ratio_with_its_point_moved(ratio: str, percent: str) -> None:
    assert format_percent(ratio) == percent
