"""`harness nightly` and its stages one by one."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import click

from harness.cli.tables import print_left_out, print_night, print_where_internal
from harness.cli.wire import open_stages, telling_unwritten
from harness.errors import UsageError
from harness.nightly.closing import close_through
from harness.nightly.emit import close_clocks
from harness.nightly.finish import Stage, finish_night
from harness.nightly.night import parse_night
from harness.nightly.nightly import NightReport, collect_night, run_night
from harness.nightly.rescore import RESCORE_REASONS, rescore
from harness.nightly.stages import Stages
from harness.nightly.supersede import SUPERSEDE_REASONS
from harness.settings import Settings
from harness.sla.evaluation import ReasonCode
from harness.sla.windows import night_window
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
@click.option("--supersede", is_flag=True, help="Ask again, in a new run, what is insufficient_data.")
@click.option("--reason", type=click.Choice(SUPERSEDE_REASONS), help="Why, with --supersede.")
@click.pass_obj
def nightly(
    load: Callable[[], Settings],
    /,
    night: str | None,
    societies: tuple[str, ...],
    fail_on_breach: bool,
    supersede: bool,
    reason: ReasonCode | None,
    **asking: Any,
) -> int:
    """Run the night: collect, score, assess, publish, emit.

    Started again, it goes on where it stopped and asks nothing that is answered; a finished night asks nothing and
    returns its code. The gateway's key comes from HARNESS_GATEWAY_KEY or the file named by HARNESS_GATEWAY_KEY_FILE.

    First it settles what earlier nights left: unfinished nights are completed, nights that nobody ran are recorded as
    not_run, months that are over are pooled. With --supersede --reason CODE the societies whose official run is
    insufficient_data are asked again in a new run, which becomes the official one; both stay visible.
    """
    if supersede != (reason is not None):
        raise UsageError("--supersede and --reason belong together: give both or neither")
    stages = open_stages(with_asking(load(), **asking), must_ask=True)
    with telling_unwritten(stages):
        report = run_night(stages, night_of(stages, night), societies or None, reason)
        print_night(report)
        print_where_internal(stages.internal.root / report.night)
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
@click.option("--through", metavar="DATE", help="Settle everything up to and including this night, which is over.")
@click.pass_obj
def assess(load: Callable[[], Settings], /, night: str | None, through: str | None) -> int:
    """Assess a night's numbers against the floors in force (scoring it first where that is not done).

    With --through, as the next nightly would: complete unfinished nights, record nights that nobody ran as not_run,
    pool months that are over, and write their settlement events.
    """
    if through is None:
        return _finish(load(), night, "assess")
    if night is not None:
        raise UsageError("--night and --through exclude each other")
    return _close_through(open_stages(load()), parse_night(through))


def _close_through(stages: Stages, last: date) -> int:
    """Settle everything through that night, which must be over."""
    if stages.place.clock.now() < night_window(last).end:
        raise UsageError(f"night {last}: is not over; --through takes a night that has passed")
    ledger = stages.emitter.ledger
    before = ledger.count()
    close_clocks(stages.emitter)
    with telling_unwritten(stages):
        failures = close_through(stages, before=last + timedelta(days=1))
        written = ledger.count() - before
        click.echo(f"settled through {last}: {written} settlement event{'' if written == 1 else 's'} written")
        if failures:
            raise failures[0]
    return 0


@click.command("rescore")
@click.option("--night", required=True, metavar="DATE", help="UTC date of the night.")
@_society_option
@click.option("--reason", required=True, type=click.Choice(RESCORE_REASONS), help="What is mended.")
@click.pass_obj
def rescore_command(load: Callable[[], Settings], /, night: str, societies: tuple[str, ...], reason: ReasonCode) -> int:
    """Score a night's stored answers again as a new revision, and settle what that changes.

    Items and terms stay that night's; no gateway is asked. With gold_corrected the gold is taken from the folders as
    they are now, for every night of the windows that the night counts in; with the other reasons only the code differs.
    Earlier revisions stay as they were. A final target is never lowered.
    """
    stages = open_stages(load())
    with telling_unwritten(stages):
        for result in rescore(stages, parse_night(night), reason, societies or None):
            click.echo(f"{result.slug} {result.night}: revision {result.revision}, {result.status}")
    return 0


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
    with telling_unwritten(stages):
        with _held(stages, wanted):
            report = NightReport(night=wanted.isoformat(), results=finish_night(stages, wanted, stage))
        print_night(report)
        print_where_internal(stages.internal.root / report.night)
    return report.exit_code()
