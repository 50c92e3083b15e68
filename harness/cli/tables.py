"""Tables for the terminal and for CI summaries: one set of rows, several prints of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.nightly.nightly import NightReport
from harness.scoring.decimals import format_bound, format_percent, format_ratio, places_for
from harness.scoring.model import Measure
from harness.site.model import EvalResult
from harness.sla.model import Assessment, Status

SHOWN = (
    ("citation", "citation_correctness"),
    ("string", "string_correctness"),
    ("fields", "field_correctness"),
)

WIDTH = 140
"""Columns of a table that goes to a file or a pipe."""

STATUS_WORDS = {
    Status.MET: "met",
    Status.BREACHED: "below floor",
    Status.INSUFFICIENT_DATA: "insufficient data",
    Status.NOT_RUN: "not run",
    Status.NO_FLOOR: "no floor",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRow:
    """One society's line: texts as they are printed."""

    society: str
    n: str
    figures: tuple[str, ...]
    floor: str
    status: str
    warnings: tuple[str, ...]


def night_rows(report: NightReport) -> list[NightRow]:
    """The report's lines: measured societies first, then what was left out and why."""
    rows = [_row(result) for result in report.results]
    rows += [
        NightRow(society=slug, n="0", figures=("",) * 3, floor="", status="insufficient data", warnings=(reason,))
        for slug, reason in report.unfinished.items()
    ]
    rows += [
        NightRow(
            society=slug,
            n="0",
            figures=("",) * 3,
            floor="",
            status="left out",
            warnings=(f"invalid folder: {len(error.problems)} problem(s), see below",),
        )
        for slug, error in report.invalid.items()
    ]
    return rows


def print_night(report: NightReport) -> None:
    """Print the night's table on stdout, then each warning and each problem in full."""
    rows = night_rows(report)
    print_table(
        f"Night {report.night}",
        ("society", "n", *(f"{title}\n[95 % interval]" for title, _ in SHOWN), "floor", "status"),
        [(row.society, row.n, *row.figures, row.floor, row.status) for row in rows],
    )
    for row in rows:
        for warning in row.warnings:
            click.echo(f"  ! {row.society}: {warning}")
    print_left_out(report)


def print_left_out(report: NightReport) -> None:
    """Every problem of the folders that were left out, on stderr."""
    for slug, error in report.invalid.items():
        click.echo(f"{slug} was left out, nothing was sent for it:\n{error}", err=True)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout: as wide as the terminal, or as its content where there is none."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # never read as markup
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    console.print(table)


def print_where_internal(folder: Path) -> None:
    """Say where a night's internal reports are, if any were written."""
    if folder.is_dir():
        click.echo(f"Internal reports: {shown_path(folder)}")


def shown_path(path: Path) -> str:
    """The path from the current folder where it is below it: a line that can be copied."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def figure(measure: Measure | None, places: int = 6, between: str = " ") -> str:
    """`58/60 96.6666 % [88.6412, 99.0802]`: k/n, the percent that is never rounded across a floor, the interval."""
    if measure is None:
        return "not published"
    if measure.value is None:
        return "no data"
    percent = format_percent(format_ratio(measure.value, places))
    good = Fraction(measure.good)
    text = f"{good.numerator}/{measure.valid} {percent} %" if good.denominator == 1 else f"{percent} %"
    interval = figure_interval(measure, places)
    return f"{text}{between}[{interval}]" if interval else text


def figure_interval(measure: Measure, places: int = 6) -> str:
    """The interval's bounds in percent, rounded outward; empty where there is none."""
    if measure.interval is None:
        return ""
    low = format_percent(format_bound(measure.interval.low, direction="down", places=places))
    high = format_percent(format_bound(measure.interval.high, direction="up", places=places))
    return f"{low}, {high}"


def _reasons(assessment: Assessment) -> tuple[str, ...]:
    """Why the status is what it is; a breach says its counts."""
    if assessment.status is not Status.BREACHED:
        return assessment.reasons
    counted, floor = assessment.counted, assessment.floor
    return (f"{floor.measure} {counted.good}/{counted.valid} is below the floor {floor.floor}", *assessment.reasons)


def _row(result: EvalResult) -> NightRow:
    measures = {measure.name: measure for measure in result.measures if measure.stratum is None}
    floors = {assessment.floor.measure: assessment.floor for assessment in result.assessments}
    shown = []
    for _, name in SHOWN:
        floor = floors.get(name)
        shown.append(figure(measures.get(name), places_for(floor.floor) if floor else 6, between="\n"))
    headline = measures["citation_correctness"]
    reasons = [reason for assessment in result.assessments for reason in _reasons(assessment)]
    if result.gateway_faults:
        faults = ", ".join(f"{name} {count}" for name, count in result.gateway_faults.items())
        reasons.append(f"items without a usable answer: {faults}")
    return NightRow(
        society=result.society,
        n=str(headline.valid),
        figures=tuple(shown),
        floor="\n".join(
            floor.floor if name == "citation_correctness" else f"{floor.floor} {name}" for name, floor in floors.items()
        ),
        status=STATUS_WORDS[result.status],
        warnings=tuple(dict.fromkeys((*reasons, *headline.warnings, *result.warnings))),
    )
