"""Where things stand in a chart: a scale for shares and how coordinates are written.

Charts are drawn by templates from these numbers, not by a plotting library: their colours are then the stylesheet's,
light, dark, forced or printed, and their figures the very strings of eval.json. Only geometry is a float.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

WIDTH: Final = 640
"""Width of every chart in its own units; text is 13 of them high, and 24 on a narrow screen."""

_STEPS: Final = (1, 2, 5, 10, 20, 30)
"""Percentage points between the lines of a scale."""

_MOST_STEPS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    at: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Shares from `start` percent to 1 laid on the stretch from `zero` to `one`, which may run either way."""

    start: int
    zero: float
    one: float

    def at(self, share: str | Fraction) -> str:
        """The coordinate of a share; one below the start stands at the start."""
        first = Fraction(self.start, 100)
        part = max((Fraction(share) - first) / (1 - first), Fraction(0))
        return coordinate(self.zero + float(part) * (self.one - self.zero))

    def ticks(self) -> tuple[Tick, ...]:
        """Lines at whole percents, at most eight, the last one at 100 %."""
        span = 100 - self.start
        step = next((step for step in _STEPS if span / step <= _MOST_STEPS and span % step == 0), span)
        return tuple(
            Tick(at=self.at(Fraction(percent, 100)), label=f"{percent} %") for percent in range(self.start, 101, step)
        )


def scale_of(shares: Iterable[str | None], zero: float, one: float) -> Scale:
    """A scale that starts at a round percent below all the shares and ends at 100 %."""
    lowest = min((Fraction(share) for share in shares if share is not None), default=Fraction(0))
    unit = 5 if lowest >= Fraction(4, 5) else 10
    return Scale(start=max((int(lowest * 100) // unit - 1) * unit, 0), zero=zero, one=one)


def coordinate(value: float) -> str:
    """A coordinate as it is written: one decimal, none where it says nothing."""
    return f"{value:.1f}".removesuffix(".0")
