"""The internal report opened from disk in a real browser: 50,000 rows sorted, filtered and paged by keyboard, on every
width, and strings that would run if anything let them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from harness.site.internal import Flips, Quoted, write_report
from tests.site.browser import chromium
from tests.site.reports import STANDARDS, call, failed, many, report
from tests.site.results import Night, result

COUNT = 50_000
PAGE = 100

RUNS = "window.ran = true"
HOSTILE = f"""</script><script>{RUNS}</script><img src="http://elsewhere.example/x" onerror="{RUNS}">\u202e\ud800"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    target = folder / "internal" / "2026-11-29" / "asme.html"
    write_report(target, report(), many(folder, COUNT))
    return target


@pytest.fixture(scope="module")
def page(browser: Browser, large: Path) -> Iterator[Page]:
    """The large report, opened once; each test begins with the filters cleared."""
    opened = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    opened.goto(large.as_uri())
    yield opened
    opened.context.close()


@pytest.fixture(autouse=True)
def _cleared(request: pytest.FixtureRequest) -> None:
    if "page" in request.fixturenames:
        page: Page = request.getfixturevalue("page")
        page.get_by_role("button", name="Clear").click()
        expect(count(page)).to_have_text(f"Rows 1 to 100 of {COUNT}, page 1 of 500")


def count(page: Page) -> Locator:
    return page.get_by_role("status")


def items(page: Page) -> list[str]:
    """The items drawn, in order."""
    return [text.partition(" / ")[0] for text in page.locator("#table tbody th").all_inner_texts()]


def numbered(*numbers: int) -> list[str]:
    return [f"asme-{number:05d}" for number in numbers]


def test_one_page_of_rows_is_drawn_in_the_order_of_items(page: Page) -> None:
    assert items(page) == numbered(*range(1, PAGE + 1))
    assert page.locator("#table tr").count() == 1 + 2 * PAGE
    head = page.get_by_role("columnheader", name="Item")
    assert head.get_attribute("aria-sort") == "ascending"


def test_a_heading_sorts_and_sorts_back_by_keyboard(page: Page) -> None:
    button = page.get_by_role("button", name="ms", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    assert items(page)[:3] == numbered(1, 2, 3)
    page.keyboard.press("Space")
    assert items(page) == numbered(*range(COUNT, COUNT - PAGE, -1))
    assert page.get_by_role("columnheader", name="ms").get_attribute("aria-sort") == "descending"
    assert page.locator("[aria-sort]").count() == 1
    assert page.evaluate("document.activeElement.textContent").startswith("ms")


@pytest.mark.parametrize(
    ("key", "direction", "found"),
    [
        ("Rank", "ascending", (15, 11, 16, 12, 17, 13, 18, 14, 19, 10)),
        ("Rank", "descending", (14, 19, 13, 18, 12, 17, 11, 16, 15, 10)),
        ("Standard", "ascending", (12, 15, 18, 10, 13, 16, 19, 11, 14, 17)),
        ("Outcome", "ascending", (10, 11, 12, 13, 14, 15, 16, 17, 18, 19)),
        ("Failed checks", "descending", (11, 12, 13, 14, 15, 16, 17, 18, 19, 10)),
        ("Transcript", "descending", (19, 18, 17, 16, 15, 14, 13, 12, 11, 10)),
        ("Returned", "ascending", (10, 12, 15, 18, 13, 16, 19, 11, 14, 17)),
    ],
)
def test_every_key_sorts_and_rows_without_a_rank_come_last(
    page: Page, key: str, direction: str, found: tuple[int, ...]
) -> None:
    page.get_by_label("Find").fill("le_asme-0001")
    expect(count(page)).to_have_text(f"Rows 1 to 10 of 10 found in {COUNT}, page 1 of 1")
    page.get_by_label("Sort by").select_option(key)
    page.get_by_label("Order").select_option(direction)
    assert items(page) == numbered(*found)


def test_the_last_page_is_what_is_left(page: Page) -> None:
    page.get_by_label("Standard").select_option("B31.1 (16666)")
    page.get_by_label("Find").fill("le_asme-42")
    found = [number for number in range(42_000, 43_000) if STANDARDS[number % 3] == "B31.1"]
    expect(count(page)).to_have_text(f"Rows 1 to 100 of {len(found)} found in {COUNT}, page 1 of 4")
    for turned in (2, 3, 4):
        page.get_by_role("button", name="Next").last.click()
        expect(count(page)).to_contain_text(f"page {turned} of 4")
    assert items(page) == numbered(*found[300:])
    assert page.get_by_role("button", name="Next").first.get_attribute("aria-disabled") == "true"


def test_filters_narrow_together_and_say_how_many(page: Page) -> None:
    page.get_by_label("Outcome").select_option("gateway_error (5000)")
    expect(count(page)).to_have_text(f"Rows 1 to 100 of 5000 found in {COUNT}, page 1 of 50")
    assert items(page)[:2] == numbered(10, 20)
    page.get_by_label("Standard").select_option("B31.3 (16667)")
    found = [number for number in range(10, COUNT + 1, 10) if STANDARDS[number % 3] == "B31.3"]
    expect(count(page)).to_have_text(
        f"Rows 1 to 100 of {len(found)} found in {COUNT}, page 1 of {-(-len(found) // 100)}"
    )
    assert items(page) == numbered(*found[:PAGE])
    page.get_by_label("Diagnosis").select_option("section:sibling (45000)")
    expect(count(page)).to_have_text(f"No row of {COUNT}")
    assert items(page) == []
    page.get_by_label("Diagnosis").select_option("all")
    page.get_by_label("Kind").select_option("table (10000)")
    assert items(page) == numbered(*found[:PAGE])


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("PART 49999?", [49_999]),
        ("le_asme-00042", [42]),
        ("§42.3]", [number for number in range(1, COUNT + 1) if number % 97 == 42 and number % 7 == 3]
         + [number for number in range(1, COUNT + 1) if number % 97 == 42 and number % 7 == 2 and number % 10]),
    ],
)  # fmt: skip
def test_free_text_finds_in_query_citations_and_ledger(page: Page, typed: str, found: list[int]) -> None:
    box = page.get_by_label("Find")
    box.focus()
    page.keyboard.type(typed)
    pages = -(-len(found) // PAGE)
    shown = min(len(found), PAGE)
    expect(count(page)).to_have_text(f"Rows 1 to {shown} of {len(found)} found in {COUNT}, page 1 of {pages}")
    assert items(page) == numbered(*sorted(found)[:PAGE])


def test_pages_are_turned_by_keyboard_and_end_at_the_ends(page: Page) -> None:
    before, after = (page.get_by_role("button", name=name).first for name in ("Previous", "Next"))
    assert (before.get_attribute("aria-disabled"), after.get_attribute("aria-disabled")) == ("true", "false")
    before.focus()
    page.keyboard.press("Enter")
    expect(count(page)).to_have_text(f"Rows 1 to 100 of {COUNT}, page 1 of 500")
    page.keyboard.press("Tab")
    for turned in (2, 3):
        page.keyboard.press("Enter")
        expect(count(page)).to_have_text(f"Rows {turned * 100 - 99} to {turned * 100} of {COUNT}, page {turned} of 500")
    assert items(page) == numbered(*range(201, 301))
    assert page.locator("#table tbody").count() == PAGE
    assert before.get_attribute("aria-disabled") == "false"


def test_a_row_shows_both_chips_marked_and_leads_on(page: Page) -> None:
    row = page.locator("#table tbody").first
    assert row.locator(".chip").all_inner_texts() == ["[ASME B31.3 §1.1]", "[ASME B31.3 §1.2]"]
    assert row.locator(".chip mark").all_inner_texts() == ["1", "2"]
    style = row.locator("mark").first.evaluate(
        "each => { const s = getComputedStyle(each); return [s.textDecorationLine, s.fontWeight] }"
    )
    assert style == ["underline", "700"]
    assert "[" not in row.locator(".gold").aria_snapshot()
    text = row.inner_text()
    assert "What is required of part 1?" in text
    assert f"harness show {report().result.run_id} asme-00001 --society asme" in text
    links = [each.get_attribute("href") for each in row.get_by_role("link").all()]
    assert links == [f"../../ab/{'ab' * 32}.zst", "https://gateway.example/api/v1/calls/le_asme-00001"]


@pytest.mark.parametrize("width", [320, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_fits_its_width(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    target = hostile_report(tmp_path)
    opened = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    opened.goto(target.as_uri())
    size = opened.evaluate("({held: document.documentElement.scrollWidth, seen: window.innerWidth})")
    assert size == {"held": width, "seen": width}
    ground = opened.locator("mark").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert ground == {"light": "rgb(255, 224, 138)", "dark": "rgb(92, 71, 0)"}[scheme]
    assert opened.get_by_label("Sort by").is_visible()
    opened.context.close()


def hostile_report(folder: Path) -> Path:
    """A report in which every string from outside would run or load something."""
    row = failed(
        folder,
        query=HOSTILE,
        gold=(Quoted(text=HOSTILE), Quoted(text="x" * 10_000)),
        returned=Quoted(text=HOSTILE + "y" * 10_000),
        shapes=(HOSTILE,),
        standard=HOSTILE,
        kind=HOSTILE,
        call=call("asme-1", folder, ledger_entry_id=HOSTILE),
    )
    odd = call(HOSTILE, folder, ledger_entry_id=f"javascript:{RUNS}", attempts=2, endings=(HOSTILE, HOSTILE))
    target = folder / "internal" / "2026-11-29" / "asme.html"
    night = replace(result(Night(outcomes="ci")), warnings=(HOSTILE,), name=HOSTILE, citation_faults={HOSTILE: 1})
    flips = Flips(night="2026-11-28", compared=2, worse=((HOSTILE, 1),), p="1.000000")
    other = failed(folder, 2, call=call("asme-2", folder, ledger_entry_id=f"javascript:{RUNS}"))
    write_report(
        target,
        report(
            result=night, flips=flips, slowest=(odd,), retried=(odd,), retried_count=1, gateway=f"javascript:{RUNS}"
        ),
        [row, other],
    )
    return target


def test_nothing_from_outside_runs_loads_or_becomes_an_element(browser: Browser, tmp_path: Path) -> None:
    target = hostile_report(tmp_path)
    opened = browser.new_context().new_page()
    asked: list[str] = []
    said: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(target.as_uri())
    expect(opened.get_by_role("status")).to_have_text("Rows 1 to 2 of 2, page 1 of 1")
    assert opened.evaluate("window.ran === undefined")
    assert (asked, said) == ([target.as_uri()], [])
    assert opened.locator("img, iframe, object, embed, base").count() == 0
    assert opened.locator("script").count() == 1  # our own: the blocks of data are gone once they are read
    assert not any("javascript" in (each.get_attribute("href") or "") for each in opened.locator("a").all())
    assert "<script>window.ran = true</script>" in opened.locator("#table").inner_text()
    opened.context.close()


def test_the_policy_stops_what_would_be_injected_all_the_same(browser: Browser, tmp_path: Path) -> None:
    """A script element put into the finished file neither runs nor loads: the policy names ours by its digest."""
    target = hostile_report(tmp_path)
    content = target.read_text("utf-8")
    injected = f"<script>{RUNS}</script><img src=x onerror='{RUNS}'></main>"
    target.write_text(content.replace("</main>", injected), "utf-8")
    opened = browser.new_context().new_page()
    opened.goto(target.as_uri())
    expect(opened.get_by_role("status")).to_have_text("Rows 1 to 2 of 2, page 1 of 1")
    assert opened.evaluate("window.ran === undefined")
    opened.context.close()


def test_without_a_script_a_reader_is_told_how_to_go_on(browser: Browser, tmp_path: Path) -> None:
    opened = browser.new_context(java_script_enabled=False).new_page()
    opened.goto(hostile_report(tmp_path).as_uri())
    told = opened.evaluate(
        "(each => [each.innerText, each.getBoundingClientRect().height > 0])(document.querySelector('noscript p'))"
    )
    assert "read one item at a time: harness show" in told[0] and told[1]
    assert not opened.locator("#explorer").is_visible()
    assert opened.get_by_role("heading", name="Slow and retried calls").is_visible()
    opened.context.close()
