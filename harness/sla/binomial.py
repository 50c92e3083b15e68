"""The binomial distribution in exact integers, for the decisions that carry money (sla.md, Assessment)."""

from bisect import bisect_left
from fractions import Fraction
from math import ceil
from typing import Final

SIGNIFICANCE: Final = Fraction(1, 20)
"""A breach under `exact_binomial_95` is rarer than this where the true rate is the floor."""


def at_most(good: int, n: int, rate: Fraction) -> tuple[int, int]:
    """P(X ≤ good) for X ~ Binomial(n, rate) as numerator and denominator, exact and not reduced.

    Summed from the side with fewer terms. `0 <= good <= n`; `rate` is in [0, 1].
    """
    hit, whole = rate.numerator, rate.denominator
    miss = whole - hit
    total = whole**n
    if good + 1 <= n - good:
        return miss ** (n - good) * _outer_terms(good, n, hit, miss), total
    if good == n:
        return total, total
    upper = hit ** (good + 1) * _outer_terms(n - good - 1, n, miss, hit)
    return total - upper, total


def is_rarer(good: int, n: int, rate: Fraction, than: Fraction = SIGNIFICANCE) -> bool:
    """Whether P(X ≤ good | n, rate) is below `than`, decided in integers."""
    part, total = at_most(good, n, rate)
    return part * than.denominator < total * than.numerator


def critical_count(n: int, rate: Fraction) -> int:
    """The largest count of good whose P(X ≤ good | n, rate) is below 1/20; -1 where none is."""
    return bisect_left(range(n + 1), True, key=lambda good: not is_rarer(good, n, rate)) - 1


def smallest_telling_sample(rate: Fraction) -> int:
    """The least n at which even all good would be rarer than 1/20, were the true rate no better than `rate`.

    Rows N01 and N02 of the reference table: 59 for 0.95, 299 for 0.99. `rate` is in (0, 1); at 1 there is no such n.
    """
    # rate**n <= exp(-n (1 - rate)) and exp(-3) < 1/20.
    hit, whole = rate.numerator, rate.denominator
    enough = ceil(Fraction(3 * whole, whole - hit))
    return bisect_left(range(1, enough + 1), True, key=lambda n: 20 * hit**n < whole**n) + 1


def _outer_terms(last: int, n: int, near: int, far: int) -> int:
    """Σ C(n, i) near^i far^(last - i) for i from 0 to `last`, by Horner's rule.

    The power of `far` that all terms share is left out, so that the numbers grow with `last` and not with `n`.
    """
    term = total = 1
    for i in range(1, last + 1):
        term = term * (near * (n - i + 1)) // i
        total = total * far + term
    return total
