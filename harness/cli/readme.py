"""The command table of README.md, made from the commands' own help: `python -m harness.cli.readme` renews it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from harness.cli.main import COMMANDS, cli

BEGIN: Final = "<!-- commands: made by `make docs` -->"
END: Final = "<!-- end of commands -->"


def command_table() -> str:
    """A Markdown table of every command with its options and its help's first line."""
    lines = ["| command | does |", "| --- | --- |"]
    lines += [f"| `{usage}` | {says} |" for usage, says in _commands()]
    return "\n".join(lines)


def renewed(readme: str) -> str:
    """The README's text with the command table as it is now."""
    pattern = re.compile(f"(?<={re.escape(BEGIN)}\n).*?(?=\n{re.escape(END)})", re.DOTALL)
    return pattern.sub(lambda _: command_table(), readme)


def _commands() -> Iterator[tuple[str, str]]:
    context = click.Context(cli, info_name="harness")
    for name in COMMANDS:
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=name, parent=context)
            for sub_name in command.list_commands(inner):
                sub = command.get_command(inner, sub_name)
                if sub is not None:
                    yield _row(f"harness {name} {sub_name}", sub, inner)
        elif command is not None:
            yield _row(f"harness {name}", command, context)


def _row(path: str, command: click.Command, parent: click.Context) -> tuple[str, str]:
    parts = [path]
    for parameter in command.get_params(click.Context(command, info_name=path, parent=parent)):
        if isinstance(parameter, click.Argument):
            name = parameter.make_metavar(parent)
            parts.append(name)
        elif isinstance(parameter, click.Option) and "--help" not in parameter.opts:
            word = parameter.opts[0] if parameter.is_flag else f"{parameter.opts[0]} {parameter.make_metavar(parent)}"
            parts.append(f"[{word}]" + ("…" if parameter.multiple else ""))
    first = (command.help or "").replace("\b", "").strip().split("\n\n")[0]
    return " ".join(parts).replace("|", "\\|"), " ".join(first.split()).replace("|", "\\|")


if __name__ == "__main__":
    path = Path("README.md")
    path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
