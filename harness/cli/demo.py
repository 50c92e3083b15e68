"""`harness demo`: the whole job on this machine, with nothing to configure."""

import secrets
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import click

from harness.cli.tables import print_night, shown_path
from harness.cli.wire import open_stages, telling_unwritten
from harness.nightly.nightly import run_night
from harness.reference.server import ReferenceSettings, running_gateway
from harness.settings import GatewayTable, LedgerTable, Settings, SiteTable
from harness.store.ledger import Ledger, Query

Load = Callable[[], Settings]


@click.command()
@click.option("--serve", is_flag=True, help="Leave the reference gateway up afterwards, until Ctrl-C.")
@click.option("--faults", default="demo", show_default=True, metavar="PROFILE", help="The gateway's fault profile.")
@click.pass_obj
def demo(load: Load, /, serve: bool, faults: str) -> int:
    """Run a whole night on this machine: reference gateway, all societies, scores, floors, pages.

    Everything it writes is below REPORTS/demo. The gateway misbehaves on purpose, so that one society falls below its
    floor: a breach is a result, the exit code is 0. Run again the same night, it asks nothing and prints the same.
    """
    settings = _demo_settings(load())
    key = secrets.token_urlsafe(16)
    reference = ReferenceSettings(testsets=settings.testsets, port=0, keys={key: None}, faults=faults)
    with running_gateway(reference) as url:
        settings = replace(settings, gateway=GatewayTable(url=url), gateway_key=key)
        stages = open_stages(settings, demo=True, must_ask=True)
        night = stages.place.window.current_night(stages.place.clock.now())
        with telling_unwritten(stages):
            report = run_night(stages, night)
            print_night(report)
        _print_where_to_look(settings, stages.emitter.ledger, stages.internal.root / report.night)
        if serve:
            click.echo(f"\nThe reference gateway stays up at {url} with the key {key}; Ctrl-C ends it.")
            click.pause("")
    return report.exit_code()


def _demo_settings(settings: Settings) -> Settings:
    """The demo's own place, whatever else is configured: nothing of it touches a real deployment."""
    reports = settings.reports / "demo"
    return replace(
        settings,
        reports=reports,
        store=None,
        database=None,
        ledger=LedgerTable(source="urn:citehouse:demo"),
        site=SiteTable(deployment="demo", contact=settings.site.contact),
    )


def _print_where_to_look(settings: Settings, ledger: Ledger, internal: Path) -> None:
    standing = [stand.settlement for stand in ledger.settlements(Query())]
    flagged = [each for each in standing if Fraction(each.target_percent) > 0]
    click.echo("")
    for each in flagged:
        click.echo(f"Flag in the ledger: {each.subject}: {each.target_percent} % credit, {each.state}")
    page = settings.reports / "site" / "standards" / "index.html"
    click.echo(f"Pages:    {shown_path(page)}")
    click.echo(f"Internal: {shown_path(internal)} (held-out text; for this machine only)")
    command = f"{shown_path(Path(sys.argv[0]))} --reports {shown_path(settings.reports)}"
    click.echo(f"Ledger:   {command} flags list --all")
    click.echo(f"One item: {command} status, then: {command} show RUN ITEM")
