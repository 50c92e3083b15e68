"""Stages one by one: each reads what the one before stored, and doing one again changes nothing."""

import json
import shutil
from pathlib import Path

from sqlalchemy import text

from harness.reference.ledger import Ledger
from tests.end_to_end.command import Place, gateway_place

SOCIETIES = ("--society", "awwa", "--society", "sae")
SCORED = ("assessment", "fault", "measure", "score", "revision")


def _digests(place: Place) -> list[str]:
    with place.engine() as engine, engine.connect() as connection:
        rows = connection.execute(text("SELECT scores_sha256 FROM revision ORDER BY slug"))
        return [row.scores_sha256 for row in rows]


def _tree(place: Place) -> dict[str, bytes]:
    site = place.site.resolve()
    return {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in site.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_stage_by_stage_is_the_same_as_a_nightly(tmp_path: Path) -> None:
    with gateway_place(tmp_path / "stages", "demo") as staged:
        assert staged.run("score").returncode == 2  # nothing is complete yet
        assert staged.run("collect", "--gateway", staged.url, *SOCIETIES).returncode == 0
        assert staged.verdicts() == {}
    # From here on the gateway is gone: no stage may need it.
    assert staged.run("score").returncode == 0
    assert [len(scores) for scores in staged.verdicts().values()] == [25, 59]
    assert not staged.site.exists()
    assessed = staged.run("assess")
    assert assessed.returncode == 0 and "below floor" in assessed.stdout
    assert staged.events() == []
    assert staged.run("publish").returncode == 0
    assert staged.events() == []
    tree = _tree(staged)
    assert staged.run("emit").returncode == 0
    assert len(staged.events()) == 3
    for stage in ("score", "assess", "publish", "emit"):
        assert staged.run(stage).returncode == 0
    assert _tree(staged) == tree
    assert len(staged.events()) == 3
    with gateway_place(tmp_path / "whole", "demo") as whole:
        assert whole.nightly(*SOCIETIES).returncode == 0
    assert whole.verdicts() == staged.verdicts()


def test_scoring_stored_transcripts_is_deterministic_to_the_byte(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        assert place.nightly(*SOCIETIES).returncode == 0
    first, report = _digests(place), place.report()["societies"]
    for seed in ("0", "4711"):
        with place.engine() as engine, engine.begin() as connection:
            for table in SCORED:
                connection.execute(text(f"DELETE FROM {table}"))
        assert _digests(place) == []
        assert place.run("assess", PYTHONHASHSEED=seed).returncode == 0
        assert _digests(place) == first
        assert place.report()["societies"] == report


def test_a_society_added_later_the_same_night_is_measured_too(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        assert place.nightly("--society", "awwa").returncode == 0
        assert Ledger(tmp_path / "calls.db").count() == 25
        both = place.nightly(*SOCIETIES)
        assert both.returncode == 0, both.stderr
        assert Ledger(tmp_path / "calls.db").count() == 25 + 59
    assert "AWWA" in both.stdout and "SAE" in both.stdout
    overview = json.loads((place.site / "standards" / "index.json").read_text(encoding="utf-8"))
    assert [each["society"]["slug"] for each in overview["societies"]] == ["awwa", "sae"]
    assert [event.seq for event in place.events()] == [1, 2, 3]


def test_error_a_broken_transcript_is_named_and_the_site_stays(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        assert place.nightly("--society", "awwa").returncode == 0
        tree = _tree(place)
        assert place.run("collect", "--gateway", place.url, "--society", "sae").returncode == 0
    with place.engine() as engine, engine.connect() as connection:
        segment = connection.execute(text("SELECT segment FROM answer WHERE slug = 'sae'")).scalar()
    blob = place.reports / "store" / "blobs" / str(segment)[:2] / f"{segment}.zst"
    shutil.copy(blob, tmp_path / "kept.zst")
    blob.write_bytes(blob.read_bytes()[:-9])
    torn = place.run("emit")
    assert torn.returncode == 1
    assert f"{segment}.zst: cannot be read" in torn.stderr
    assert "Traceback" not in torn.stderr
    assert _tree(place) == tree
    shutil.copy(tmp_path / "kept.zst", blob)
    assert place.run("emit").returncode == 0
    assert "SAE" in place.run("assess").stdout


def test_a_night_that_is_over_cannot_be_collected(tmp_path: Path) -> None:
    with gateway_place(tmp_path) as place:
        past = place.nightly("--night", "2026-01-02", "--society", "awwa")
    assert past.returncode == 2
    assert "night 2026-01-02: its collection window is closed, nothing can be asked for awwa any more" in past.stderr
    assert Ledger(tmp_path / "calls.db").count() == 0
