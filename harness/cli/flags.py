"""`harness flags`: the settlement ledger, read and checked."""

import json
from collections.abc import Callable
from fractions import Fraction

import click

from harness.cli.tables import print_table
from harness.cli.wire import open_database
from harness.errors import HarnessError, StoreError, UsageError
from harness.settings import Settings
from harness.sla.ledger import find_broken_link
from harness.sla.model import Settlement
from harness.sla.settlement import settlement_after
from harness.store.ledger import count_events, iter_events

Load = Callable[[], Settings]


class ChainBroken(HarnessError):
    """The ledger is not what was written."""

    exit_code = 6


class CannotVerify(HarnessError):
    """The ledger could not be read: that is not the same as whole."""

    exit_code = 7


@click.group()
def flags() -> None:
    """Read and check the ledger of settlements. A flag is a settlement whose target credit is above zero."""


@flags.command("list")
@click.option("--all", "everything", is_flag=True, help="Also settlements without a credit.")
@click.option("--society", metavar="SLUG", help="Only this society.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def list_flags(load: Load, /, everything: bool, society: str | None, form: str) -> int:
    """List flags as they stand now; with --all every settlement."""
    latest: dict[str, Settlement] = {}
    for event in iter_events(open_database(load())):
        try:
            latest[event.subject] = settlement_after(event)
        except (ValueError, TypeError, KeyError):
            raise ChainBroken(
                f"ledger: event {event.seq} ({event.subject}) is no event; see: harness flags verify"
            ) from None
    chosen = [
        each
        for _, each in sorted(latest.items())
        if (everything or Fraction(each.target_percent) > 0) and society in (None, each.data["society"]["slug"])
    ]
    if form == "json":
        click.echo(json.dumps([dict(each.data) for each in chosen], indent=2, ensure_ascii=False))
        return 0
    print_table(
        "Settlements" if everything else "Flags",
        ("subject", "state", "status", "measured", "floor", "target %", "billable %", "revision"),
        [
            (
                each.subject,
                each.state,
                each.status,
                f"{each.data['measured']['good']}/{each.data['measured']['valid']}",
                each.data["objective"]["floor"],
                each.target_percent,
                each.billable_percent,
                str(each.revision),
            )
            for each in chosen
        ],
    )
    return 0


@flags.command()
@click.argument("subject")
@click.pass_obj
def show(load: Load, /, subject: str) -> int:
    """Print every event of one SUBJECT, oldest first, as they are served: one CloudEvent a line."""
    bodies = [event.body for event in iter_events(open_database(load()), subject=subject)]
    if not bodies:
        raise UsageError(f"settlement {subject[:200]!r}: not in this ledger; `harness flags list --all` lists them")
    for body in bodies:
        click.echo(body)
    return 0


@flags.command()
@click.pass_obj
def verify(load: Load, /) -> int:
    """Walk the ledger and name the first event that is not what was written.

    Exits with 6 where one is not, with 7 where the ledger could not be read.
    """
    settings = load()
    try:
        engine = open_database(settings)
        broken = find_broken_link(iter_events(engine))
        count = count_events(engine)
    except (StoreError, UsageError) as error:
        raise CannotVerify(str(error)) from None
    if broken:
        raise ChainBroken(f"ledger: event {broken.seq} ({broken.subject}): {broken.says}")
    click.echo(f"{count} events, the chain is whole")
    return 0
