"""Sixty nights of seven societies: what the pages, charts, feeds and tables of a lived-in site say."""

import csv
import json
import re
import subprocess
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import feedparser  # type: ignore[import-untyped]
import pandas as pd
import pytest

from harness.site.text import visible
from harness.site.views import percent_shown
from tests.site.html import Element, read_page
from tests.site.numbers import known, parts, printed
from tests.site.results import NAMES
from tests.site.sixty import BASE, BREACHED, CANARY, HOSTILE, MISSED, NEW_SCORER, NEW_TERMS, NEW_TESTSET, SAE_MISSED
from tests.tools import require_file, require_tool

pytestmark = pytest.mark.xdist_group("sixty")

JAR = Path(__file__).parent.parent / "validators" / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"

SVG = "{http://www.w3.org/2000/svg}"


def read(site: Path, path: str) -> Element:
    return read_page((site / "standards" / path).read_bytes())


def data(site: Path, path: str) -> Any:
    return json.loads((site / "standards" / path).read_bytes())


def history(site: Path, slug: str) -> list[dict[str, Any]]:
    lines = (site / "standards" / slug / "eval" / "history.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def trend_rows(page: Element) -> dict[str, list[str]]:
    (section,) = page.find("section", **{"aria-labelledby": "trend"})
    return {
        row.find("time")[0].text(): [cell.text() for cell in row.find("td")]
        for row in section.find("tr")
        if row.find("time")
    }


@pytest.mark.parametrize(
    "place",
    [
        *(f"{slug}/eval" for slug in NAMES),
        "asme/eval/2026-10-22",
        "asme/eval/2026-10-22/r1",
        "asme/eval/2026-10-22/r2",
        "icc/eval/2026-10-31/r1",
        "awwa/eval/2026-10",
        "aci/eval/2026-11-29/r2",
    ],
)
def test_every_number_of_a_page_and_of_its_charts_is_in_its_data(sixty_site: Path, place: str) -> None:
    page = read(sixty_site, f"{place}/index.html")
    document = data(sixty_site, f"{place}/eval.json")
    slug = document["society"]["slug"]
    before = f"{slug}/eval/{document['night']}/r{document['revision'] - 1}/eval.json"
    told = [document, *history(sixty_site, slug), _trends(history(sixty_site, slug)), _tables(sixty_site, place)]
    if document["revision"] > 1:
        told.append(data(sixty_site, before))
    stale = [entry["stale"] for entry in data(sixty_site, "index.json")["societies"]]
    allowed = known(*told, stale, list(map(visible, HOSTILE)))
    found = list(printed(page))
    assert len(found) > 100
    assert [number for number in found if number not in allowed] == []
    claims = [entry["claim"] for entry in document["measures"] if entry["claim"] is not None]
    shown = list(parts(page))
    assert len(shown) >= 10
    assert all(part in claims for part in shown)


def _trends(entries: list[dict[str, Any]]) -> list[int]:
    """How many nights a trend may say that it has: up to all of them, missed ones too."""
    return list(range(len(entries) + 10))


def _tables(site: Path, place: str) -> list[int]:
    """How many rows each table has, as pages say them."""
    return [
        (site / "standards" / place / f"{name}.csv").read_bytes().count(b"\r\n") - 1
        for name in ("scores", "passages", "items")
    ]


def test_a_number_that_is_not_in_the_data_is_found(sixty_site: Path) -> None:
    content = (sixty_site / "standards" / "sae" / "eval" / "index.html").read_bytes()
    document = data(sixty_site, "sae/eval/eval.json")
    allowed = known(document, *history(sixty_site, "sae"), _trends(history(sixty_site, "sae")))
    percent = (percent_shown(document["measures"][0]["value"]) or "").encode()
    assert content.count(percent) > 3
    spoiled = read_page(content.replace(percent, b"12.3456"))
    assert "12.3456" in set(printed(spoiled)) - allowed


@pytest.mark.parametrize("slug", NAMES)
def test_the_trend_is_the_history_row_by_row(sixty_site: Path, slug: str) -> None:
    page = read(sixty_site, f"{slug}/eval/index.html")
    rows = trend_rows(page)
    last = data(sixty_site, f"{slug}/eval/eval.json")["night"]
    assert len(rows) == 60
    shown = {}
    for entry in history(sixty_site, slug):
        if len(entry["night"]) == 10 and entry["night"] <= last:
            shown[entry["night"]] = entry
    for night, cells in rows.items():
        if night not in shown:
            assert cells == ["no night was published"]
            continue
        (measure,) = shown[night]["measures"]
        assert cells[1] == f"{measure['good']}/{measure['valid']}"
        assert cells[2].replace(".", "").removesuffix(" %").lstrip("0") == measure["value"].replace(".", "").lstrip("0")
    missed = {night for night, cells in rows.items() if len(cells) == 1}
    assert missed == {*MISSED, *(SAE_MISSED if slug == "sae" else ())}


def test_the_trend_breaks_at_gaps_and_changes_and_marks_them(sixty_site: Path) -> None:
    def drawn(slug: str) -> tuple[int, int, list[str], Counter[str]]:
        (chart,) = [
            svg for svg in read(sixty_site, f"{slug}/eval/index.html").find("svg", class_="chart") if _is_trend(svg)
        ]
        shapes = Counter(point.attributes["class"] for point in chart.walk() if "point" in _classes(point))
        return (
            len(chart.find("path", class_="line")),
            len(chart.find("rect", class_="gap")),
            [letter.text() for letter in chart.find("text", class_="letter")],
            shapes,
        )

    lines, gaps, letters, shapes = drawn("asme")
    assert (lines, gaps, letters) == (3, 1, ["T"])
    assert shapes == {"point": 54, "point below": 4}
    assert drawn("sae")[:3] == (3, 2, [])
    assert drawn("aci")[:3] == (3, 1, ["S"])
    assert drawn("awwa")[:3] == (2, 1, ["C"])
    assert drawn("nfpa")[:3] == (2, 1, [])
    rows = trend_rows(read(sixty_site, "asme/eval/index.html"))
    assert rows[NEW_TESTSET][-1] == "T: test set changed, version 2026.11"
    assert trend_rows(read(sixty_site, "aci/eval/index.html"))[NEW_SCORER][-1] == "S: scorer changed, version 2"
    assert trend_rows(read(sixty_site, "awwa/eval/index.html"))[NEW_TERMS][-1] == "C: contract terms changed, version 2"
    assert [rows[night][0] for night in BREACHED] == ["Below floor", "Below floor", "Met", "Below floor", "Below floor"]


def _classes(element: Element) -> list[str]:
    return element.attributes.get("class", "").split()


def _is_trend(svg: Element) -> bool:
    return "chart-trend" in svg.attributes.get("aria-labelledby", "")


def test_every_chart_has_title_description_and_a_file_of_its_own(sixty_site: Path) -> None:
    folder = sixty_site / "standards" / "icc" / "eval" / "2026-10-31" / "r1"
    drawings = read_page((folder / "index.html").read_bytes()).find("svg", class_="chart")
    assert len(drawings) == 5
    for drawing in drawings:
        title, says = drawing.attributes["aria-labelledby"].split()
        assert drawing.find("title", id=title)[0].text()
        assert drawing.find("desc", id=says)[0].text().endswith(".")
        alone = ElementTree.fromstring((folder / f"{title.removesuffix('-title')}.svg").read_bytes())
        told = [text.text for text in alone.iter(f"{SVG}text")]
        assert told == [text.text() for text in drawing.find("text")]
        assert all(element.get("style") is None for element in alone.iter())


def test_the_chart_of_a_revision_knows_nothing_of_later_nights(sixty_site: Path) -> None:
    rows = trend_rows(read(sixty_site, "asme/eval/2026-10-22/r1/index.html"))
    assert max(rows) == "2026-10-22"
    assert rows["2026-10-22"][0] == "Below floor"
    assert trend_rows(read(sixty_site, "asme/eval/2026-10-22/index.html"))["2026-10-22"][0] == "Met"


def test_a_revision_says_what_changed_and_why_and_the_first_one_is_left_alone(sixty_site: Path) -> None:
    first = read(sixty_site, "asme/eval/2026-10-22/r1/index.html")
    assert first.find("section", class_="revised") == []
    for place in ("asme/eval/2026-10-22", "asme/eval/2026-10-22/r2"):
        (banner,) = read(sixty_site, f"{place}/index.html").find("section", class_="revised")
        assert banner.text().startswith("Revision 2: the gold set was corrected Scored again from the stored answers")
        rows = {row.find("th")[0].text(): [cell.text() for cell in row.find("td")] for row in banner.find("tr")[1:]}
        assert rows["Status"] == ["Below floor", "Met"]
        assert rows["Exact citation within the first k passages"] == ["101/110, 91.8181 %", "107/110, 97.2727 %"]
        assert rows["Expectations: correct"] == ["101", "107"]
        assert all(before != after for before, after in rows.values())
    told = data(sixty_site, "eval/revisions/index.json")["revisions"]
    assert [(entry["slug"], entry["night"], entry["revision"], entry["reason"]) for entry in told] == [
        ("asme", "2026-10-22", 2, "gold_corrected"),
        ("aci", "2026-11-29", 2, "gold_corrected"),
    ]
    page = read(sixty_site, "eval/revisions/index.html")
    assert [row.find("a")[0].text() for row in page.find("tr")[1:]] == [
        "ACI, 2026-11-29, revision 2",
        "ASME, 2026-10-22, revision 2",
    ]
    assert "101/110, 91.8181 %" in page.text()


def test_a_page_whose_next_night_was_refused_says_so(sixty_site: Path) -> None:
    (notice,) = read(sixty_site, "sae/eval/index.html").find("div", class_="stale")
    assert notice.text().startswith("Not up to date. Revision 1 of 30 November 2026 was measured and not published")
    marked = {entry["society"]["slug"]: entry["stale"] for entry in data(sixty_site, "index.json")["societies"]}
    assert marked == dict.fromkeys(NAMES) | {"sae": {"night": "2026-11-30", "revision": 1}}
    assert "not up to date: revision 1 of 2026-11-30" in read(sixty_site, "index.html").text()
    assert not (sixty_site / "standards" / "sae" / "eval" / "2026-11-30").exists()


def test_the_calendar_shows_every_night_and_what_is_missing(sixty_site: Path) -> None:
    october = read(sixty_site, "eval/calendar/2026-10/index.html")
    rows = {row.find("th")[0].text(): row.find("td") for row in october.find("tr")[1:]}
    assert rows.keys() == {name for name, *_ in NAMES.values()}
    for name, (lost, *days) in rows.items():
        assert lost.text() == "2"
        assert len(days) == 31
        signs = [day.text() for day in days]
        assert signs[12:14] == ["×", "×"]
        assert signs[19:24] == (["▼", "▼", "●", "▼", "▼"] if name == "ASME" else [signs[0]] * 5)
    november = read(sixty_site, "eval/calendar/index.html")
    missing = {row.find("th")[0].text(): row.find("td")[0].text() for row in november.find("tr")[1:]}
    assert missing == {name: "3" if name == "SAE" else "0" for name, *_ in NAMES.values()}
    cells = data(sixty_site, "eval/calendar/2026-10/index.json")["nights"]["asme"]
    assert cells["2026-10-22"] == {"status": "met", "revision": 2}
    (link,) = [a for a in october.find("a") if a.attributes.get("aria-label") == "ASME, 2026-10-20: Below floor"]
    target = (sixty_site / "standards/eval/calendar/2026-10").joinpath(link.attributes["href"])
    assert target.resolve() == (sixty_site / "standards/asme/eval/2026-10-20/index.html").resolve()


def test_a_month_is_linked_from_the_latest_page(sixty_site: Path) -> None:
    page = read(sixty_site, "awwa/eval/index.html")
    assert [link.attributes["href"] for link in page.find("a") if link.text() == "October 2026"] == [
        "2026-10/index.html"
    ]
    month = read(sixty_site, "awwa/eval/2026-10/index.html")
    assert len(trend_rows(month)) == 31


@pytest.mark.parametrize("slug", NAMES)
def test_the_feed_is_read_by_a_feed_reader(sixty_site: Path, slug: str) -> None:
    content = (sixty_site / "standards" / slug / "eval" / "feed.atom").read_bytes()
    feed = feedparser.parse(content)
    assert feed.bozo is False and feed.version == "atom10"
    assert len(feed.entries) == 40
    assert len({entry.id for entry in feed.entries}) == 40
    newest, told = feed.entries[0], history(sixty_site, slug)[-1]
    (measure,) = told["measures"]
    assert f"{measure['good']}/{measure['valid']}" in newest.title
    assert f"revision {told['revision']}" in newest.title
    assert newest.link == f"{BASE}/standards/{slug}/eval/{told['night']}/r{told['revision']}/"
    assert "29 November 2026" in newest.title


def test_a_revision_has_an_entry_of_its_own_in_the_feed(sixty_site: Path) -> None:
    feed = feedparser.parse((sixty_site / "standards" / "aci" / "eval" / "feed.atom").read_bytes())
    assert feed.entries[0].summary.split(". ")[1] == "Revision 2 replaces revision 1: the gold set was corrected"
    assert "revision 1" in feed.entries[1].title


@pytest.mark.parametrize("slug", NAMES)
def test_the_badge_says_night_revision_and_counts_and_leads_to_the_revision(sixty_site: Path, slug: str) -> None:
    badge = ElementTree.fromstring((sixty_site / "standards" / slug / "eval" / "badge.svg").read_bytes())
    told = data(sixty_site, f"{slug}/eval/eval.json")
    headline = told["measures"][0]
    text = " ".join(each.text or "" for each in badge.iter(f"{SVG}text"))
    assert f"{headline['good']}/{headline['valid']}" in text
    assert f"{told['night']} r{told['revision']}" in text
    (link,) = badge.iter(f"{SVG}a")
    assert link.get("href") == f"{BASE}/standards/{slug}/eval/{told['night']}/r{told['revision']}/"


@pytest.mark.parametrize("slug", NAMES)
def test_the_history_is_read_by_pandas_and_holds_no_formula(sixty_site: Path, slug: str) -> None:
    folder = sixty_site / "standards" / slug / "eval"
    frame = pd.read_csv(folder / "history.csv", dtype=str)
    told = history(sixty_site, slug)
    assert list(frame["night"]) == [entry["night"] for entry in told for _ in entry["measures"]]
    assert list(frame["value"]) == [measure["value"] for entry in told for measure in entry["measures"]]
    for row in csv.reader(StringIO((folder / "history.csv").read_text("utf-8"))):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)
    scores = pd.read_csv(folder / "scores.csv")
    assert int(scores["correct"].sum()) == data(sixty_site, f"{slug}/eval/eval.json")["outcomes"]["correct"]


def test_the_page_is_a_dataset_with_the_numbers_of_its_data(sixty_site: Path) -> None:
    page = read(sixty_site, "asme/eval/2026-10-22/r2/index.html")
    (script,) = page.find("script", type="application/ld+json")
    told = json.loads("".join(str(child) for child in script.children))
    document = data(sixty_site, "asme/eval/2026-10-22/r2/eval.json")
    values = {entry["name"]: entry["value"] for entry in document["measures"] if entry["stratum"] is None}
    assert {each["name"]: each["value"] for each in told["variableMeasured"]} == values
    assert told["@type"] == "Dataset" and told["url"] == f"{BASE}/standards/asme/eval/2026-10-22/r2/"
    for each in told["distribution"]:
        assert (sixty_site / each["contentUrl"].removeprefix(f"{BASE}/")).is_file()


def test_hostile_strings_are_text_in_every_kind_of_file(sixty_site: Path) -> None:
    folder = sixty_site / "standards" / "asce" / "eval"
    plain = read(sixty_site, "sae/eval/index.html")
    page = read(sixty_site, "asce/eval/index.html")
    assert {each.tag for each in page.walk()} <= {each.tag for each in plain.walk()} | {"ul"}
    assert not any(name.startswith("on") for each in page.walk() for name in each.attributes)
    (script,) = page.find("script")
    assert HOSTILE[0] not in script.text()
    for drawing in folder.glob("*.svg"):
        tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(drawing.read_bytes()).iter()}
        assert tags <= {"svg", "title", "desc", "rect", "text", "line", "path", "circle", "a"}
    for path in folder.iterdir():
        if path.is_file():
            content = path.read_bytes().decode("utf-8")
            if path.suffix not in (".json", ".jsonl"):
                assert not set("\u202e\u2066") & set(content), path
                assert "x" * 1000 not in re.sub(r"<pre>.*?</pre>", "", content, flags=re.DOTALL), path
    assert data(sixty_site, "asce/eval/eval.json")["faults"]["citation"][HOSTILE[4]] == 3


def test_no_canary_is_in_any_file(sixty_site: Path) -> None:
    found = subprocess.run(["grep", "-rlF", CANARY, f"{sixty_site}/"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")


def test_the_checker_of_the_w3c_finds_nothing(sixty_site: Path) -> None:
    require_tool("java")
    require_file(JAR, "npm ci --prefix tests/validators")
    standards = sixty_site / "standards"
    pages = [
        sixty_site / "404.html",
        standards / "index.html",
        *standards.glob("eval/*/index.html"),
        standards / "eval/calendar/2026-10/index.html",
        *standards.glob("*/eval/index.html"),
        standards / "asme/eval/2026-10-22/index.html",
        standards / "asme/eval/2026-10-22/r1/index.html",
        standards / "awwa/eval/2026-10/index.html",
        *standards.glob("asce/eval/*.svg"),
        *standards.glob("icc/eval/2026-10-31/*.svg"),
        *(sixty_site / "static").glob("*.css"),
    ]
    checked = subprocess.run(
        ["java", "-jar", str(JAR), "--also-check-css", "--also-check-svg", *map(str, pages)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")
