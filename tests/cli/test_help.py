"""Help is the documentation: the list, the README's table and what the commands say are the same."""

import subprocess
import sys

import click
import pytest

from harness.cli.main import COMMANDS, cli
from harness.cli.readme import command_table, renewed
from tests.end_to_end.command import COMMAND
from tests.shared import ROOT

CONTEXT = click.Context(cli, info_name="harness")


def test_the_readme_has_the_table_that_the_commands_help_makes() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert command_table() in readme, "run: make docs"
    assert renewed(readme) == readme


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says_itself(name: str) -> None:
    command = cli.get_command(CONTEXT, name)
    assert command is not None and command.help is not None
    first = " ".join(command.help.split("\n\n")[0].split())
    listed = COMMANDS[name][1].rstrip(".")
    assert first.startswith(listed.split(":")[0].split(", all")[0])


def test_every_command_prints_its_help() -> None:
    for name in COMMANDS:
        command = cli.get_command(CONTEXT, name)
        assert command is not None
        with click.Context(command, info_name=name, parent=CONTEXT) as inner:
            assert command.get_help(inner).startswith("Usage: harness")


def test_help_imports_nothing_heavy() -> None:
    """`harness --help` answers at once because libraries are imported only by the commands that need them."""
    heavy = ("sqlalchemy", "aiohttp", "scipy", "pandas", "rich", "jinja2", "alembic", "uvicorn")
    code = (
        "import sys, harness.cli.main as m, click\n"
        "try: m.cli.main(['--help'], standalone_mode=True)\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.startswith("Usage:")
    assert ended.stderr.strip() == "[]"


@pytest.mark.parametrize("words", [["nope"], ["nightly", "--nope"], ["--database"], ["show", "only-a-run"]])
def test_error_wrong_usage_exits_2(words: list[str]) -> None:
    ended = subprocess.run([str(COMMAND), *words], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "Usage: harness" in ended.stderr or "requires an argument" in ended.stderr
