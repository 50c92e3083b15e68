"""Where the shared case, fact and corpus files are, beside the checkout; they are not part of the project."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTSETS = ROOT / "testsets"


def shared(relative: str) -> Path:
    """The file or folder below ../shared; absent: one named skip on a laptop, a failure where CI is set."""
    path = ROOT.parent / "shared" / relative
    if not path.exists():
        reason = f"../shared/{relative} is not beside this checkout"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI is set")
        pytest.skip(reason)
    return path
