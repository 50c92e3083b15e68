"""What the templates print, as values: every figure is a string of eval.json, at most with its point moved."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from harness.scoring.decimals import format_percent
from harness.scoring.descriptions import DESCRIPTIONS
from harness.site.eval_json import EvalDocument, FloorEntry, MeasureEntry, PreviousEntry
from harness.site.text import visible
from harness.site.words import METHODS, RULES, StatusWords, status_words

_DESCRIBED = {row.name: row for row in DESCRIPTIONS}

MEANS = ("recall_at_k", "mrr")
"""Means of per-item values: printed without k/n, since their sum is no count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One published number with all that stands beside it. `value` None: no data, and nothing else is set.

    `value`, `low` and `high` are percents, or plain ratios where `sign` is empty. `warnings` are those that no other
    figure of the same table shares; `claim` is the part, `claim_text` its JSON.
    """

    name: str
    title: str
    says: str
    unit: str
    good: int | str
    valid: int
    value: str | None
    sign: str
    low: str | None
    high: str | None
    method: str
    floor: str | None
    below: bool
    claim: Mapping[str, Any] | None
    claim_text: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTable:
    """Figures with the warnings that hold for each of them."""

    figures: tuple[Figure, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRow:
    """A count with its name and what the name means."""

    name: str
    says: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorRow:
    figure: Figure
    floor: str
    rule: str
    window: str
    status: str
    words: StatusWords
    shortfall: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A figure's place on a scale 1000 wide, as whole numbers; decoration beside the same figures in words."""

    low: int
    width: int
    point: int
    floor: int | None
    start: str


def figure_table(
    floors: Sequence[FloorEntry], entries: Iterable[MeasureEntry], *, by_stratum: bool = False
) -> FigureTable:
    """The entries as figures of one table. `by_stratum`: titled by stratum."""
    return figure_table_of([figure_of(floors, entry, by_stratum=by_stratum) for entry in entries])


def figure_table_of(figures: Sequence[Figure]) -> FigureTable:
    """The figures with the warnings set apart that each one with a value carries."""
    told = [figure for figure in figures if figure.value is not None]
    shared: tuple[str, ...] = ()
    if len(told) > 1:
        shared = tuple(
            warning for warning in told[0].warnings if all(warning in figure.warnings for figure in told[1:])
        )
    return FigureTable(figures=tuple(_without(figure, shared) for figure in figures), warnings=shared)


def figure_of(floors: Sequence[FloorEntry], entry: MeasureEntry, *, by_stratum: bool = False) -> Figure:
    """An entry of eval.json as a figure, beside the document's floors."""
    described = _DESCRIBED.get(entry.name)
    floor = None if entry.stratum else next((floor for floor in floors if floor.measure == entry.name), None)
    is_share = entry.name != "mrr"
    claim = entry.claim
    interval = entry.interval
    return Figure(
        name=entry.name,
        title=group_of(entry) if by_stratum else title_of(entry.name),
        says="" if described is None or by_stratum else described.says,
        unit="expectation" if described is None else described.unit,
        good=entry.good,
        valid=entry.valid,
        value=percent_shown(entry.value) if is_share else entry.value,
        sign="%" if is_share else "",
        low=None if interval is None else percent_shown(interval.low) if is_share else interval.low,
        high=None if interval is None else percent_shown(interval.high) if is_share else interval.high,
        method="" if interval is None else METHODS.get(interval.method, interval.method),
        floor=None if floor is None else percent_of(floor.floor),
        below=floor is not None and floor.status == "breached",
        claim=claim,
        claim_text="" if claim is None else _json_text(claim),
        warnings=() if claim is None else tuple(visible(text) for text in claim.get("warnings", ())),
    )


def floor_rows(document: EvalDocument, reasons: Sequence[tuple[str, ...]]) -> tuple[FloorRow, ...]:
    """The floors with the figures they are decided from; `reasons` in the same order."""
    rows = []
    for floor, why in zip(document.floors, reasons, strict=True):
        entry = document.measure(floor.measure) or MeasureEntry(
            name=floor.measure, stratum=None, good=0, valid=0, value=None, interval=None, claim=None
        )
        rows.append(
            FloorRow(
                figure=figure_of(document.floors, entry),
                floor=percent_of(floor.floor),
                rule=RULES.get(floor.rule, floor.rule),
                window=floor.window,
                status=floor.status,
                words=status_words(floor.status),
                shortfall=None if floor.shortfall is None else format_percent(floor.shortfall),
                reasons=tuple(visible(reason) for reason in why),
            )
        )
    return tuple(rows)


def title_of(name: str) -> str:
    """What a measure is called on pages."""
    described = _DESCRIBED.get(name)
    title = name.replace("_", " ") if described is None else described.title
    return title[:1].upper() + title[1:]


def group_of(entry: MeasureEntry) -> str:
    """The group that a stratum names: `B31.3` of `standard=B31.3`; empty for the whole."""
    return (entry.stratum or "").partition("=")[2]


def percent_shown(ratio: str | None) -> str | None:
    """A printed ratio as a percent, its point moved; None without a value."""
    return None if ratio is None else format_percent(ratio)


def percent_of(text: str) -> str:
    """A contract's decimal as a percent with the digits it was written with: `0.95` is `95`, `0.9725` is `97.25`."""
    whole, _, decimals = text.partition(".")
    shifted = format_percent(f"{whole}.{decimals.ljust(3, '0')}")
    kept = max(len(decimals) - 2, 0)
    head, _, tail = shifted.partition(".")
    return f"{head}.{tail[:kept]}" if kept else head


def gauge_of(entry: MeasureEntry, floor: str | None) -> Gauge | None:
    """Where value, interval and floor stand on a scale that ends at 1 and starts at a round share below them all."""
    if entry.value is None or entry.interval is None:
        return None
    marks = [Fraction(entry.value), Fraction(entry.interval.low)]
    if floor is not None:
        marks.append(Fraction(floor))
    start = max(Fraction(int(min(marks) * 20) - 1, 20), Fraction(0))

    def place(text: str) -> int:
        return int((Fraction(text) - start) / (1 - start) * 1000)

    low = place(entry.interval.low)
    return Gauge(
        low=low,
        width=max(place(entry.interval.high) - low, 1),
        point=place(entry.value),
        floor=None if floor is None else place(floor),
        start=str(int(start * 100)),
    )


def change_sentence(previous: PreviousEntry) -> str:
    """What changed since the night before, and whether an exact McNemar test tells it from chance."""
    if not previous.compared:
        return "No expectation could be compared: the nights share none."
    chance = "within chance" if Fraction(previous.mcnemar_p) >= Fraction(1, 20) else "more than chance"
    return (
        f"{previous.better} better, {previous.worse} worse of {previous.compared}: {chance} "
        f"(p = {_short_p(previous.mcnemar_p)})"
    )


def _short_p(text: str) -> str:
    """A p value with two decimals; below 0.1, where a decision hangs on it, as it is."""
    value = Fraction(text)
    return text if value < Fraction(1, 10) else f"{float(value):.2f}"


def _json_text(claim: Mapping[str, Any]) -> str:
    """The part as indented JSON; a character that has no picture is escaped, which JSON reads as the same."""
    text = json.dumps(claim, indent=2, ensure_ascii=False)
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1] for character in text
    )


def _without(figure: Figure, shared: tuple[str, ...]) -> Figure:
    return replace(figure, warnings=tuple(text for text in figure.warnings if text not in shared))
