"""Charts of one row a group: counts as bars, shares as points on their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.site.eval_json import MeasureEntry
from harness.site.plot import WIDTH, Tick, coordinate, scale_of
from harness.site.text import visible
from harness.site.views import CountRow, group_of, percent_shown

MOST_ROWS: Final = 12
"""Rows that a chart shows; its table has all."""

_ROW: Final = 54
_TOP: Final = 8
_LONGEST_LABEL: Final = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`y` is the row's upper edge. A bar reaches from the left to `point`; a share has its interval too."""

    label: str
    figure: str
    y: int
    point: str
    low: str | None
    width: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A chart of rows. `floor` and `ticks` are set for shares only."""

    name: str
    title: str
    says: str
    rows: tuple[Row, ...]
    height: int
    floor: str | None
    ticks: tuple[Tick, ...]

    @property
    def file(self) -> str:
        return f"chart-{self.name}.svg"


def bars_of_counts(name: str, title: str, counts: Sequence[CountRow]) -> Bars | None:
    """Counts as bars, in the order given; None where there is nothing to draw."""
    most = max((row.count for row in counts), default=0)
    if not most:
        return None
    rows = tuple(
        Row(
            label=_cut(row.name),
            figure=str(row.count),
            y=_TOP + number * _ROW,
            point=coordinate(row.count / most * WIDTH),
            low=None,
            width=None,
        )
        for number, row in enumerate(counts[:MOST_ROWS])
    )
    told = ", ".join(f"{row.name} {row.count}" for row in counts[:MOST_ROWS])
    return Bars(
        name=name,
        title=title,
        says=f"{told}{_cut_note(len(counts))}.",
        rows=rows,
        height=_TOP + len(rows) * _ROW,
        floor=None,
        ticks=(),
    )


def bars_of_shares(name: str, title: str, entries: Sequence[MeasureEntry], floor: str | None) -> Bars | None:
    """Shares of groups as points on their intervals, those with the largest base first; None without any.

    `floor` is the whole's, drawn to compare with: it is not decided by group.
    """
    valued = [entry for entry in entries if entry.value is not None and entry.interval is not None]
    if not valued:
        return None
    chosen = sorted(valued, key=lambda entry: -entry.valid)[:MOST_ROWS]
    scale = scale_of([*(entry.interval.low for entry in chosen if entry.interval), floor], 0, WIDTH)
    rows = []
    for number, entry in enumerate(chosen):
        assert entry.value is not None and entry.interval is not None  # noqa: S101 - chosen above
        low = scale.at(entry.interval.low)
        rows.append(
            Row(
                label=_cut(group_of(entry)),
                figure=f"{percent_shown(entry.value)} % ({entry.good}/{entry.valid})",
                y=_TOP + number * _ROW,
                point=scale.at(entry.value),
                low=low,
                width=coordinate(max(float(scale.at(entry.interval.high)) - float(low), 1.0)),
            )
        )
    told = "; ".join(f"{visible(group_of(entry))} {percent_shown(entry.value)} %" for entry in chosen)
    return Bars(
        name=name,
        title=title,
        says=f"{told}{_cut_note(len(valued))}.",
        rows=tuple(rows),
        height=_TOP + len(rows) * _ROW + 30,
        floor=None if floor is None else scale.at(floor),
        ticks=scale.ticks(),
    )


def _cut(label: str) -> str:
    shown = visible(label)
    return shown if len(shown) <= _LONGEST_LABEL else f"{shown[: _LONGEST_LABEL - 1]}…"


def _cut_note(count: int) -> str:
    return f"; the largest {MOST_ROWS} of {count}" if count > MOST_ROWS else ""
