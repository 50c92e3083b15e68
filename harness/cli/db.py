"""`harness db`: the database's schema."""

from collections.abc import Callable

import click

from harness.settings import Settings
from harness.store.engine import open_engine
from harness.store.migrate import current as current_version
from harness.store.migrate import head
from harness.store.migrate import upgrade as upgrade_schema

Load = Callable[[], Settings]


@click.group()
def db() -> None:
    """Look at or upgrade the database's schema. A new database gets its schema by itself at first use."""


@db.command()
@click.pass_obj
def upgrade(load: Load, /) -> int:
    """Bring the schema to this release's version; back the database up first."""
    click.echo(f"schema version {upgrade_schema(open_engine(load().database_url))}")
    return 0


@db.command()
@click.pass_obj
def current(load: Load, /) -> int:
    """Print the schema version, and the one that this release needs where it differs."""
    found = current_version(open_engine(load().database_url))
    shown = "none: the database is empty" if found is None else found
    click.echo(shown if found == head() else f"{shown} (this release needs {head()})")
    return 0
