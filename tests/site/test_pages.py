"""Pages: every figure beside its part, statuses in words, hostile strings harmless, no script and no other host."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from harness.scoring.model import Interval
from harness.site.history import entry_of
from harness.site.index import index_entry
from harness.site.model import EvalResult, Previous
from harness.site.pages import Assets, EvalPage, Frame, place_of, render_overview
from harness.site.tables import SavedTable
from harness.site.text import encodable
from tests.site.html import Element, read_page
from tests.site.results import Night, document, result

FRAME = Frame(
    assets=Assets(stylesheet="static/style-1.css", icon="static/mark-1.svg"),
    contact="evaluation@citehouse.example",
    sample=False,
)
TABLES = [SavedTable(name="scores.csv", says="one row per expectation", sha256="5" * 64, rows=60)]
PREVIOUS = Previous(night="2026-11-28", value="0.9", better=2, worse=0, compared=416, mcnemar_p="0.500000")
BREACHED = Night(outcomes="c" * 392 + "i" * 10 + "m" * 4 + "g" * 10, clusters=60, previous=PREVIOUS)


def page(told: EvalResult, warnings: tuple[str, ...] = ()) -> Element:
    shown = document(told, warnings)
    frame = replace(FRAME, contact=told.contact, sample=told.demo)
    society = f"standards/{told.slug}/eval"
    place = place_of(society, f"{society}/{told.night}/r{told.revision}")
    return read_page(EvalPage(told, shown, TABLES, [entry_of(shown)], None, "").at(place, frame))


def section(root: Element, heading: str) -> Element:
    (found,) = root.find("section", **{"aria-labelledby": heading})
    return found


def row(root: Element, heading: str) -> list[str]:
    """The cells of the row of that heading."""
    for line in root.find("tr"):
        heads = line.find("th", scope="row")
        if heads and heads[0].text().startswith(heading):
            return [cell.text() for cell in line.find("td")]
    raise LookupError(heading)


def test_the_verdict_says_status_counts_share_interval_floor_and_change() -> None:
    (verdict,) = page(result(BREACHED)).find("div", class_="verdict")
    text = verdict.text()
    for told in (
        "Below floor",
        "94.2307%",
        "392/416 expectations correct",
        "95 % interval",
        "Wilson, cluster-adjusted",
        "Floor 95 %below if good / valid is strictly less than the floor",
        "416 queries in 60 clusters, 416 expectations",
        "2 better, 0 worse of 416: within chance (p = 0.50)",
    ):
        assert told in text


def test_outcomes_are_listed_and_add_up() -> None:
    outcomes = section(page(result(BREACHED)), "outcomes")
    counts = [int(row(outcomes, word)[-1]) for word in ("Correct", "Incorrect", "Missing", "Gateway", "Harness")]
    assert counts == [392, 10, 4, 10, 0]
    assert row(outcomes, "Planned")[-1] == str(sum(counts))


def test_every_value_of_the_document_stands_beside_its_part() -> None:
    told = result(BREACHED)
    root = page(told)
    entries = [entry for entry in document(told).measures if entry.stratum is None]
    measures = section(root, "measures")
    lines = [line for line in measures.find("tr") if line.find("th", scope="row")]
    parts = measures.find("details", class_="claim")
    assert len(lines) == len(parts) == len(entries) > 10
    for entry, line, part in zip(entries, lines, parts, strict=True):
        shown = line.find("span", class_="percent")[0].text().removesuffix(" %")
        assert entry.value is not None and entry.claim is not None
        assert shown.replace(".", "").lstrip("0") == entry.value.replace(".", "").lstrip("0")
        assert f'"value": "{entry.value}"' in part.find("pre")[0].text()
        assert f"n = {entry.valid}" in part.text()


def test_every_percent_of_the_whole_page_has_its_part() -> None:
    """Headline, floors, measures and breakdowns: as many parts as shares, value by value, and none without."""
    told = result(BREACHED)
    root = page(told)
    parts = root.find("details", class_="claim")
    values = [re.findall(r'"value": "([0-9.]+)"', part.find("pre")[0].text()) for part in parts]
    assert all(len(found) == 1 for found in values)
    shown = [span.text().removesuffix(" %") for kind in ("percent", "big") for span in root.find("span", class_=kind)]
    claimed = sorted(_digits(found[0]) for found in values)
    told_of = document(told)
    rows = [entry for entry in told_of.measures if entry.stratum is None or entry.name == "citation_correctness"]
    headline_itself = 1
    assert len(parts) == headline_itself + len(told_of.floors) + len(rows) > 15
    for percent in shown:
        assert _digits(percent) in claimed, percent
    headline = next(entry for entry in document(told).measures if entry.name == "citation_correctness")
    whole = [found for found in values if found == [headline.value]]
    assert len(whole) >= 3  # the headline, its floor and its row among the measures
    for warning in headline.claim["warnings"] if headline.claim else ():
        assert sum(item.text() == warning for item in root.find("li")) >= 2  # beside the headline and its floor


def _digits(number: str) -> str:
    return number.replace(".", "").strip("0")


def test_warnings_are_never_folded() -> None:
    root = page(result(Night(outcomes="c" * 50 + "i" * 4)))
    folded = {text.text() for details in root.find("details") for text in details.find("li")}
    shown = {text.text() for text in root.find("li")}
    assert folded == set()
    assert "base 54 is below 100" in shown


def test_a_warning_that_all_share_stands_once_above_the_table_and_others_in_their_row() -> None:
    measures = section(page(result(Night(outcomes="c" * 50 + "m" * 4)), warnings=("provisional",)), "measures")
    (notice,) = measures.find("div", class_="notice")
    assert [warning.text() for warning in notice.find("li")] == ["provisional"]
    inside = [warning.text() for line in measures.find("tr") for warning in line.find("li")]
    assert "base 54 is below 100" in inside
    assert "provisional" not in inside


@pytest.mark.parametrize(
    ("night", "word", "code"),
    [
        (Night(), "Met", "met"),
        (BREACHED, "Below floor", "breached"),
        (Night(outcomes="h" * 30), "Not run", "not_run"),
        (Night(outcomes="c" * 5), "Insufficient data", "insufficient_data"),
        (Night(floor=None), "No floor", "no_floor"),
    ],
)
def test_a_status_is_a_word_with_a_shape(night: Night, word: str, code: str) -> None:
    root = page(result(night))
    (verdict,) = root.find("div", class_="verdict")
    status = verdict.find("span", class_=f"status-{code}")[0]
    assert status.text() == word
    (shape,) = status.find("svg")
    assert shape.attributes["aria-hidden"] == "true"


def test_no_data_is_said_and_no_number_printed() -> None:
    root = page(result(Night(outcomes="h" * 30)))
    assert root.find("details", class_="claim") == []
    assert root.find("svg", class_="gauge") == []
    assert {cell.text() for cell in root.find("span", class_="percent")} == {"no data"}


def test_the_chip_is_the_citation_with_its_brackets_hidden_from_readers() -> None:
    (chip,) = page(result()).find("span", class_="chip")
    assert chip.text() == "[ASME B31.3 §304.1.2]"
    assert [part.text() for part in chip.find("span", class_="bracket")] == ["[", "]"]
    assert all(part.attributes["aria-hidden"] == "true" for part in chip.find("span", class_="bracket"))
    assert chip.find("span", class_="identifier")[0].text() == "ASME B31.3"
    assert chip.find("span", class_="section")[0].text() == "§304.1.2"


def test_conditions_of_the_run_are_named() -> None:
    text = section(page(result(BREACHED)), "conditions").text()
    for told in (
        "2026.11, 416 items, 416 expectations",
        f"sha256:{result().testset_sha256}",
        "B31.3: 2022",
        "first 5",
        "median 41 ms, 95th percentile 163 ms, longest 902 ms",
        "416 asked, 20 retried, 416 billed",
        "266240",
        "rest, reference 0.1.0",
        "0.1.0, scorer version 1",
        "2026-11-29-asme-1",
    ):
        assert told in text


def test_an_undated_standard_is_named_so() -> None:
    assert (
        "B31.3: 2018, 2022; M11: undated"
        in section(page(result(editions={"M11": (), "B31.3": (2018, 2022)})), "conditions").text()
    )


def test_twins_contact_and_permalink_are_linked() -> None:
    root = page(result())
    links = {link.attributes["href"] for link in root.find("a")}
    assert {"eval.json", "scores.csv", "2026-11-29/r1/index.html", "../../../standards/index.html"} <= links
    (footer,) = root.find("footer")
    assert "Found an error? Write to evaluation@citehouse.example" in footer.text()
    assert f"sha256:{'5' * 64}" in section(root, "rerun").text()


def test_sample_output_says_so() -> None:
    assert [note.text()[:14] for note in page(result(demo=True)).find("div", class_="sample")] == ["Sample output."]
    assert page(result()).find("div", class_="sample") == []


def test_reasons_of_a_floor_are_printed() -> None:
    told = result(BREACHED)
    assessment = replace(told.assessments[0], reasons=("24 of 416 calls failed",))
    assert "24 of 416 calls failed" in section(page(replace(told, assessments=(assessment,))), "floors").text()


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></pre></details><h1>owned",
    "<svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    '=HYPERLINK("http://evil.example")',
    "a\u202eb\u2066c\x00\ud800",
    "javascript:alert(1)",
    "x" * 10_000,
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_strings_are_text(hostile: str) -> None:
    plain = result(BREACHED)
    changed: dict[str, Any] = {
        "gateway_version": hostile,
        "citation_faults": {hostile: 3},
        "gateway_faults": {hostile: 2},
        "warnings": (hostile,),
        "run_id": encodable(hostile),
        "contact": encodable(hostile),
    }
    root = page(replace(plain, **changed))
    assert tags(root) == tags(page(replace(plain, **harmless(changed))))
    assert not any(name.startswith("on") for element in root.walk() for name in element.attributes)
    assert not any("\u202e" <= letter <= "\u2069" for letter in section(root, "faults").text())
    assert "49{% raw %}" not in root.text()


def harmless(changed: dict[str, Any]) -> dict[str, Any]:
    """The same fields with a harmless string."""
    return {
        name: {"plain": next(iter(value.values()))}
        if isinstance(value, dict)
        else ("plain",)
        if isinstance(value, tuple)
        else "plain"
        for name, value in changed.items()
    }


def tags(root: Element) -> list[str]:
    return [element.tag for element in root.walk()]


@pytest.mark.parametrize("told", [result(BREACHED), result(Night(outcomes="h" * 30)), result(Night(floor=None))])
def test_a_page_needs_no_script_no_inline_style_and_no_other_host(told: EvalResult) -> None:
    root = page(told)
    assert [script.attributes["type"] for script in root.find("script")] == ["application/ld+json"]
    assert root.find("style") == []
    for element in root.walk():
        assert "style" not in element.attributes
        for name in ("href", "src", "action"):
            assert "//" not in element.attributes.get(name, "")


def test_tables_have_scopes_and_times_are_machine_readable() -> None:
    root = page(result(BREACHED))
    assert root.find("th")
    assert all(head.attributes.get("scope") in ("row", "col") for head in root.find("th"))
    assert {time.attributes["datetime"] for time in root.find("time")} == {
        "2026-11-29",
        "2026-11-28",
        "2026-11-29T02:17:00Z",
        "2026-11-29T02:19:30Z",
    }


def test_ids_are_unique_and_every_label_is_there() -> None:
    root = page(result(BREACHED))
    ids = [element.attributes["id"] for element in root.walk() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {element.attributes["aria-labelledby"] for element in root.find("section")} <= set(ids)


def test_the_overview_lists_every_society_with_its_headline() -> None:
    nights = [BREACHED, Night(slug="sae", outcomes="c" * 52 + "i" * 2), Night(slug="nfpa", outcomes="h" * 30)]
    documents = [document(result(night)) for night in nights]
    entries = [index_entry(each, [entry_of(each)]) for each in documents]
    root = read_page(render_overview(entries, FRAME, "2026-11-29"))
    drawn = "drawn on the society’s page"
    told = row(root, "ASME")
    assert told == ["2026-11-29", "Below floor", drawn, "392/416", "94.2307 %", told[5], "95 %"]
    assert re.fullmatch(r"\d\d\.\d{4} to \d\d\.\d{4} %", told[5])
    assert row(root, "NFPA")[1:5] == ["Not run", "–", "0/0", "no data"]
    assert [link.attributes["href"] for link in root.find("a") if link.text() == "SAE"] == ["sae/eval/index.html"]
    assert len(root.find("details", class_="claim")) == 2
    assert "base 54 is below 100" in root.text()


def test_an_interval_never_loses_its_method() -> None:
    told = result()
    other = Interval(method="bayes", low=0.1, high=0.99, n_effective=3.0)
    measures = tuple(replace(measure, interval=other) for measure in told.measures)
    assert "bayes" in section(page(replace(told, measures=measures)), "measures").text()


def test_a_part_is_shown_as_json_that_nothing_reorders() -> None:
    root = page(result(), warnings=("a\u202eb § \U0001d173",))
    shown = root.find("pre")[0].text()
    assert r"a\u202eb § \ud834\udd73" in shown
    assert json.loads(shown)["warnings"][0] == "a\u202eb § \U0001d173"
