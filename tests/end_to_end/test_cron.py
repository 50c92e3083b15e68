"""What starts the night: the cron script run for real, the crontab line, the systemd units."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.reference.ledger import Ledger
from tests.end_to_end.command import COMMAND, KEY, gateway_place
from tests.shared import ROOT

CRON = ROOT / "cron"


def _environment(folder: Path, url: str, key: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HARNESS_HOME": str(folder),
        "HARNESS_BIN": str(COMMAND),
        "HARNESS_TESTSETS": str(ROOT / "testsets"),
        "HARNESS_GATEWAY": url,
        "HARNESS_GATEWAY_KEY_FILE": str(key),
    }


def _script(folder: Path, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    key = folder / "key"
    key.write_text(KEY + "\n")
    return subprocess.run(
        [str(CRON / "nightly.sh"), *words],
        env=_environment(folder, url, key),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_script_runs_the_night_and_hands_its_exit_code_on(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        assert _script(tmp_path, place.url).returncode == 0
        assert _script(tmp_path, place.url, "--fail-on-breach").returncode == 3
        (log,) = (tmp_path / "reports" / "log").glob("nightly-*.log")
        assert log.read_text(encoding="utf-8").count("SAE") >= 2
    assert _script(tmp_path, "not a url").returncode == 2


def test_the_script_exits_75_while_another_holds_the_lock(tmp_path: Path) -> None:
    logs = tmp_path / "reports" / "log"
    logs.mkdir(parents=True)
    holder = subprocess.Popen(
        ["flock", str(logs / "nightly.lock"), "sh", "-c", "echo held; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert _script(tmp_path, "http://127.0.0.1:9").returncode == 75
    holder.communicate("")


def test_a_signal_to_the_script_alone_ends_the_night_and_its_last_words_are_kept(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        key = tmp_path / "key"
        key.write_text(KEY)
        environment = _environment(tmp_path, place.url, key)
        script = subprocess.Popen(
            [str(CRON / "nightly.sh"), "--rate", "40"], env=environment, stdout=subprocess.DEVNULL
        )
        while Ledger(tmp_path / "calls.db").count() < 20:
            assert script.poll() is None
        script.terminate()
        assert script.wait(60) == 128 + 15
        (run,) = place.runs()
        assert run.stopped == "interrupted"
        assert run.calls_sent >= 20
        (log,) = (tmp_path / "reports" / "log").glob("nightly-*.log")
        assert "interrupted: what was in flight is stored" in log.read_text(encoding="utf-8")
        assert _script(tmp_path, place.url).returncode == 0


def test_the_script_is_sound_shell() -> None:
    assert subprocess.run(["bash", "-n", str(CRON / "nightly.sh")], check=False).returncode == 0


def test_the_crontab_line_runs_the_script_at_0217_utc() -> None:
    lines = [line for line in (CRON / "crontab").read_text().splitlines() if line and not line.startswith("#")]
    assert "CRON_TZ=UTC" in lines
    (job,) = [line for line in lines if not re.match(r"[A-Z_]+=", line)]
    assert re.fullmatch(r"17 2 \* \* \* set -o pipefail; \S+/cron/nightly\.sh", job)


def test_the_systemd_units_are_valid_and_utc(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        reason = "systemd-analyze is not installed"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and CI is set")
        pytest.skip(reason)
    here = str(ROOT)
    for unit in ("harness-nightly.service", "harness-nightly.timer", "harness-nightly-failed@.service"):
        text = (CRON / unit).read_text()
        (tmp_path / unit).write_text(text.replace("/opt/citehouse/harness", here))
    (tmp_path / "harness-nightly-failed@x.service").write_text(
        (tmp_path / "harness-nightly-failed@.service").read_text()
    )
    units = [
        str(tmp_path / unit)
        for unit in ("harness-nightly.timer", "harness-nightly.service", "harness-nightly-failed@x.service")
    ]
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        env=dict(os.environ) | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    about = [line for line in (checked.stdout + checked.stderr).splitlines() if "harness-nightly" in line]
    assert (checked.returncode, about) == (0, []), checked.stderr
    spec = re.search(r"OnCalendar=(.*)", (CRON / "harness-nightly.timer").read_text())
    assert spec is not None
    shown = subprocess.run(
        ["systemd-analyze", "calendar", spec[1]], capture_output=True, text=True, timeout=60, check=True
    )
    assert "02:17:00 UTC" in shown.stdout
