"""`harness status`, `show`, `report` and `compare`: reading what is stored, changing nothing."""

import json
from collections.abc import Callable
from typing import Any

import click

from harness.cli.shown import item_lines
from harness.cli.tables import print_table, print_where_internal
from harness.cli.wire import open_stages
from harness.nightly.inspect import compare as compare_nights
from harness.nightly.inspect import coverage, inspect_item, results_of_run
from harness.nightly.night import parse_night
from harness.scoring.decimals import format_ratio
from harness.settings import Settings

Load = Callable[[], Settings]


@click.command()
@click.option("--night", metavar="DATE", help="Only this night.  [default: all]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def status(load: Load, /, night: str | None, form: str) -> int:
    """List nights, runs and what is missing of each."""
    stages = open_stages(load())
    rows = coverage(stages.place.engine, None if night is None else parse_night(night).isoformat())
    if form == "json":
        click.echo(json.dumps([_coverage_json(row) for row in rows], indent=2, ensure_ascii=False))
        return 0
    print_table(
        "Runs",
        ("night", "run", "state", "society", "planned", "answered", "usable", "calls", "asked again", "status"),
        [
            (
                row.run.night,
                row.run.run_id,
                row.run.state if row.run.stopped is None else f"{row.run.state} ({row.run.stopped})",
                row.part.slug,
                str(row.part.items),
                str(row.answered),
                str(row.usable),
                str(row.run.calls_sent),
                str(row.run.asked_again),
                row.status or ("scored" if row.revision else "not scored"),
            )
            for row in rows
        ],
    )
    return 0


@click.command()
@click.argument("run")
@click.argument("item")
@click.option("--society", metavar="SLUG", help="Where two societies have an item of that id.")
@click.pass_obj
def show(load: Load, /, run: str, item: str, society: str | None) -> int:
    """Show one ITEM of a RUN: query, gold, passages, checks, diagnosis, calls.

    Prints held-out text: for your terminal, not for a log.
    """
    for line in item_lines(inspect_item(open_stages(load()), run, item, society)):
        click.echo(line)
    return 0


@click.command()
@click.argument("run")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "junit", "markdown"]), default="table", show_default=True
)
@click.pass_obj
def report(load: Load, /, run: str, form: str) -> int:
    """Print a complete RUN's numbers, for people or for CI."""
    from harness.cli.reports import REPORT_FORMATS  # pandas takes its time to import, and only this command needs it

    stages = open_stages(load())
    results = results_of_run(stages, run)
    click.echo(REPORT_FORMATS[form](run, results), nl=False)
    if form == "table" and results:
        print_where_internal(stages.internal.root / results[0].night)
    return 0


@click.command()
@click.argument("before", metavar="NIGHT")
@click.argument("after", metavar="NIGHT")
@click.option("--society", "societies", multiple=True, metavar="SLUG", help="Only this society; may be repeated.")
@click.option("--force", is_flag=True, help="Compare although test set or scorer changed.")
@click.pass_obj
def compare(load: Load, /, before: str, after: str, societies: tuple[str, ...], force: bool) -> int:
    """Compare two NIGHTs on the same items: what flipped, and whether it is within chance (exact McNemar)."""
    nights = (parse_night(before).isoformat(), parse_night(after).isoformat())
    compared = compare_nights(open_stages(load()), nights, societies, force=force)
    print_table(
        f"{nights[0]} against {nights[1]}",
        ("society", "compared", "better", "worse", "p (exact McNemar)", "only before", "only after", "not measured"),
        [
            (
                slug,
                str(each.compared),
                str(len(each.better)),
                str(len(each.worse)),
                format_ratio(each.p),
                str(len(each.only_before)),
                str(len(each.only_after)),
                str(each.unmeasured),
            )
            for slug, each in compared.items()
        ],
    )
    for slug, each in compared.items():
        for warning in each.warnings:
            click.echo(f"  ! {slug}: {warning}")
        flips = [("better", each.better), ("worse", each.worse)]
        flips += [("only before", each.only_before), ("only after", each.only_after)]
        for word, keys in flips:
            for item, expectation in keys:
                click.echo(f"  {slug} {word}: {item} expectation {expectation}")
    return 0


def _coverage_json(row: Any) -> dict[str, Any]:
    return {
        "night": row.run.night,
        "run": row.run.run_id,
        "state": row.run.state,
        "stopped": row.run.stopped,
        "society": row.part.slug,
        "planned": row.part.items,
        "answered": row.answered,
        "usable": row.usable,
        "calls_sent": row.run.calls_sent,
        "asked_again": row.run.asked_again,
        "revision": row.revision,
        "status": row.status or None,
    }
