"""A real browser for pages: Debian's Chromium, driven by playwright."""

import os
import shutil

import pytest


def chromium() -> str:
    """The path of Chromium; absent: one named skip on a laptop, a failure where CI is set."""
    path = shutil.which("chromium")
    if path is None:
        reason = "no chromium binary on this machine"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI is set")
        pytest.skip(reason)
    return path
