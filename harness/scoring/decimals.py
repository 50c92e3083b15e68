"""How an exact number is printed: never across a floor, and bounds outward (sla.md, publishing.md)."""

from fractions import Fraction
from math import ceil, floor
from typing import Final, Literal

PLACES: Final = 6
"""Decimals of a printed ratio, unless its floor has more."""


def places_for(floor_text: str) -> int:
    """Decimals to print a ratio with beside a floor, so that truncation never crosses it: six or as many as it has."""
    return max(PLACES, len(floor_text.partition(".")[2]))


def format_ratio(value: Fraction, places: int = PLACES) -> str:
    """The exact value cut off after `places` decimals (at least one), towards zero; a cut-off zero has no sign."""
    scaled = abs(value.numerator) * 10**places // value.denominator
    return _point(-scaled if value < 0 else scaled, places)


def format_bound(value: float, *, direction: Literal["down", "up"], places: int = PLACES) -> str:
    """An interval's bound rounded outward: the low one `down`, the high one `up`; exact in the float's own value."""
    scaled = Fraction(value) * 10**places
    return _point(floor(scaled) if direction == "down" else ceil(scaled), places)


def format_percent(ratio_text: str) -> str:
    """A printed ratio shifted two places: `0.949999` is `94.9999`. Digits are moved, never rounded.

    The ratio has at least three decimals.
    """
    sign = "-" if ratio_text.startswith("-") else ""
    whole, _, decimals = ratio_text.lstrip("-").partition(".")
    return f"{sign}{int(whole + decimals[:2])}.{decimals[2:]}"


def _point(scaled: int, places: int) -> str:
    whole, rest = divmod(abs(scaled), 10**places)
    return f"{'-' if scaled < 0 else ''}{whole}.{rest:0{places}d}"
