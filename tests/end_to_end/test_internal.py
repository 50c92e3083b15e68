"""The internal report of whole nights: every expectation that was not correct is in it, it waits for nothing and
nothing waits for it, and what a gateway returns cannot run in it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright
from sqlalchemy import text

from harness.cli.shown import item_lines
from harness.errors import PublishRefused
from harness.gateway.answer import Reason
from harness.nightly.inspect import compare, inspect_item
from harness.nightly.internal import InternalPlace
from harness.nightly.rescore import rescore
from harness.scoring.model import Outcome
from harness.store.runs import find_answers, find_run, find_runs
from harness.store.scores import iter_faults, iter_scores, latest_revision
from tests.end_to_end.command import gateway_place
from tests.end_to_end.deployment import OLD, RIGHT, WRONG, Deployment, Reply, open_deployment, write_acme
from tests.end_to_end.quarter import NIGHTLY
from tests.site.browser import chromium
from tests.site.html import read_page

FIRST, SECOND = date(2026, 7, 1), date(2026, 7, 2)

RUNS = "window.ran = true"
MARKUP = f'</script><script>{RUNS}</script><img src="http://elsewhere.example/x" onerror="{RUNS}">\u2028\u202e'

LONG = RIGHT | {"citation": "[ACME P100 " + "§1.2" * 2_500 + "]"}

REPLIES: dict[int, Reply] = {
    2: WRONG,
    3: OLD,
    4: Reason.HTTP_5XX,
    5: RIGHT | {"citation": "ACME P100\u00a0§1.2"},
    6: RIGHT | {"citation": ["[ACME P100 §1.2]"], "edition_year": "2022"},
    7: {name: value for name, value in RIGHT.items() if name != "citation"},
    8: LONG,
    9: dict.fromkeys(RIGHT, MARKUP),
}
"""What the gateway returns on the second night, by item; right answers to the others."""


def script(_slug: str, night: date, number: int) -> Reply:
    if night == FIRST:
        return WRONG if number in (1, 2) else RIGHT
    return REPLIES.get(number, RIGHT)


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    opened = open_deployment(tmp_path, script)
    write_acme(tmp_path / "testsets", "gamma", NIGHTLY)
    yield opened
    opened.close()


def path(deployment: Deployment, night: date) -> Path:
    return deployment.folder / "internal" / night.isoformat() / "gamma.html"


def read(deployment: Deployment, night: date) -> tuple[str, list[list[Any]], dict[str, Any]]:
    """The report's text without its rows, the rows and their tables."""
    page = path(deployment, night).read_text("utf-8")
    blocks = re.findall(r'<script type="application/json" id="data-[a-z]+">(.*?)</script>', page, re.DOTALL)
    rows, tables = map(json.loads, blocks)
    return " ".join(read_page(page.encode()).find("main")[0].text().split()), rows, tables


def quoted(parts: list[list[Any]] | None) -> str:
    return "" if parts is None else "".join(text for _, *texts in parts for text in texts)


def test_every_expectation_that_was_not_correct_is_there_with_what_is_known_of_it(deployment: Deployment) -> None:
    deployment.nightly(FIRST)
    deployment.nightly(SECOND)
    engine = deployment.stages.place.engine
    run = find_runs(engine, SECOND.isoformat())[0]
    revision = latest_revision(engine, run.run_id, "gamma")
    assert revision is not None
    wrong = {
        (score.item, ended.expectation): ended
        for score in iter_scores(engine, revision.key)
        for ended in score.expectations
        if ended.outcome is not Outcome.CORRECT
    }
    diagnoses = {(item, number): json.loads(text) for item, number, text in iter_faults(engine, revision.key)}
    text, rows, tables = read(deployment, SECOND)
    assert {(row[0], row[1]) for row in rows} == set(wrong) == {(f"acme-{number:04d}", 1) for number in REPLIES}
    for row in rows:
        ended, (answer,) = wrong[row[0], 1], find_answers(engine, run.run_id, row[0])
        number = int(row[0].rpartition("-")[2])
        assert row[2] == f"What holds for case {number}?"
        assert [quoted(parts) for parts in row[3]] == ["[ACME P100 §1.2]"]
        assert tables["outcomes"][row[6]] == ended.outcome
        assert (tables["standards"][row[8]], tables["kinds"][row[9]], row[10]) == ("P100", "section", ended.rank)
        assert (row[11], row[12], row[14]) == (answer.latency_ms, answer.attempts, answer.place)
        assert row[15] == (answer.ledger_entry_id or "")
        segment = (path(deployment, SECOND).parent / tables["segments"][row[13]]).resolve()
        assert segment == deployment.stages.place.blobs.path(answer.segment)
        shapes = [tables["shapes"][shape] for shape in row[7]]
        diagnosis = diagnoses.get((row[0], 1))
        if diagnosis is None:
            assert shapes == ["http_5xx"]
        else:
            told = [] if diagnosis["string"] is None else [diagnosis["string"]]
            told += [f"{name}: {shape}" for name, shape in diagnosis["fields"].items()]
            assert shapes == told + [f"passage: {shape}" for shape in diagnosis["passage"]]
    assert "11/20" not in text and "12/20" in text
    assert all(word in text for word in ("Below floor", run.run_id, "revision 1", "Incorrect 7", "Gateway error 1"))


def test_what_differs_is_marked_and_failed_checks_have_both_values(deployment: Deployment) -> None:
    deployment.nightly(SECOND)
    _, rows, _ = read(deployment, SECOND)
    found = {int(row[0].rpartition("-")[2]): row for row in rows}
    assert found[2][4] == [[1, "["], [2, "ACME P100"], [0, " "], [3, "§1.", "3"], [1, "]"]]
    assert found[3][5] == [["edition_year", ["20", "22"], ["20", "18"]]]
    assert found[4][4:6] == [None, []]
    assert found[5][4] == [[0, "ACME P100", "<U+00A0>", "§1.2"]]
    assert found[5][5] == [["citation"]]
    assert quoted(found[6][4]) == '["[ACME P100 §1.2]"]'
    assert ["edition_year", ["2022"], ["", '"', "2022", '"']] in found[6][5]
    assert found[7][4] is None
    assert found[8][4][0][-1].endswith("§…") and len(quoted(found[8][4])) == 201
    assert len(found[9][5]) == 6


def test_flips_are_those_of_harness_compare(deployment: Deployment) -> None:
    deployment.nightly(FIRST)
    assert "There is no earlier official night to compare with." in read(deployment, FIRST)[0]
    deployment.nightly(SECOND)
    compared = compare(deployment.stages, (FIRST.isoformat(), SECOND.isoformat()), ["gamma"], force=False)["gamma"]
    assert (len(compared.better), len(compared.worse)) == (1, 7)
    text, _, _ = read(deployment, SECOND)
    assert "Against 2026-07-01: 1 better, 7 worse of 20 compared; exact McNemar p = 0.070312." in text
    listed = re.search(
        r"7 worse: correct then, not correct now(.*)1 better: not correct then, correct now(.*)Not c", text
    )
    assert listed is not None
    for keys, side in ((compared.worse, listed[1]), (compared.better, listed[2])):
        assert re.findall(r"acme-\d+", side) == [item for item, _ in keys]


def test_nights_that_cannot_be_compared_are_said_to_be_so(deployment: Deployment, tmp_path: Path) -> None:
    deployment.nightly(FIRST)
    later = deployment.with_testsets(tmp_path / "other")
    write_acme(tmp_path / "other", "gamma", NIGHTLY, corrected=(2,), version="2")
    later.nightly(SECOND)
    text, _, _ = read(deployment, SECOND)
    assert "2026-07-01 and 2026-07-02 cannot be compared: test sets differ" in text
    assert "harness compare 2026-07-01 2026-07-02 --society gamma --force" in text


def test_a_rescored_night_has_its_latest_revision_s_report(deployment: Deployment, tmp_path: Path) -> None:
    deployment.nightly(SECOND)
    write_acme(tmp_path / "other", "gamma", NIGHTLY, corrected=(2,), version="2")
    rescore(deployment.with_testsets(tmp_path / "other").stages, SECOND, "gold_corrected", ["gamma"])
    text, rows, _ = read(deployment, SECOND)
    assert "revision 2" in text
    assert "acme-0002" not in {row[0] for row in rows}


def test_the_same_night_again_is_the_same_file(deployment: Deployment) -> None:
    deployment.nightly(SECOND)
    before = path(deployment, SECOND).read_bytes()
    deployment.nightly(SECOND)
    assert path(deployment, SECOND).read_bytes() == before


def test_a_refused_publishing_still_has_its_report(deployment: Deployment) -> None:
    foreign = replace(deployment.stages, site=replace(deployment.stages.site, deployment="another"))
    deployment.nightly(FIRST)
    with pytest.raises(PublishRefused):
        replace(deployment, stages=foreign).nightly(SECOND)
    assert len(read(deployment, SECOND)[1]) == len(REPLIES)


def test_a_report_that_cannot_be_written_holds_nothing_back(deployment: Deployment) -> None:
    """Also not the nights after it: what failed is kept for the command to end with."""
    (deployment.folder / "internal").write_text("a file where the folder belongs")
    deployment.nightly(FIRST)
    deployment.nightly(SECOND)
    assert (deployment.folder / "site" / "standards" / "gamma" / "eval" / "2026-07-02").is_dir()
    assert deployment.ledger.count() == 4
    told = [str(error) for error in deployment.stages.internal.failures]
    assert [message.partition(" to ")[0] for message in told] == [
        f"night {night} gamma: the internal report was not written" for night in (FIRST, SECOND)
    ]


def test_a_broken_row_is_no_reason_to_lose_a_number(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RecursionError("held-out text")

    monkeypatch.setattr("harness.nightly.internal.failed_checks", broken)
    deployment.nightly(SECOND)
    (failure,) = deployment.stages.internal.failures
    assert "RecursionError" in str(failure) and "held-out text" not in str(failure)
    assert deployment.ledger.count() == 2
    assert list(path(deployment, SECOND).parent.iterdir()) == []


def test_without_a_gateway_s_address_there_are_no_links_to_it(deployment: Deployment) -> None:
    place = InternalPlace(root=deployment.folder / "internal", gateway=None)
    replace(deployment, stages=replace(deployment.stages, internal=place)).nightly(SECOND)
    page = path(deployment, SECOND).read_text("utf-8")
    assert "/api/v1/calls/" not in re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL)
    assert "call-acme-0002" in page


def test_a_hostile_gateway_s_strings_do_nothing_in_a_browser(deployment: Deployment) -> None:
    deployment.nightly(SECOND)
    address = path(deployment, SECOND).as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(address)
        expect(page.get_by_role("status")).to_have_text("Rows 1 to 8 of 8, page 1 of 1")
        assert page.evaluate("window.ran === undefined")
        assert (asked, said) == ([address], [])
        assert page.locator("img, iframe").count() == 0
        row = page.locator("#table tbody").last.inner_text()
        assert f"<script>{RUNS}</script>" in row and "<U+2028><U+202E>" in row
        browser.close()


def test_show_prints_gold_and_returned_under_each_other(deployment: Deployment) -> None:
    deployment.nightly(SECOND)
    run = find_runs(deployment.stages.place.engine)[0].run_id
    lines = list(item_lines(inspect_item(deployment.stages, run, "acme-0002")))
    start = lines.index("  incorrect, passage 1, failed checks: section, section_path, citation")
    assert lines[start + 1 : start + 10] == [
        "  gold                [ACME P100 §1.2]",
        "                                    ^",
        "  returned            [ACME P100 §1.3]",
        "                                    ^",
        "  section",
        '    expected          "§1.2"',
        "                          ^",
        '    found             "§1.3"',
        "                          ^",
    ]
    assert "  ledger entry: https://gateway.example/api/v1/calls/call-acme-0002" in lines
    (answer,) = find_answers(deployment.stages.place.engine, run, "acme-0002")
    segment = deployment.stages.place.blobs.path(answer.segment)
    assert f"  transcript: {segment}, place {answer.place}" in lines
    assert any(line.endswith("usable, 5 ms, 1 attempt") for line in lines)


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (4, "  returned            (nothing)"),
        (5, r"  returned            ACME P100\xa0§1.2"),
        (7, "  returned            (no citation)"),
    ],
)
def test_show_says_what_was_returned_in_place_of_a_citation(deployment: Deployment, number: int, line: str) -> None:
    deployment.nightly(SECOND)
    run = find_runs(deployment.stages.place.engine)[0].run_id
    assert line in list(item_lines(inspect_item(deployment.stages, run, f"acme-{number:04d}")))


def test_show_prints_nothing_that_a_terminal_obeys(deployment: Deployment) -> None:
    deployment.nightly(SECOND)
    run = find_runs(deployment.stages.place.engine)[0].run_id
    for number in REPLIES:
        lines = list(item_lines(inspect_item(deployment.stages, run, f"acme-{number:04d}")))
        assert all(line.isprintable() for line in lines)


def test_a_nightly_says_where_its_reports_are_and_ends_with_what_failed(tmp_path: Path) -> None:
    with gateway_place(tmp_path, "demo") as place:
        place.reports.mkdir()
        blocked = place.reports / "internal"
        blocked.write_text("a file where the folder belongs")
        ended = place.nightly("--society", "sae")
        night = place.runs()[0].night
        report = f"reports/internal/{night}/sae.html"
        assert ended.returncode == 1
        assert "below floor" in ended.stdout
        assert ended.stderr.splitlines()[-1] == (
            f"harness: night {night} sae: the internal report was not written to {report} (File exists). "
            f"No number waits for it; `harness publish --night {night}` writes it anew."
        )
        assert len(place.events()) == 2
        assert (place.site / "standards" / "sae" / "eval" / "index.html").is_file()
        blocked.unlink()
        again = place.run("publish", "--night", night)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == f"Internal reports: reports/internal/{night}"
    assert (tmp_path / report).is_file()
    assert not list(place.site.resolve().rglob("*internal*"))
    with place.engine() as engine, engine.connect() as connection:
        wrong = connection.execute(text("SELECT item_id FROM fault")).scalars().all()
        assert find_run(engine, place.runs()[0].run_id) is not None
    page = (tmp_path / report).read_text("utf-8")
    assert wrong and all(f'"{item}"' in page for item in wrong)
