"""kill -9 at random moments: the finished night equals an undisturbed one, and little is asked twice."""

import json
import random
import subprocess
import time
from pathlib import Path

from sqlalchemy import text

from harness.reference.ledger import Ledger, digest_of
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
    """Kill the night KILLS times while it asks, then once more at a moment of its later stages.

    Each time a random number of calls is let through first: forty sittings of them would not be enough for the night,
    because what was in flight or not yet written is asked again. Nothing that was stored before a start is.
    """
    moments = random.Random(20261130)
    for _ in range(KILLS):
        stored, before = _stored(place), Ledger(place.folder / "calls.db").asked()
        words = ("nightly", "--gateway", place.url, "--concurrency", str(CONCURRENCY), "--rate", "60")
        calls = Ledger(place.folder / "calls.db").count() + moments.randint(1, 140)
        with place.start(*words) as night:
            while Ledger(place.folder / "calls.db").count() < calls and night.poll() is None:
                time.sleep(0.005)
            night.kill()
        after = Ledger(place.folder / "calls.db").asked()
        assert {question: after[question] for question in stored} == {question: before[question] for question in stored}
    for delay in (0.5, 1.0, 1.5):
        with place.start("nightly", "--gateway", place.url) as night:
            try:
                night.wait(delay)
            except subprocess.TimeoutExpired:
                night.kill()


def _stored(place: Place) -> set[str]:
    """The digests of the questions whose answers are durable now."""
    if not place.runs_exist():
        return set()
    questions = {
        (path.parent.name, item["id"]): digest_of(item["query"])
        for path in place.testsets.glob("*/items.jsonl")
        for item in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }
    with place.engine() as engine, engine.connect() as connection:
        rows = connection.execute(text("SELECT slug, item_id FROM answer")).all()
    return {questions[row.slug, row.item_id] for row in rows}


def _assert_little_was_asked_twice(place: Place) -> None:
    (run,) = place.runs()
    ledger = Ledger(place.folder / "calls.db")
    asked = ledger.asked()
    assert len(asked) == 458
    twice = sum(count - 1 for count in asked.values())
    # A request may be noted and killed before it left: at most those in flight at each kill.
    assert twice <= run.asked_again <= twice + (KILLS + 3) * CONCURRENCY
    assert ledger.count() <= run.calls_sent
    assert run.calls_sent == 458 + run.asked_again
