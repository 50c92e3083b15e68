"""`harness tokens`: who may call the API."""

import json
from collections.abc import Callable
from datetime import timedelta

import click

from harness.cli.tables import print_table
from harness.cli.wire import open_database
from harness.clock import SystemClock
from harness.settings import Settings
from harness.store.tokens import SCOPES, create_token, list_tokens, revoke_token

Load = Callable[[], Settings]


@click.group()
def tokens() -> None:
    """Make, list and revoke the API's tokens. Only their hashes are kept."""


@tokens.command()
@click.option("--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES), help="May be repeated.")
@click.option("--name", required=True, help="Who it is for.")
@click.option("--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="Until it expires.")
@click.pass_obj
def create(load: Load, /, scopes: tuple[str, ...], name: str, days: int) -> int:
    """Make a token and print it alone on the last line. It is shown this once: keep it where secrets are kept."""
    now = SystemClock().now()
    token, text = create_token(open_database(load(), new=True), name, scopes, now, now + timedelta(days=days))
    scope = ", ".join(token.scopes)
    click.echo(f"token {token.token_id} for {name}: {scope}, until {token.expires_at}; shown this once:", err=True)
    click.echo(text)
    return 0


@tokens.command("list")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.pass_obj
def list_command(load: Load, /, form: str) -> int:
    """List every token that was ever made, never its secret."""
    now = SystemClock().now()
    rows = [
        {
            "id": token.token_id,
            "name": token.name,
            "scopes": " ".join(token.scopes),
            "created": token.created_at,
            "expires": token.expires_at or "never",
            "state": token.state(now),
        }
        for token in list_tokens(open_database(load()))
    ]
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    columns = ("id", "name", "scopes", "created", "expires", "state")
    print_table("Tokens", columns, [tuple(row[column] for column in columns) for row in rows])
    return 0


@tokens.command()
@click.argument("token_id", metavar="ID")
@click.pass_obj
def revoke(load: Load, /, token_id: str) -> int:
    """Revoke the token of that ID: from now on it is refused."""
    token = revoke_token(open_database(load()), token_id, SystemClock().now())
    click.echo(f"token {token.token_id} ({token.name}): revoked at {token.revoked_at}")
    return 0
