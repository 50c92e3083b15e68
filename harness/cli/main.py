"""The `harness` command: global options, commands loaded when they are called, one error boundary."""

import importlib
import sys
from pathlib import Path
from typing import Any, Final

import click

from harness import __version__
from harness.errors import HarnessError
from harness.settings import Settings, current_environment, load_settings

COMMANDS: Final = {
    "demo": ("harness.cli.demo:demo", "Run a whole night on this machine: reference gateway, all societies, pages."),
    "nightly": ("harness.cli.night:nightly", "Run the night: collect, score, assess, publish, emit."),
    "collect": ("harness.cli.night:collect", "Ask what the night still lacks and store the answers."),
    "score": ("harness.cli.night:score", "Score a night's stored answers."),
    "assess": ("harness.cli.night:assess", "Assess a night's numbers against the floors in force."),
    "publish": ("harness.cli.night:publish", "Publish a night's pages and tables."),
    "emit": ("harness.cli.night:emit", "Write a night's settlement events to the ledger."),
    "status": ("harness.cli.inspect:status", "List nights, runs and what is missing of each."),
    "show": ("harness.cli.inspect:show", "Show one ITEM of a RUN: query, gold, passages, checks, diagnosis, calls."),
    "report": ("harness.cli.inspect:report", "Print a complete RUN's numbers, for people or for CI."),
    "compare": ("harness.cli.inspect:compare", "Compare two NIGHTs on the same items."),
    "testset": ("harness.cli.testset:testset", "Check and describe societies' folders."),
    "rescore": ("harness.cli.night:rescore_command", "Score a night's stored answers again as a new revision."),
    "flags": ("harness.cli.flags:flags", "Read, check and decide the ledger's settlements."),
    "serve": ("harness.cli.serve:serve", "Serve the site and the settlement API until it is stopped."),
    "check-freshness": (
        "harness.cli.freshness:check_freshness",
        "Fail when a society's newest measured night finished too long ago.",
    ),
    "tokens": ("harness.cli.tokens:tokens", "Make, list and revoke the API's tokens."),
    "gateway": ("harness.cli.gateway:gateway", "Run the reference gateway over the societies' corpora."),
    "db": ("harness.cli.db:db", "Look at or upgrade the database's schema."),
}
"""Where each command is, and its line in the list: modules are imported only when called, so `--help` is instant."""


class LazyGroup(click.Group):
    """A group whose commands are named in a table and imported at need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)  # noqa: S101 - the table above is ours
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--config", type=click.Path(path_type=Path), help="Configuration file.  [default: harness.toml, if there]"
)
@click.option(
    "--database", metavar="URL", help="sqlite:///FILE or postgresql+psycopg://…  [default: REPORTS/harness.db]"
)
@click.option("--testsets", type=click.Path(path_type=Path), help="Folder of societies.  [default: testsets]")
@click.option("--reports", type=click.Path(path_type=Path), help="Output folder.  [default: reports]")
@click.option("--log-format", type=click.Choice(["console", "json"]), help="Form of log lines.  [default: console]")
@click.option("-v", "--verbose", is_flag=True, help="Log more.")
@click.version_option(__version__, prog_name="harness")
@click.pass_context
def cli(ctx: click.Context, /, verbose: bool, **options: Any) -> None:
    """Decide, every night, whether a society's citations can be trusted.

    Start with `harness demo`. A night is `harness nightly --gateway URL` with the key in HARNESS_GATEWAY_KEY.

    \b
    Exit codes: 0 complete · 1 unexpected error · 2 usage or invalid input, nothing sent · 3 below a floor
    (--fail-on-breach) · 4 some society has no sufficient data or an invalid folder · 5 gateway refused or
    unreachable, resumable · 6 differs · 7 could not check · 75 another run of this night holds the lock.
    """
    ctx.obj = lambda: _settings(options, verbose)


def _settings(options: dict[str, Any], verbose: bool) -> Settings:
    from harness.cli.logs import configure_logs

    config = options.pop("config", None)
    settings = load_settings(config, options, current_environment())
    configure_logs(settings.log_format, verbose=verbose)
    return settings


def main() -> None:
    """Run the command line; every failure of ours is one message and its exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        sys.exit(130)
    except HarnessError as error:
        click.echo(f"harness: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)
