"""A real browser for pages: Debian's Chromium, driven by playwright."""

from tests.tools import require_tool


def chromium() -> str:
    """The path of Chromium; absent: one named skip on a laptop, a failure where CI is set."""
    return require_tool("chromium")
