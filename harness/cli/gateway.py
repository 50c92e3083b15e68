"""`harness gateway`: the reference gateway in the foreground."""

from collections.abc import Callable
from pathlib import Path

import click

from harness.reference.server import ReferenceSettings, run_gateway
from harness.settings import Settings

Load = Callable[[], Settings]
DEMO_KEY = "demo-key"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8099, show_default=True, metavar="N", help="0: any free port."
)
@click.option(
    "--faults", default="none", show_default=True, metavar="PROFILE", help="A profile's name, or a TOML file."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="Picks which questions the faults hit."
)
@click.option("--key", default=DEMO_KEY, show_default=True, help="The bearer key that it accepts.")
@click.option("--ledger", type=click.Path(path_type=Path), help="File of its call ledger.  [default: in memory]")
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), metavar="N", help="Calls a second before it answers 429."
)
@click.pass_obj
def gateway(load: Load, /, key: str, **options: object) -> int:
    """Run the reference gateway over the societies' corpora, until it is stopped.

    It answers what its search finds and never reads a gold set. Faults are seeded: two runs agree.
    """
    settings = ReferenceSettings(testsets=load().testsets, keys={key: None}, **options)  # type: ignore[arg-type]
    run_gateway(settings, on_ready=lambda url: click.echo(f"reference gateway at {url}"))
    return 0
