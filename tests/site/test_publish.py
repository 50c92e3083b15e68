"""Publishing: revisions once and for ever, the latest night shown, everything in one step."""

import csv
import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from harness.errors import PublishRefused
from harness.site.model import EvalResult, ItemRow
from harness.site.publish import Published, publish
from tests.site.html import read_page
from tests.site.results import Night, result

BASE = "https://citehouse.example/"


def put(site: Path, *nights: Night | EvalResult, canaries: tuple[str, ...] = ()) -> tuple[Published, ...]:
    told = [night if isinstance(night, EvalResult) else result(night) for night in nights]
    return publish(site, told, "urn:citehouse:test", base_url=BASE, canaries=canaries)


def tree(site: Path) -> dict[str, bytes]:
    """Every file that visitors can reach, without the marker."""
    return {
        str(path.relative_to(site)): path.read_bytes()
        for path in sorted(site.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def latest(site: Path, slug: str = "asme", night: str = "") -> dict[str, Any]:
    told: dict[str, Any] = json.loads((site / "standards" / slug / "eval" / night / "eval.json").read_bytes())
    return told


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "reports" / "site"


def test_the_tree_of_one_night(site: Path) -> None:
    assert put(site, Night(), Night(slug="sae")) == tuple(
        Published(slug=slug, night="2026-11-29", revision=1, address=f"/standards/{slug}/eval/2026-11-29/r1/")
        for slug in ("asme", "sae")
    )
    files = list(tree(site))
    charts = ("faults", "kind", "outcomes", "standard", "trend-citation-correctness")
    twins = ("eval.json", "index.html", "items.csv", "passages.csv", "scores.csv")
    assert {name for name in files if not name.startswith("static/")} == {
        "404.html",
        "standards/index.html",
        "standards/index.json",
        "standards/eval/method/index.html",
        "standards/eval/revisions/index.html",
        "standards/eval/revisions/index.json",
        "standards/eval/calendar/index.html",
        "standards/eval/calendar/index.json",
        "standards/eval/calendar/2026-11/index.html",
        "standards/eval/calendar/2026-11/index.json",
        *(
            f"standards/{slug}/eval/{place}{name}"
            for slug in ("asme", "sae")
            for place in ("", "2026-11-29/", "2026-11-29/r1/")
            for name in (*twins, *(f"chart-{chart}.svg" for chart in charts))
        ),
        *(
            f"standards/{slug}/eval/{name}"
            for slug in ("asme", "sae")
            for name in ("badge.svg", "feed.atom", "history.csv", "history.jsonl")
        ),
    }
    assert [Path(name).suffix for name in files if name.startswith("static/")] == [".svg", ".css"]


def test_every_link_of_every_page_leads_somewhere(site: Path) -> None:
    put(site, Night(), Night(slug="sae", night="2026-11-28"))
    followed = 0
    for name in tree(site):
        if not name.endswith(".html"):
            continue
        for element in read_page((site / name).read_bytes()).walk():
            target = element.attributes.get("href", "#")
            if not target.startswith("#"):
                folder = site if target.startswith("/") else (site / name).parent
                assert folder.joinpath(target.lstrip("/")).is_file(), f"{name}: {target}"
                followed += 1
    assert followed > 50


def test_every_value_is_derived_again_from_the_twins_alone(site: Path) -> None:
    put(site, Night(outcomes="c" * 40 + "iimg" * 6 + "hh", clusters=9, weights=("1", "2", "0.5")))
    folder = site / "standards" / "asme" / "eval" / "2026-11-29" / "r1"
    rows = {
        name: list(csv.DictReader((folder / f"{name}.csv").read_text("utf-8").splitlines()))
        for name in ("scores", "passages", "items")
    }
    told = latest(site)
    assert len(told["measures"]) > 40
    for entry in told["measures"]:
        table, _, stratum = entry["claim"]["source"]["table"].rstrip("]").partition("[")
        column = entry["claim"]["source"]["column"]
        name, _, value = stratum.partition("=")
        chosen = [row for row in rows[table] if row[column] != "" and (not stratum or row[name] == value)]
        if entry["name"] == "weighted_citation_correctness":
            weights = [Fraction(row["weight"]) for row in chosen]
            again = sum(w * int(row[column]) for w, row in zip(weights, chosen, strict=True)) / sum(weights)
        else:
            again = sum((Fraction(row[column]) for row in chosen), Fraction(0)) / len(chosen)
        assert 0 <= again - Fraction(entry["value"]) < Fraction(1, 10**6), entry
        assert entry["claim"]["base"]["n"] == entry["valid"] == len(chosen)


def test_a_page_says_what_each_function_of_its_parts_computes(site: Path) -> None:
    put(site, Night(weights=("1", "2")))
    (rerun,) = read_page((site / "standards/asme/eval/index.html").read_bytes()).find(
        "section", **{"aria-labelledby": "rerun"}
    )
    named = {entry["claim"]["source"]["function"] for entry in latest(site)["measures"]}
    assert named == {"share", "mean", "weighted_share"}
    assert {term.text() for term in rerun.find("dt")} == named
    assert "ones over the cells that are not empty" in rerun.text()


def test_a_part_names_the_immutable_table_and_its_digest(site: Path) -> None:
    put(site, Night())
    for entry in latest(site)["measures"]:
        claim = entry["claim"]
        assert claim["data"].startswith("https://citehouse.example/standards/asme/eval/2026-11-29/r1/")
        table = site / claim["data"].removeprefix(BASE)
        assert hashlib.sha256(table.read_bytes()).hexdigest() == claim["data_sha256"]


def test_tables_are_rfc_4180(site: Path) -> None:
    put(site, Night(outcomes="cimgh"))
    content = (site / "standards" / "asme" / "eval" / "scores.csv").read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") == 6
    assert content.endswith(b"\r\n")
    assert content.split(b",")[:3] == [b"item", b"expectation", b"outcome"]


def test_publishing_again_changes_nothing_that_visitors_see(site: Path) -> None:
    put(site, Night(), Night(slug="sae"))
    before = tree(site)
    put(site, Night(), Night(slug="sae"))
    assert tree(site) == before


def test_without_results_nothing_changes(site: Path) -> None:
    assert put(site) == ()
    assert not site.exists()


def test_a_later_night_is_shown_and_the_earlier_one_stays(site: Path) -> None:
    put(site, Night(night="2026-11-28"))
    before = tree(site)
    put(site, Night(outcomes="c" * 60))
    after = tree(site)
    assert latest(site)["night"] == "2026-11-29"
    kept = {name: content for name, content in before.items() if "/2026-11-28/" in name}
    assert len(kept) == 20
    assert kept.items() <= after.items()


def test_a_late_publish_of_an_earlier_night_is_not_the_latest(site: Path) -> None:
    put(site, Night())
    put(site, Night(night="2026-11-28"))
    assert latest(site)["night"] == "2026-11-29"
    assert latest(site, night="2026-11-28")["night"] == "2026-11-28"


def test_a_run_that_is_not_official_never_replaces_one_that_is(site: Path) -> None:
    put(site, Night(night="2026-11-28"))
    put(site, result(Night(), official=False))
    assert latest(site)["night"] == "2026-11-28"
    assert latest(site, night="2026-11-29")["official"] is False
    assert any("provisional" in warning for warning in latest(site, night="2026-11-29")["warnings"])


def test_a_revision_replaces_the_night_and_the_first_one_stays(site: Path) -> None:
    put(site, Night())
    before = tree(site)
    put(site, Night(outcomes="c" * 59 + "i", revision=2))
    assert latest(site)["revision"] == latest(site, night="2026-11-29")["revision"] == 2
    first = {name: content for name, content in before.items() if "/r1/" in name}
    assert len(first) == 10
    assert first.items() <= tree(site).items()


def test_error_a_revision_that_would_change(site: Path) -> None:
    put(site, Night())
    before = tree(site)
    with pytest.raises(PublishRefused) as refused:
        put(site, Night(outcomes="c" * 60), Night(slug="sae"))
    assert str(refused.value) == (
        "asme 2026-11-29 r1: published before with another eval.json, scores.csv, items.csv; "
        "a revision never changes, make a new one"
    )
    assert latest(site, "sae")["night"] == "2026-11-29"
    after = tree(site)
    changed = {name for name, content in before.items() if after[name] != content}
    assert {name for name in changed if "/asme/" in name} == {"standards/asme/eval/index.html"}


def test_a_revision_keeps_the_page_it_was_written_with(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(site, Night())
    before = tree(site)
    monkeypatch.setattr("harness.site.publish.static_file", lambda name: b"/* a later look */")
    put(site, Night())
    after = tree(site)
    revision = "standards/asme/eval/2026-11-29/r1/index.html"
    assert after[revision] == before[revision]
    assert after["standards/asme/eval/index.html"] != before["standards/asme/eval/index.html"]
    assert {name for name in before if name.startswith("static/")} <= after.keys()


def test_the_overview_shows_societies_of_earlier_nights_too(site: Path) -> None:
    put(site, Night(slug="sae", night="2026-11-27", outcomes="c" * 54), Night(slug="nfpa", night="2026-11-27"))
    put(site, Night(), Night(slug="nfpa"))
    index = json.loads((site / "standards" / "index.json").read_bytes())
    assert [(entry["society"]["id"], entry["night"]) for entry in index["societies"]] == [
        ("ASME", "2026-11-29"),
        ("NFPA", "2026-11-29"),
        ("SAE", "2026-11-27"),
    ]
    assert [entry["headline"] for entry in index["societies"]] == [
        latest(site, slug)["measures"][0] for slug in ("asme", "nfpa", "sae")
    ]
    text = read_page((site / "standards" / "index.html").read_bytes()).text()
    assert "2026-11-27" in text
    assert "54/54" in text


@pytest.mark.parametrize("place", ["gateway_version", "warnings", "rows"])
def test_error_a_canary_in_any_twin(site: Path, place: str) -> None:
    canary = "canary 3b1f-77 <held out>"
    told = result(Night(slug="sae"))
    if place == "rows":

        def rows() -> Iterator[ItemRow]:
            return (replace(row, score=replace(row.score, kind=canary)) for row in result(Night(slug="sae")).rows())

        told = replace(told, rows=rows)
    else:
        changed: dict[str, Any] = {place: (canary,) if place == "warnings" else canary}
        told = replace(told, **changed)
    put(site, Night())
    before = tree(site)
    with pytest.raises(PublishRefused, match=r"holds the canary of a held-out file; it was not published$") as refused:
        put(site, told, canaries=(canary,))
    assert canary not in str(refused.value)
    assert tree(site) == before


def test_sample_output_says_so_in_every_part_and_on_every_page(site: Path) -> None:
    put(site, result(Night(), demo=True))
    sample = "sample output of a demonstration: says nothing about any society, standard or gateway"
    assert all(sample in entry["claim"]["warnings"] for entry in latest(site)["measures"])
    pages = [content for name, content in tree(site).items() if name.endswith(".html")]
    assert len(pages) == 9
    assert all(b"Sample output." in content for content in pages)


def test_a_floor_whose_rule_is_a_bound_is_said_in_its_part_alone(site: Path) -> None:
    put(site, Night(rule="exact_binomial_95"))
    said = [
        (entry["name"], entry["stratum"])
        for entry in latest(site)["measures"]
        if any("floor's rule is a bound" in warning for warning in entry["claim"]["warnings"])
    ]
    assert said == [("citation_correctness", None)]


_KILLED = """
import sys
from pathlib import Path
from harness.site.publish import publish
from tests.site.killing import kill_at
from tests.site.results import Night, result

kill_at(int(sys.argv[2]))
publish(Path(sys.argv[1]), [result(Night()), result(Night(slug="sae"))], "urn:citehouse:test", base_url=sys.argv[3])
"""


@pytest.mark.parametrize("at", [1, 3, 9, 20, 40, 60, 80, 100, 120, 140, 160])
def test_killed_at_any_point_the_old_tree_or_the_new_one_is_whole(site: Path, tmp_path: Path, at: int) -> None:
    put(site, Night(night="2026-11-28"))
    before = tree(site)
    undisturbed = tmp_path / "undisturbed" / "site"
    put(undisturbed, Night(night="2026-11-28"))
    put(undisturbed, Night(), Night(slug="sae"))
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(site), str(at), BASE], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert tree(site) in (before, tree(undisturbed))
    put(site, Night(), Night(slug="sae"))
    assert tree(site) == tree(undisturbed)
