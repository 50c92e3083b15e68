"""`harness testset`: check and describe societies' folders."""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path

import click

from harness.cli.tables import print_table
from harness.clock import SystemClock
from harness.errors import InvalidInput
from harness.nightly.night import parse_night
from harness.scoring.decimals import format_ratio
from harness.scoring.intervals import wilson
from harness.settings import Settings
from harness.sla.terms import false_flag_chance, unreachable_tiers
from harness.testset.lint import lint as lint_folders
from harness.testset.model import Society
from harness.testset.society import load_societies
from harness.testset.stats import SocietyStats
from harness.testset.stats import stats as society_stats

Load = Callable[[], Settings]

TRUE_RATES = ("0.90", "0.95", "0.97", "0.98", "0.99")
"""Plausible true rates that lint prints the chance of a flag for."""


@click.group()
def testset() -> None:
    """Check and describe societies' folders."""


@testset.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.pass_obj
def lint(load: Load, /, folder: Path | None) -> int:
    """Name every error of every file of FOLDER, a society's or one of societies.  [default: --testsets]

    Prints for each floor the chance that a night flags it at plausible true rates. Exits with 2 on errors.
    """
    found = lint_folders(folder or load().testsets)
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    if found.problems:
        raise InvalidInput(found.problems)
    night = SystemClock().now().date()
    rows, notes = list[tuple[str, ...]](), list[str]()
    for society in found.societies:
        floors, unreachable = _floor_lines(society, night)
        rows += floors
        notes += unreachable
    if rows:
        titles = [f"flagged at\n{rate}" for rate in TRUE_RATES]
        print_table(
            "Chance of a flag on a night as planned today, by the true rate",
            ("society", "measure", "floor", "rule", "n", *titles),
            rows,
        )
    for note in notes:
        click.echo(f"warning: {note}", err=True)
    click.echo(f"{len(found.societies)} societies, no errors")
    return 0


@testset.command()
@click.option("--night", metavar="DATE", help="Count the items active on that night.  [default: today]")
@click.option("--society", "societies", multiple=True, metavar="SLUG", help="Only this society; may be repeated.")
@click.pass_obj
def stats(load: Load, /, night: str | None, societies: tuple[str, ...]) -> int:
    """Count items and expectations by standard, kind, cluster and weight, and say how wide the interval will be."""
    loaded, invalid = load_societies(load().testsets, societies or None)
    if invalid:
        raise InvalidInput(problem for error in invalid.values() for problem in error.problems)
    wanted = SystemClock().now().date() if night is None else parse_night(night)
    for society in loaded:
        _print_stats(society, society_stats(society, wanted))
    return 0


def _floor_lines(society: Society, night: date) -> tuple[list[tuple[str, ...]], list[str]]:
    terms = society.terms_on(night)
    n = sum(len(item.expectations) for item in society.items if item.counts_on(night))
    if terms is None or not n:
        return [], []
    rows = [
        (
            society.slug,
            floor.measure,
            floor.floor,
            floor.rule,
            str(n),
            *(format_ratio(false_flag_chance(floor, n, Fraction(rate))) for rate in TRUE_RATES),
        )
        for floor in terms.floors
    ]
    notes = [
        f"{society.slug}: the tier [{tier.at_least}, {tier.below}) of {floor.measure} cannot be reached with {n}"
        for floor in terms.floors
        for tier in unreachable_tiers(floor, n)
    ]
    return rows, notes


def _print_stats(society: Society, counted: SocietyStats) -> None:
    terms = society.terms_on(counted.night)
    click.echo(
        f"{society.slug}: test set {counted.testset_version}, night {counted.night}: {counted.items} active of "
        f"{counted.all_items} items, {counted.expectations} expectations, {counted.clusters} clusters, "
        f"{counted.cross_edition_items} cross-edition items"
    )
    for floor in () if terms is None else terms.floors:
        if counted.expectations:
            low, high = wilson(float(floor.value), counted.expectations)
            click.echo(
                f"  at the floor {floor.floor} of {floor.measure} a 95 % interval without clusters reaches "
                f"from {low:.4f} to {high:.4f}"
            )
    groups = (
        ("standard", counted.by_standard),
        ("kind", counted.by_kind),
        ("cluster", counted.by_cluster),
        ("weight", counted.by_weight),
    )
    print_table(
        society.name,
        ("by", "value", "items", "expectations"),
        [(by, each.name, str(each.items), str(each.expectations)) for by, group in groups for each in group],
    )
