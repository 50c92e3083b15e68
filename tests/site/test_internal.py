"""The internal report as a file: what it says without a script, who may read it, and that it is whole or absent."""

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.site.internal import FailedExpectation, Flips, Quoted, ledger_link, write_report
from tests.site.html import Element, read_page
from tests.site.reports import GATEWAY, call, failed, many, report
from tests.site.test_style import contrast, palette

HOSTILE = "</script><script>alert(1)</script><!--\u2028\u2029\u202e\ud800&"


def written(folder: Path, *rows: FailedExpectation, **changes: Any) -> Path:
    target = folder / "reports" / "internal" / "2026-11-29" / "asme.html"
    write_report(target, report(**changes), rows)
    return target


def blocks(page: str) -> tuple[Any, Any]:
    """The rows and tables that the page holds as JSON."""
    found = re.findall(r'<script type="application/json" id="data-(?:rows|tables)">(.*?)</script>', page, re.DOTALL)
    rows, tables = (json.loads(text) for text in found)
    return rows, tables


def section(page: Element, name: str) -> str:
    (found,) = page.find("section", **{"aria-labelledby": name})
    return found.text()


def test_the_file_is_its_owner_s_alone_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = written(tmp_path, failed(tmp_path))
    assert [path.name for path in target.parent.iterdir()] == ["asme.html"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    for folder in (target.parent, target.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_report_that_fails_half_way_leaves_the_one_before(tmp_path: Path) -> None:
    target = written(tmp_path, failed(tmp_path))
    before = target.read_bytes()

    def broken() -> Iterator[FailedExpectation]:
        yield failed(tmp_path)
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        write_report(target, report(), broken())
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir()] == ["asme.html"]


def test_what_a_kill_left_is_written_over(tmp_path: Path) -> None:
    target = written(tmp_path)
    left = target.with_name(".asme.html.new")
    left.write_text("half of a report")
    left.chmod(0o644)
    written(tmp_path)
    assert [path.name for path in target.parent.iterdir()] == ["asme.html"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_rows_are_written_as_they_come(tmp_path: Path) -> None:
    """When the last of many rows is made, the first are on disk: the page is never held whole."""
    target = tmp_path / "internal" / "2026-11-29" / "asme.html"
    sizes = []

    def watched() -> Iterator[FailedExpectation]:
        for row in many(tmp_path, 2_000):
            sizes.append(target.with_name(".asme.html.new").stat().st_size)
            yield row

    write_report(target, report(), watched())
    assert target.stat().st_size - sizes[-1] < 100_000 < sizes[-1]


def test_head_and_summary_stand_without_a_script(tmp_path: Path) -> None:
    page = read_page(written(tmp_path, failed(tmp_path)).read_bytes())
    text = page.text()
    for part in ("Below floor", "56/60", "Run ", "revision 1", "harness show", "Missing 1", "Gateway error 1"):
        assert part in text
    (noscript,) = page.find("noscript")
    assert "harness show" in noscript.text()
    assert "hidden" in next(each for each in page.walk() if each.attributes.get("id") == "explorer").attributes


@pytest.mark.parametrize(
    ("flips", "says"),
    [
        (Flips(), "There is no earlier official night to compare with."),
        (
            Flips(night="2026-11-28", refusal="test sets differ"),
            "test sets differ harness compare 2026-11-28 2026-11-29 --society asme --force",
        ),
        (
            Flips(night="2026-11-28", compared=60, better=(("a", 1),), worse=(("b", 2),), p="1.000000"),
            "1 better, 1 worse of 60 compared; exact McNemar p = 1.000000. "
            "1 worse: correct then, not correct now b expectation 2 1 better",
        ),
    ],
)
def test_flips_are_said_in_words(tmp_path: Path, flips: Flips, says: str) -> None:
    page = read_page(written(tmp_path, flips=flips).read_bytes())
    assert says in section(page, "flips")


def test_lists_without_end_are_cut_and_say_so(tmp_path: Path) -> None:
    keys = tuple((f"item-{number:04d}", 1) for number in range(501))
    calls = [call(f"call-{number}", tmp_path, attempts=2) for number in range(500)]
    flips = Flips(night="2026-11-28", compared=600, worse=keys, p="0.000000")
    page = read_page(written(tmp_path, flips=flips, retried=calls, retried_count=777).read_bytes())
    told = section(page, "flips")
    assert "501 worse" in told and "The first 500 of 501" in told and "item-0500" not in told
    assert "Calls that took more than one attempt: 777; the 500 with most attempts" in section(page, "calls")


def test_calls_link_to_transcript_and_ledger(tmp_path: Path) -> None:
    store = tmp_path / "a store"
    slow = call("asme-1", store, endings=("http_5xx", "usable"), attempts=2, latency_ms=900)
    odd = call("asme-2", store, ledger_entry_id="le\u202e1")
    page = read_page(written(tmp_path, slowest=[slow, odd], retried=[slow], retried_count=1).read_bytes())
    rows = [row.text() for table in page.find("table", class_="calls") for row in table.find("tr")]
    told = "asme-1 900 2 http_5xx, usable segment, place 7 le_asme-1"
    assert [rows[1], rows[4]] == [told, told]
    links = {each.attributes["href"] for each in page.find("a")}
    assert f"../../../a%20store/ab/{'ab' * 32}.zst" in links
    assert f"{GATEWAY}/api/v1/calls/le_asme-1" in links
    assert not any("le%" in link for link in links)
    assert "le<U+202E>1" in page.text()


@pytest.mark.parametrize(
    ("gateway", "entry", "link"),
    [
        ("https://g.example/base", "le_1", "https://g.example/base/api/v1/calls/le_1"),
        ("http://g.example", "a/b?c#d", "http://g.example/api/v1/calls/a%2Fb%3Fc%23d"),
        ("https://g.example", None, None),
        ("https://g.example", "x\u200b", None),
        (None, "le_1", None),
        ("javascript:alert(1)//", "le_1", None),
        ("file:///etc", "le_1", None),
    ],
)
def test_only_http_addresses_become_links(gateway: str | None, entry: str | None, link: str | None) -> None:
    assert ledger_link(gateway, entry) == link


def test_rows_are_json_that_no_parser_of_html_ends_early(tmp_path: Path) -> None:
    row = failed(
        tmp_path,
        query=HOSTILE,
        returned=Quoted(text=HOSTILE),
        item=HOSTILE,
        shapes=(HOSTILE,),
        kind=HOSTILE,
        call=call(HOSTILE, tmp_path, ledger_entry_id=HOSTILE),
    )
    content = written(tmp_path, row, failed(tmp_path, 2), gateway="javascript:alert(1)").read_text("utf-8")
    rows, tables = blocks(content)
    assert len(rows) == 2
    assert rows[0][0] == "</script><script>alert(1)</script><!--<U+2028><U+2029><U+202E><U+D800>&"
    assert tables["gateway"] is None
    for block in re.findall(r"application/json[^>]*>(.*?)</script>", content, re.DOTALL):
        assert not set("<>&\u2028\u2029") & set(block)
    scripts = read_page(content.encode()).find("script")
    assert [each.attributes.get("type") for each in scripts] == ["application/json", "application/json", None]


def test_a_row_holds_both_strings_with_what_differs(tmp_path: Path) -> None:
    rows, tables = blocks(written(tmp_path, failed(tmp_path, 8)).read_text("utf-8"))
    (row,) = rows
    assert row[3] == [[[1, "["], [2, "ASME BPVC"], [0, " "], [3, "§8.", "1"], [1, "]"]]]
    assert row[4] == [[1, "["], [2, "ASME BPVC"], [0, " "], [3, "§8.", "2"], [1, "]"]]
    assert row[5] == [["section", ['"§8.', "1", '"'], ['"§8.', "2", '"']]]
    assert [tables["shapes"][number] for number in row[7]] == ["section:sibling", "section: value"]
    assert tables["segments"] == [f"../../../ab/{'ab' * 32}.zst"]
    assert (tables["run"], tables["society"], tables["gateway"]) == (report().result.run_id, "asme", GATEWAY)


def test_ten_thousand_characters_are_cut(tmp_path: Path) -> None:
    long = failed(tmp_path, returned=Quoted(text="x" * 10_000), query="q" * 10_000)
    assert len(json.dumps(blocks(written(tmp_path, long).read_text("utf-8"))[0])) < 3_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marked_characters_are_4_5_to_1(scheme: str) -> None:
    css = (Path(__file__).parents[2] / "harness" / "site" / "static" / "internal.css").read_text("utf-8")
    grounds = re.findall(r"--mark-ground: (#[0-9a-f]{6}); --mark-ink: (#[0-9a-f]{6});", css)
    ground, ink = grounds[scheme == "dark"]
    assert contrast(ink, ground) >= 4.5
    tokens = set(re.findall(r"--([a-z0-9-]+):", css)) | set(palette(scheme))
    shared = (Path(__file__).parents[2] / "harness" / "site" / "static" / "style.css").read_text("utf-8")
    tokens |= set(re.findall(r"--([a-z0-9-]+):", shared))
    assert set(re.findall(r"var\(--([a-z0-9-]+)\)", css)) <= tokens
    assert re.findall(r"url\(|@import|https?://", css) == []
