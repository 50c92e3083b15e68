"""Programs of the machine that a test runs for real."""

import os
import shutil

import pytest


def require_tool(name: str) -> str:
    """The path of a program; absent: one named skip on a laptop, a failure where CI is set."""
    path = shutil.which(name)
    if path is None:
        reason = f"no {name} binary on this machine"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI is set")
        pytest.skip(reason)
    return path
