"""The small trend beside a society in the overview: the line of its last nights, broken where one is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

from harness.site.index import TrendPoint
from harness.site.plot import coordinate, scale_of

_LEFT, _RIGHT, _TOP, _BOTTOM = 4.0, 116.0, 5.0, 27.0
_DAY: Final = (_RIGHT - _LEFT) / 29


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """Paths of the lines, the last point, and where the floor stands, None without one."""

    lines: tuple[str, ...]
    x: str
    y: str
    floor: str | None


def spark_of(points: Sequence[TrendPoint], floor: str | None) -> Spark | None:
    """The trend of up to thirty dates that end with the last point; None without a value."""
    valued = [(date.fromisoformat(point.night), point.value) for point in points if point.value is not None]
    if not valued:
        return None
    last = valued[-1][0]
    scale = scale_of([floor, *(value for _, value in valued)], _BOTTOM, _TOP)
    placed = [
        (day, coordinate(_RIGHT - (last - day).days * _DAY), scale.at(value))
        for day, value in valued
        if (last - day).days < 30
    ]
    lines = [[placed[0]]]
    for before, after in pairwise(placed):
        if (after[0] - before[0]).days != 1:
            lines.append([])
        lines[-1].append(after)
    return Spark(
        lines=tuple("M" + "L".join(f"{x} {y}" for _, x, y in line) for line in lines),
        x=placed[-1][1],
        y=placed[-1][2],
        floor=None if floor is None else scale.at(floor),
    )
