"""What an earlier night left undone is settled by the next one; a refused publish holds no settlement back."""

import json
import shutil
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import text

from harness.reference.ledger import Ledger
from tests.end_to_end.command import Place, gateway_place

SOCIETIES = ("--society", "awwa", "--society", "sae")


def _make_it_yesterday(place: Place) -> str:
    """Let the stored run be last night's; the label of that night."""
    (run,) = place.runs()
    yesterday = (date.fromisoformat(run.night) - timedelta(days=1)).isoformat()
    with place.engine() as engine, engine.begin() as connection:
        connection.execute(text("UPDATE run SET night = :night"), {"night": yesterday})
    return yesterday


def _settled(place: Place) -> list[tuple[str, str, str, str]]:
    """(slug, night, status, target) of every event, in sequence."""
    data: list[dict[str, Any]] = [json.loads(event.body)["data"] for event in place.events()]
    return [(each["society"]["slug"], each["window"]["label"], each["status"], each["target_percent"]) for each in data]


def test_a_night_killed_before_its_end_is_settled_by_the_next_from_what_is_stored(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        with place.start("nightly", "--gateway", place.url, "--rate", "40", *SOCIETIES) as killed:
            while Ledger(tmp_path / "calls.db").count() < 60:
                assert killed.poll() is None
            killed.terminate()
            killed.communicate(timeout=60)
        yesterday = _make_it_yesterday(place)
        tonight = place.nightly(*SOCIETIES)
        assert tonight.returncode == 0, tonight.stderr
        settled = _settled(place)
        past = [each for each in settled if each[1] == yesterday]
        assert {(slug, status, target) for slug, _, status, target in past} == {
            ("awwa", "insufficient_data", "0"),
            ("sae", "insufficient_data", "0"),
        }
        assert {slug for slug, night, _, _ in settled if night != yesterday} == {"awwa", "sae"}
        assert place.nightly(*SOCIETIES).returncode == 0
        assert _settled(place) == settled
    document = json.loads((place.site / "standards" / "sae" / "eval" / yesterday / "eval.json").read_text("utf-8"))
    outcomes = document["outcomes"]
    parts = ("correct", "incorrect", "missing", "gateway_error", "harness_error")
    assert outcomes["harness_error"] > 0
    assert sum(outcomes[part] for part in parts) == outcomes["planned"] == 63


def test_a_night_that_reached_nothing_is_settled_too(tmp_path: Path) -> None:
    (tmp_path / "harness.toml").write_text("[asking]\nattempts = 1\n", encoding="utf-8")
    with gateway_place(tmp_path, "demo") as place:
        assert place.run("nightly", "--gateway", "http://127.0.0.1:9", *SOCIETIES).returncode == 5
        yesterday = _make_it_yesterday(place)
        assert place.run("emit", "--night", yesterday).returncode == 4
    assert [each[1:] for each in _settled(place)] == [(yesterday, "insufficient_data", "0")] * 3  # SAE's is final


def test_what_was_measured_and_not_settled_is_settled_by_the_next_night(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        assert place.run("collect", "--gateway", place.url, *SOCIETIES).returncode == 0
        yesterday = _make_it_yesterday(place)
        assert place.nightly(*SOCIETIES).returncode == 0
    assert {each[:3] for each in _settled(place) if each[1] == yesterday} == {
        ("awwa", yesterday, "met"),
        ("sae", yesterday, "breached"),
    }


def test_a_refused_publish_holds_no_settlement_back(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        place.site.mkdir(parents=True)
        (place.site / "foreign").write_text("theirs")
        refused = place.nightly(*SOCIETIES)
        assert refused.returncode == 1
        assert "holds files that publish did not write" in refused.stderr
        settled = _settled(place)
        assert {each[0] for each in settled} == {"awwa", "sae"}
        shutil.rmtree(place.site)
        assert place.nightly(*SOCIETIES).returncode == 0
        assert _settled(place) == settled
    for event in place.events():
        evidence = json.loads(event.body)["data"]["evidence"]
        scores = place.site / evidence["scores_url"].strip("/")
        assert scores.is_file()
    (sae,) = [event for event in place.events() if "_sae_" in event.subject and event.revision == 1]
    evidence = json.loads(sae.body)["data"]["evidence"]
    assert (
        sha256((place.site / evidence["scores_url"].strip("/")).read_bytes()).hexdigest() == evidence["scores_sha256"]
    )


def test_error_a_subset_is_not_asked_while_a_run_of_more_waits(tmp_path: Path) -> None:
    with gateway_place(tmp_path) as place:
        with place.start("nightly", "--gateway", place.url, "--rate", "40", *SOCIETIES) as killed:
            while Ledger(tmp_path / "calls.db").count() < 20:
                assert killed.poll() is None
            killed.kill()
            killed.communicate(timeout=60)
        asked = Ledger(tmp_path / "calls.db").count()
        subset = place.nightly("--society", "awwa")
        assert subset.returncode == 2
        assert "also asks sae; leave out --society, or name these too" in subset.stderr
        assert Ledger(tmp_path / "calls.db").count() == asked
        assert place.nightly(*SOCIETIES).returncode == 0
