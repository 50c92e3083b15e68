"""A disk that fills up: a clear error, no number, no flag, and the run goes on when there is room again."""

import re
import subprocess
from pathlib import Path

from tests.end_to_end.command import COMMAND, KEY, gateway_place

KIB = 40
"""File size limit of the night: room for a frozen folder, none for a segment of 256 answers."""


def test_a_full_disk_is_insufficient_data_and_the_night_goes_on_later(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        (place.reports).mkdir()
        assert place.run("db", "upgrade").returncode == 0
        night = [str(COMMAND), "--testsets", str(place.testsets), "nightly", "--gateway", place.url]
        full = subprocess.run(
            ["bash", "-c", f'ulimit -f {KIB}; exec "$@"', "-", *night],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HARNESS_GATEWAY_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert full.returncode == 4, full.stderr
        assert re.search(r"(transcript segment: File too large|harness\.db: disk I/O error)", full.stdout)
        assert full.stdout.count("insufficient data") == 7
        assert not place.site.exists()
        assert place.events() == []
        later = place.nightly()
        assert later.returncode == 0, later.stderr
    assert len(place.events()) == 10
