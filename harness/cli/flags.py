"""`harness flags`: the settlement ledger, read, checked and decided on."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import click

from harness.cli.acts import dispute, finalize, resolve, void
from harness.cli.tables import print_table
from harness.cli.wire import open_ledger
from harness.errors import HarnessError, StoreError, UsageError
from harness.nightly.night import parse_month
from harness.settings import Settings
from harness.sla.export import csv_lines, settlement_row
from harness.store.journal import BrokenJournal
from harness.store.ledger import Query

Load = Callable[[], Settings]


class LedgerDiffers(HarnessError):
    """The ledger is not what was written."""

    exit_code = 6


class CannotVerify(HarnessError):
    """The ledger could not be read: that is not the same as whole."""

    exit_code = 7


@click.group()
def flags() -> None:
    """Read, check and decide the ledger's settlements. A flag is a settlement whose target credit is above zero."""


flags.add_command(dispute)
flags.add_command(resolve)
flags.add_command(void)
flags.add_command(finalize)


@flags.command("list")
@click.option("--all", "everything", is_flag=True, help="Also settlements without a credit.")
@click.option("--society", metavar="SLUG", help="Only this society.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def list_flags(load: Load, /, everything: bool, society: str | None, form: str) -> int:
    """List flags as they stand now; with --all every settlement."""
    ledger = open_ledger(load())
    ledger.journalled()  # what is behind its journal must not pass for what stands
    chosen = [
        stand.settlement
        for stand in ledger.settlements(Query(slug=society))
        if everything or Fraction(stand.settlement.target_percent) > 0
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
    """Print every event of one SUBJECT, oldest first, as they are served: one CloudEvent a line.

    Who brought an event about by hand, and what they noted, is said on stderr: it is never served.
    """
    ledger = open_ledger(load())
    events = list(ledger.events(subject=subject))
    if not events:
        raise UsageError(f"settlement {subject[:200]!r}: not in this ledger; `harness flags list --all` lists them")
    acts = ledger.acts(subject)
    for event in events:
        click.echo(event.body)
        if (act := acts.get(event.seq)) is not None:
            click.echo(f"event {event.seq}: by {act.actor}{f': {act.note}' if act.note else ''}", err=True)
    return 0


@flags.command()
@click.option("--society", metavar="SLUG", help="Only this society.")
@click.option("--window-in", metavar="YYYY-MM", help="Only windows of this month.")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl"]), default="csv", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File.  [default: stdout]")
@click.pass_obj
def export(load: Load, /, society: str | None, window_in: str | None, form: str, output: Path | None) -> int:
    """Write every settlement as it stands: CSV as the API serves it, or one JSON object a line with all fields."""
    if window_in is not None:
        parse_month(window_in)  # what is no month must not read as one without settlements
    ledger = open_ledger(load())
    ledger.journalled()
    stands = ledger.settlements(Query(slug=society, month=window_in))
    data = (stand.settlement.data for stand in stands)
    if form == "csv":
        lines = csv_lines(settlement_row(each) for each in data)
    else:
        lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in data)
    try:
        with click.open_file(str(output or "-"), "wb") as file:
            file.writelines(line.encode() for line in lines)
            file.flush()
    except OSError as error:
        raise UsageError(f"{output or 'stdout'}: cannot be written: {error.strerror}") from None
    return 0


@flags.command()
@click.pass_obj
def replay(load: Load, /) -> int:
    """Bring database and journal to the same end: restore, byte for byte, the events that a database restored from a
    backup lacks, and write to the journal what it lacks."""
    ledger = open_ledger(load())
    restored = ledger.replay()
    click.echo(f"{restored} events restored from {ledger.journal.path}; the ledger has {ledger.count()}")
    return 0


@flags.command()
@click.pass_obj
def verify(load: Load, /) -> int:
    """Check the ledger: its chain, its journal, and that each settlement is what its events come to.

    Names the first event that is not what was written. Exits with 6 where one is not, with 7 where the ledger could not
    be read.
    """
    try:
        ledger = open_ledger(load())
        broken = ledger.find_fault()
        count = ledger.count()
    except BrokenJournal as error:
        raise LedgerDiffers(str(error)) from None
    except (StoreError, UsageError) as error:
        raise CannotVerify(str(error)) from None
    if broken:
        raise LedgerDiffers(f"ledger: event {broken.seq} ({broken.subject}): {broken.says}")
    click.echo(f"{count} events, the chain is whole and the journal has each of them")
    return 0
