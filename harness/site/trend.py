"""A measure's nights as a chart and as the table that the chart is drawn from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby, pairwise
from typing import Final

from harness.site.history import HistoryEntry, HistoryMeasure
from harness.site.plot import Scale, Tick, coordinate, scale_of
from harness.site.text import visible
from harness.site.views import percent_of, percent_shown, title_of
from harness.site.words import CHANGES, StatusWords, day_text, status_words

MOST_NIGHTS: Final = 90
"""Dates that a trend looks back."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 620.0, 44.0, 232.0
_MOST_DATES: Final = 4
_SHAPES: Final = {"breached": "triangle", "insufficient_data": "ring"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRow:
    """A date of the table: what was measured, or that nothing was. `href` is below the society's folder."""

    night: str
    href: str | None
    revision: int | None
    words: StatusWords | None
    status: str
    counted: str
    value: str | None
    low: str | None
    high: str | None
    floor: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Nights in a row that compare: the path of their line, and of the band of their intervals."""

    line: str
    band: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: str
    y: str
    shape: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that changed on a night: a letter above a line."""

    x: str
    letters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    x: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One measure over its nights, oldest first in the drawing, latest first in `rows`."""

    name: str
    title: str
    says: str
    rows: tuple[TrendRow, ...]
    stretches: tuple[Stretch, ...]
    floors: tuple[str, ...]
    points: tuple[Point, ...]
    marks: tuple[Mark, ...]
    gaps: tuple[Gap, ...]
    shares: tuple[Tick, ...]
    dates: tuple[Tick, ...]

    @property
    def file(self) -> str:
        return f"chart-trend-{self.name.replace('_', '-')}.svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Night:
    """A night with the measure, its place on the axis, and what changed since the night measured before it."""

    entry: HistoryEntry
    measure: HistoryMeasure
    day: date
    x: str
    changes: tuple[str, ...]

    @property
    def breaks(self) -> bool:
        """Whether nights before do not compare with it."""
        return bool({"testset", "scorer"} & set(self.changes))


def trend_of(name: str, nights: Sequence[HistoryEntry], first: date | None = None) -> Trend | None:
    """The trend of a measure over the last dates up to the last of these nights, oldest first; None without a value.

    `first`: the date that it starts at, where it is not `MOST_NIGHTS` before the last.
    """
    known = [(entry, measure) for entry in nights if (measure := entry.measure(name)) is not None]
    if not any(measure.value is not None for _, measure in known):
        return None
    last = date.fromisoformat(nights[-1].night)
    start = max(date.fromisoformat(nights[0].night), first or last - timedelta(days=MOST_NIGHTS - 1))
    told = _placed(known, start, last)
    scale = scale_of(
        (share for each in told for share in (each.measure.value, each.measure.low, each.measure.floor)), _BOTTOM, _TOP
    )
    stretches = list(_stretches(told))
    return Trend(
        name=name,
        title=title_of(name),
        says=_says(name, told, start, last),
        rows=tuple(_rows(told, start, last)),
        stretches=tuple(_stretch(scale, stretch) for stretch in stretches),
        floors=tuple(_floor_lines(scale, told)),
        points=tuple(
            Point(x=each.x, y=scale.at(each.measure.value), shape=_SHAPES.get(each.measure.floor_status or "", "disc"))
            for each in told
            if each.measure.value is not None
        ),
        marks=tuple(Mark(x=each.x, letters=_letters(each.changes)) for each in told if each.changes),
        gaps=tuple(_gaps(told, start, last)),
        shares=scale.ticks(),
        dates=tuple(_dates(start, last)),
    )


def _placed(known: Sequence[tuple[HistoryEntry, HistoryMeasure]], start: date, last: date) -> list[_Night]:
    placed: list[_Night] = []
    before: HistoryEntry | None = None
    for entry, measure in known:
        day = date.fromisoformat(entry.night)
        if day >= start:
            x = coordinate(_place(day, start, last))
            placed.append(_Night(entry=entry, measure=measure, day=day, x=x, changes=_changed(before, entry)))
        before = entry
    return placed


def _place(day: date, start: date, last: date) -> float:
    span = (last - start).days
    return _RIGHT if span == 0 else _LEFT + (day - start).days / span * (_RIGHT - _LEFT)


def _changed(before: HistoryEntry | None, entry: HistoryEntry) -> tuple[str, ...]:
    """What is otherwise than on the night measured before, by the names of CHANGES."""
    if before is None:
        return ()
    compared = {
        "testset": (before.testset_sha256, entry.testset_sha256),
        "scorer": (before.scorer_version, entry.scorer_version),
        "terms": (before.terms_version, entry.terms_version),
    }
    return tuple(name for name, (old, new) in compared.items() if old != new)


def _stretches(told: Sequence[_Night]) -> Iterable[list[_Night]]:
    """Nights in a row with a value and without a change that they do not compare across."""
    stretch: list[_Night] = []
    for each in told:
        if each.measure.value is None:
            continue
        if stretch and (each.breaks or (each.day - stretch[-1].day).days != 1):
            yield stretch
            stretch = []
        stretch.append(each)
    if stretch:
        yield stretch


def _stretch(scale: Scale, stretch: Sequence[_Night]) -> Stretch:
    line = [(each.x, scale.at(each.measure.value or "0")) for each in stretch]
    held = [each for each in stretch if each.measure.low is not None and each.measure.high is not None]
    low = [(each.x, scale.at(each.measure.low or "0")) for each in held]
    high = [(each.x, scale.at(each.measure.high or "0")) for each in held]
    return Stretch(line=_path(line), band=_path([*low, *reversed(high)]))


def _floor_lines(scale: Scale, told: Sequence[_Night]) -> Iterable[str]:
    """One line for each floor that held in a row of nights; a single night's is a short one."""
    for floor, group in groupby(told, key=lambda each: each.measure.floor):
        held = list(group)
        if floor is not None:
            y = scale.at(floor)
            ends = [held[0].x, held[-1].x]
            if ends[0] == ends[1]:
                ends = [coordinate(float(ends[0]) - 8), coordinate(float(ends[0]) + 8)]
            yield _path([(end, y) for end in ends])


def _gaps(told: Sequence[_Night], start: date, last: date) -> Iterable[Gap]:
    """Where dates in a row have no value."""
    valued = [each.day for each in told if each.measure.value is not None]
    for before, after in pairwise([start - timedelta(days=1), *valued, last + timedelta(days=1)]):
        if (after - before).days > 1:
            left = max(_place(before, start, last), _LEFT)
            right = min(_place(after, start, last), _RIGHT)
            yield Gap(x=coordinate(left), width=coordinate(right - left))


def _dates(start: date, last: date) -> Iterable[Tick]:
    span = (last - start).days
    count = min(_MOST_DATES, span + 1)
    for number in range(count):
        day = start + timedelta(days=span * number // max(count - 1, 1)) if span else last
        yield Tick(
            at=coordinate(_place(day, start, last)), label=f"{day.day} {day_text(day.isoformat()).split()[1][:3]}"
        )


def _rows(told: Sequence[_Night], start: date, last: date) -> Iterable[TrendRow]:
    """Every date, latest first."""
    by_day = {each.day: each for each in told}
    for back in range((last - start).days + 1):
        day = last - timedelta(days=back)
        yield _measured(by_day[day]) if day in by_day else _missed(day)


def _measured(each: _Night) -> TrendRow:
    measure = each.measure
    status = measure.floor_status or "no_floor"
    return TrendRow(
        night=each.entry.night,
        href=f"{each.entry.night}/index.html",
        revision=each.entry.revision,
        words=status_words(status),
        status=status,
        counted=f"{measure.good}/{measure.valid}",
        value=percent_shown(measure.value),
        low=percent_shown(measure.low),
        high=percent_shown(measure.high),
        floor=None if measure.floor is None else percent_of(measure.floor),
        notes=tuple(_note(each, change) for change in each.changes),
    )


def _missed(day: date) -> TrendRow:
    return TrendRow(
        night=day.isoformat(),
        href=None,
        revision=None,
        words=None,
        status="",
        counted="",
        value=None,
        low=None,
        high=None,
        floor=None,
        notes=("no night was published",),
    )


def _note(each: _Night, change: str) -> str:
    letter, says = CHANGES[change]
    if change == "testset":
        return f"{letter}: {says}, version {visible(each.entry.testset_version)}"
    version = each.entry.scorer_version if change == "scorer" else each.entry.terms_version
    return f"{letter}: {says}" + ("" if version is None else f", version {version}")


def _letters(changes: Sequence[str]) -> str:
    return " ".join(CHANGES[change][0] for change in changes)


def _says(name: str, told: Sequence[_Night], start: date, last: date) -> str:
    """The chart in words, with figures of its own table."""
    dates = (last - start).days + 1
    valued = [each.measure for each in told if each.measure.value is not None]
    lowest = min(valued, key=lambda measure: measure.value or "")
    sentence = (
        f"{title_of(name)} from {day_text(start.isoformat())} to {day_text(last.isoformat())}: "
        f"{len(valued)} of {dates} nights have a value, the lowest {percent_shown(lowest.value)} %, "
        f"the last {percent_shown(valued[-1].value)} %."
    )
    below = sum(measure.floor_status == "breached" for measure in valued)
    return f"{sentence} Below the floor on {below} of them." if valued[-1].floor is not None else sentence


def _path(points: Sequence[tuple[str, str]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points) if points else ""
