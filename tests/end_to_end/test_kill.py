"""kill -9 at random moments: the finished night equals an undisturbed one, and little is asked twice."""

import random
import subprocess
from pathlib import Path

from harness.nightly.collect import BATCH
from harness.reference.ledger import Ledger
from tests.end_to_end.command import Place, gateway_place

CONCURRENCY = 8
KILLS = 20


def test_a_night_killed_twenty_times_equals_an_undisturbed_one(tmp_path: Path) -> None:
    with gateway_place(tmp_path / "undisturbed", "demo") as undisturbed:
        assert undisturbed.nightly().returncode == 0
    with gateway_place(tmp_path / "killed", "demo") as killed:
        _kill_again_and_again(killed)
        finished = killed.nightly("--concurrency", str(CONCURRENCY))
        assert finished.returncode == 0, finished.stderr
    assert killed.verdicts() == undisturbed.verdicts()
    assert killed.report()["societies"] == undisturbed.report()["societies"]
    assert len(killed.events()) == len(undisturbed.events())
    assert killed.run("flags", "verify").returncode == 0
    _assert_little_was_asked_twice(killed)


def _kill_again_and_again(place: Place) -> None:
    """Kill the night KILLS times, at moments drawn from its whole length: some while it asks, some in later stages.

    Asking at 90 calls a second takes about five seconds in all, so that several sittings are needed for it.
    """
    moments = random.Random(20261130)
    landed = 0
    for _ in range(KILLS):
        words = ("nightly", "--gateway", place.url, "--concurrency", str(CONCURRENCY), "--rate", "90")
        with place.start(*words) as night:
            try:
                night.wait(moments.uniform(0.3, 2.6))
            except subprocess.TimeoutExpired:
                night.kill()
                landed += 1
    assert landed >= KILLS // 2


def _assert_little_was_asked_twice(place: Place) -> None:
    (run,) = place.runs()
    ledger = Ledger(place.folder / "calls.db")
    asked = ledger.asked()
    assert len(asked) == 458
    twice = sum(count - 1 for count in asked.values())
    # A request may be noted and killed before it left: at most those in flight at each kill.
    assert twice <= run.asked_again <= twice + KILLS * CONCURRENCY
    assert ledger.count() <= run.calls_sent
    assert run.calls_sent == 458 + run.asked_again
    assert run.asked_again <= KILLS * (CONCURRENCY + BATCH)
