"""The dead-man switch: fresh, stale and what cannot be checked, from disk and over HTTP."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from harness.clock import SystemClock, utc_text
from harness.errors import PublishRefused
from harness.site.publish import publish
from tests.api.server import serving
from tests.end_to_end.command import Place
from tests.site.results import Night, result
from tests.store.journals import ledger_of


def put(site: Path, *ages: tuple[str, float], outcomes: str = "c" * 57 + "iim") -> None:
    """Publish tonight's night of each society, finished so many hours ago."""
    now = datetime.now(UTC)
    told = [
        replace(
            result(Night(slug=slug, night=now.date().isoformat(), outcomes=outcomes)),
            finished_at=utc_text(now - timedelta(hours=hours)),
        )
        for slug, hours in ages
    ]
    publish(site, told, "harness", base_url="")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(folder=tmp_path)


@pytest.fixture
def address(place: Place, engine: Engine) -> Iterator[str]:
    with serving(ledger_of(engine), SystemClock(), site=place.site) as url:
        yield url


@pytest.mark.parametrize(("hours", "code"), [(25.9, 0), (26.1, 6), (-1.0, 6)])
def test_a_night_that_finished_too_long_ago_is_stale(place: Place, hours: float, code: int) -> None:
    put(place.site, ("asme", hours), ("sae", 1))
    ended = place.run("check-freshness")
    assert ended.returncode == code
    assert ("stale" in ended.stdout) is (code == 6)
    assert place.run("check-freshness", "--society", "sae").returncode == 0


def test_it_reads_the_public_site_over_http(place: Place, address: str) -> None:
    put(place.site, ("asme", 1))
    elsewhere = Place(folder=place.folder.parent)
    assert elsewhere.run("check-freshness", address).returncode == 0
    assert elsewhere.run("check-freshness", address, "--max-age", "0.5").returncode == 6


def test_a_night_in_which_nothing_was_measured_is_stale(place: Place) -> None:
    put(place.site, ("asme", 1), outcomes="h" * 60)
    ended = place.run("check-freshness")
    assert (ended.returncode, "nothing was measured" in ended.stdout) == (6, True)


def test_a_page_marked_as_not_up_to_date_is_stale(place: Place) -> None:
    put(place.site, ("asme", 1))
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    with pytest.raises(PublishRefused):
        publish(place.site, [replace(result(Night(night=tomorrow)), items=3)], "harness", base_url="")
    assert place.run("check-freshness").returncode == 6


@pytest.mark.parametrize("missing", ["site", "eval", "index", "society", "host"])
def test_what_cannot_be_read_is_not_called_fresh(place: Place, missing: str) -> None:
    put(place.site, ("asme", 1))
    standards = place.site.resolve() / "standards"
    words = ["check-freshness"]
    if missing == "site":
        words.append(str(place.folder / "nowhere"))
    elif missing == "eval":
        (standards / "asme" / "eval" / "eval.json").unlink()
    elif missing == "index":
        index = json.loads((standards / "index.json").read_text("utf-8"))
        (standards / "index.json").unlink()
        (standards / "index.json").write_text(json.dumps(index | {"societies": 7}), encoding="utf-8")
    elif missing == "society":
        words += ["--society", "nobody"]
    else:
        words.append("http://127.0.0.1:9")
    ended = place.run(*words)
    assert (ended.returncode, ended.stdout) == (7, "")
    assert "cannot be checked" in ended.stderr and "Traceback" not in ended.stderr
