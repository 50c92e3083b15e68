"""Progress of asking: a bar on a terminal, plain lines elsewhere."""

import os
import pty
import subprocess
from pathlib import Path

import structlog
from structlog.testing import capture_logs

from harness.cli import progress
from tests.end_to_end.command import COMMAND, KEY, gateway_place
from tests.shared import TESTSETS


def _on_a_terminal(folder: Path, url: str) -> str:
    """What a night prints on a terminal's stderr."""
    ours, theirs = pty.openpty()
    night = subprocess.Popen(
        [str(COMMAND), "--testsets", str(TESTSETS), "nightly", "--society", "awwa", "--gateway", url, "--rate", "40"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "TERM": "xterm", "HARNESS_GATEWAY_KEY": KEY},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert night.wait(60) == 0
    return seen.decode(errors="replace")


def test_a_terminal_gets_a_bar_and_a_file_gets_lines(tmp_path: Path) -> None:
    with gateway_place(tmp_path / "terminal") as place:
        shown = _on_a_terminal(place.folder, place.url)
    assert "━" in shown and "/25" in shown
    with gateway_place(tmp_path / "file") as place:
        ended = place.run("--log-format", "json", "nightly", "--gateway", place.url, "--society", "awwa")
    assert "━" not in ended.stderr
    assert '"event": "asking"' in ended.stderr and '"answered": 25, "planned": 25' in ended.stderr


def test_lines_come_at_the_start_each_minute_and_at_the_end() -> None:
    moments = iter([0.0, 30.0, 61.0, 62.0, 125.0])
    with capture_logs() as lines:
        shown = progress.ProgressLines(pending=100, planned=120, monotonic=lambda: next(moments))
        for _ in range(4):
            shown.advance(10)
        shown.close()
    structlog.reset_defaults()
    assert [(line["event"], line["answered"]) for line in lines] == [
        ("asking", 20),
        ("asking", 40),
        ("asking", 60),
        ("asked", 60),
    ]
