"""`harness flags dispute`, `resolve`, `void`, `finalize`: what a person decides about settlements."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from harness.cli.wire import open_emitter
from harness.errors import UsageError
from harness.nightly import settlements
from harness.nightly.emit import close_clocks
from harness.settings import Settings
from harness.sla.acts import VOID_REASONS
from harness.sla.evaluation import ReasonCode
from harness.sla.model import LedgerEvent
from harness.sla.settlement import settlement_after
from harness.store.ledger import Act

Load = Callable[[], Settings]
Command = Callable[..., Any]


def _by_options(command: Command) -> Command:
    command = click.option("--note", default="", help="For the internal record only; never served.")(command)
    return click.option("--by", "actor", required=True, metavar="NAME", help="Who decides: kept, never served.")(
        command
    )


@click.command()
@click.argument("subject")
@_by_options
@click.pass_obj
def dispute(load: Load, /, subject: str, actor: str, note: str) -> int:
    """Dispute an open SUBJECT. Not decided within the contract's days, the dispute ends with the assessed target."""
    return _print(settlements.dispute(open_emitter(load()), subject, _act(actor, note)))


@click.command()
@click.argument("subject")
@click.option("--upheld", metavar="PERCENT", help="The dispute was right: this is the new target, such as 0 or 12.5.")
@click.option("--rejected", is_flag=True, help="The dispute was wrong: the target stands.")
@_by_options
@click.pass_obj
def resolve(load: Load, /, subject: str, upheld: str | None, rejected: bool, actor: str, note: str) -> int:
    """Decide the dispute of SUBJECT.

    Upheld, the new target has a dispute clock of its own; rejected, the clock that ran before goes on.
    """
    if (upheld is None) is not rejected:
        raise UsageError("give either --upheld PERCENT or --rejected")
    emitter, act = open_emitter(load()), _act(actor, note)
    if upheld is None:
        return _print(settlements.reject(emitter, subject, act))
    return _print(settlements.uphold(emitter, subject, act, upheld))


@click.command()
@click.argument("subject")
@click.option("--reason", required=True, type=click.Choice(VOID_REASONS), help="Why, as the feed says it.")
@_by_options
@click.pass_obj
def void(load: Load, /, subject: str, reason: ReasonCode, actor: str, note: str) -> int:
    """Take the credit off an open SUBJECT, before it is final.

    For wrong gold or a wrong scorer use `harness rescore`, so that the numbers say it.
    """
    return _print(settlements.void(open_emitter(load()), subject, _act(actor, note), reason))


@click.command()
@click.pass_obj
def finalize(load: Load, /) -> int:
    """Finalize what is due: end the disputes and settle the settlements whose clock has run out.

    Every nightly does it; nothing can be made final before its time.
    """
    written = close_clocks(open_emitter(load()))
    if not written:
        click.echo("nothing is due")
    return _print(written)


def _act(actor: str, note: str) -> Act:
    """Who and why. Raises UsageError for what no record can hold."""
    for name, text, longest in (("--by", actor, 80), ("--note", note, 2_000)):
        if len(text) > longest or not all(letter.isprintable() or letter == "\n" for letter in text):
            raise UsageError(f"{name}: found {text[:40]!r}; expected printable text of at most {longest} characters")
    if not actor.strip():
        raise UsageError("--by: found nothing; expected the name of who decides")
    return Act(actor=actor, note=note)


def _print(events: Sequence[LedgerEvent]) -> int:
    for event in events:
        settlement = settlement_after(event)
        click.echo(
            f"event {event.seq}: {event.subject} revision {event.revision}: {settlement.state}, "
            f"target {settlement.target_percent} %, billable {settlement.billable_percent} %"
        )
    return 0
