"""Programs of the machine that a test runs for real."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest


def require_file(path: Path, remedy: str) -> Path:
    """A file that a test needs and the project does not hold; absent: a named skip or a failure as for a program."""
    if not path.is_file():
        _without(f"no {path.name}: {remedy}")
    return path


def require_tool(name: str) -> str:
    """The path of a program; absent: one named skip on a laptop, a failure where CI is set."""
    path = shutil.which(name)
    if path is None:
        _without(f"no {name} binary on this machine")
    return path


def _without(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI is set")
    pytest.skip(reason)
