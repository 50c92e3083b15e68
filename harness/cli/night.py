"""`harness nightly` and its stages one by one."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from typing import Any

import click

from harness.cli.tables import print_left_out, print_night
from harness.cli.wire import open_stages
from harness.nightly.night import parse_night
from harness.nightly.nightly import NightReport, Stage, Stages, collect_night, finish_night, run_night
from harness.settings import Settings
from harness.store.lease import Lease, hold_night

Command = Callable[..., Any]


def _night_option(command: Command) -> Command:
    text = "UTC date of the night.  [default: the night open now]"
    return click.option("--night", metavar="DATE", help=text)(command)


def _society_option(command: Command) -> Command:
    return click.option(
        "--society", "societies", multiple=True, metavar="SLUG", help="Only this society; may be repeated."
    )(command)


def _asking_options(command: Command) -> Command:
    options = (
        click.option("--gateway", metavar="URL", help="Base URL of the gateway, the part before /api/v1."),
        click.option(
            "--concurrency", type=click.IntRange(1, 4096), metavar="N", help="Calls in flight at most.  [default: 64]"
        ),
        click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="N", help="Calls a second at most."),
        click.option(
            "--max-calls", type=click.IntRange(0), metavar="N", help="Calls of the run at most, retries included."
        ),
        click.option(
            "--max-tokens", type=click.IntRange(0), metavar="N", help="Tokens that answers may return at most."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def with_asking(settings: Settings, gateway: str | None, **asking: Any) -> Settings:
    """The settings with what the command line says of asking."""
    given = {name: value for name, value in asking.items() if value is not None}
    settings = replace(settings, asking=replace(settings.asking, **given))
    return settings if gateway is None else replace(settings, gateway=replace(settings.gateway, url=gateway))


def night_of(stages: Stages, text: str | None) -> date:
    """The night that is asked for, or the one whose window is open now."""
    if text is not None:
        return parse_night(text)
    return stages.place.window.current_night(stages.place.clock.now())


@click.command()
@_night_option
@_society_option
@_asking_options
@click.option("--fail-on-breach", is_flag=True, help="Exit with 3 when a society is below a floor.")
@click.pass_obj
def nightly(
    load: Callable[[], Settings], /, night: str | None, societies: tuple[str, ...], fail_on_breach: bool, **asking: Any
) -> int:
    """Run the night: collect, score, assess, publish, emit.

    Started again, it goes on where it stopped and asks nothing that is answered; a finished night asks nothing and
    returns its code. The gateway's key comes from HARNESS_GATEWAY_KEY or the file named by HARNESS_GATEWAY_KEY_FILE.
    """
    stages = open_stages(with_asking(load(), **asking), must_ask=True)
    report = run_night(stages, night_of(stages, night), societies or None)
    print_night(report)
    return report.exit_code(fail_on_breach=fail_on_breach)


@click.command()
@_night_option
@_society_option
@_asking_options
@click.pass_obj
def collect(load: Callable[[], Settings], /, night: str | None, societies: tuple[str, ...], **asking: Any) -> int:
    """Ask what the night still lacks and store the answers."""
    stages = open_stages(with_asking(load(), **asking), must_ask=True)
    wanted = night_of(stages, night)
    with _held(stages, wanted) as lease:
        report = collect_night(stages, wanted, societies or None, lease)
    print_left_out(report)
    if not report.unfinished:
        click.echo(f"night {report.night}: every answer is stored; next: harness score --night {report.night}")
    return report.exit_code()


@click.command()
@_night_option
@click.pass_obj
def score(load: Callable[[], Settings], /, night: str | None) -> int:
    """Score a night's stored answers."""
    stages = open_stages(load())
    wanted = night_of(stages, night)
    with _held(stages, wanted):
        finish_night(stages, wanted, "score")
    click.echo(f"night {wanted}: scored; next: harness assess --night {wanted}")
    return 0


@click.command()
@_night_option
@click.pass_obj
def assess(load: Callable[[], Settings], /, night: str | None) -> int:
    """Assess a night's numbers against the floors in force (scoring it first where that is not done)."""
    return _finish(load(), night, "assess")


@click.command()
@_night_option
@click.pass_obj
def publish(load: Callable[[], Settings], /, night: str | None) -> int:
    """Publish a night's pages and tables (after the stages before, where they are not done)."""
    return _finish(load(), night, "publish")


@click.command()
@_night_option
@click.pass_obj
def emit(load: Callable[[], Settings], /, night: str | None) -> int:
    """Write a night's settlement events to the ledger (after the stages before, where they are not done)."""
    return _finish(load(), night, "emit")


def _held(stages: Stages, night: date) -> AbstractContextManager[Lease]:
    """The night's lock: no stage of it runs beside another."""
    place = stages.place
    return hold_night(place.engine, place.locks, night.isoformat(), place.clock)


def _finish(settings: Settings, night: str | None, stage: Stage) -> int:
    stages = open_stages(settings)
    wanted = night_of(stages, night)
    with _held(stages, wanted):
        report = NightReport(night=wanted.isoformat(), results=finish_night(stages, wanted, stage))
    print_night(report)
    return report.exit_code()
