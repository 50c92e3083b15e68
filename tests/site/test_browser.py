"""Pages in a real browser: every width, both colour schemes, without JavaScript, from one host only."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from harness.site.model import Previous
from harness.site.publish import publish
from tests.site.browser import chromium
from tests.site.results import Night, result

PREVIOUS = Previous(night="2026-11-28", value="0.937500", better=2, worse=0, compared=416, mcnemar_p="0.500000")

NIGHTS = (
    Night(outcomes="c" * 392 + "i" * 10 + "m" * 4 + "g" * 10, clusters=60, previous=PREVIOUS),
    Night(slug="sae", outcomes="c" * 52 + "i" * 2),
    Night(slug="nfpa", outcomes="h" * 30),
)

PAGES = ("standards/", "standards/asme/eval/", "standards/nfpa/eval/", "standards/sae/eval/2026-11-29/r1/")


class _Quiet(SimpleHTTPRequestHandler):
    """A static server as strict as the real one: nothing but what is on the page's own host, no script, no style in
    attributes."""

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
        super().end_headers()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    site = tmp_path_factory.mktemp("reports") / "site"
    publish(
        site,
        [result(night, demo=True) for night in NIGHTS],
        "urn:citehouse:demo",
        base_url="https://citehouse.example",
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def opened(browser: Browser, scheme: Literal["light", "dark"], width: int) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=False
    )
    return context.new_page()


@pytest.mark.parametrize("width", [320, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_fits_its_width_and_stays_on_its_host(
    browser: Browser, address: str, scheme: Literal["light", "dark"], width: int, tmp_path: Path
) -> None:
    page = opened(browser, scheme, width)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    for path in PAGES:
        page.goto(f"{address}{path}")
        size = page.evaluate("({held: document.documentElement.scrollWidth, seen: window.innerWidth})")
        assert size == {"held": width, "seen": width}, path
        page.screenshot(path=tmp_path / f"{path.replace('/', '-')}{scheme}-{width}.png", full_page=True)
    assert said == []
    assert all(url.startswith(address) for url in asked)
    assert any(url.endswith(".css") for url in asked)
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_stylesheet_is_applied_in_the_scheme_asked_for(
    browser: Browser, address: str, scheme: Literal["light", "dark"]
) -> None:
    page = opened(browser, scheme, 768)
    page.goto(f"{address}standards/asme/eval/")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(251, 250, 246)", "dark": "rgb(15, 21, 28)"}[scheme]
    page.context.close()


def test_the_name_of_a_chip_has_no_brackets(browser: Browser, address: str) -> None:
    page = opened(browser, "light", 768)
    page.goto(f"{address}standards/asme/eval/")
    heard = page.locator(".chips").aria_snapshot()
    assert "ASME B31.3 §304.1.2" in heard
    assert "[" not in heard
    page.context.close()


def test_a_reader_gets_from_the_overview_to_the_revision_and_its_table(browser: Browser, address: str) -> None:
    page = opened(browser, "light", 768)
    page.goto(f"{address}standards/")
    page.get_by_role("link", name="ASME", exact=True).click()
    page.get_by_role("link", name="Permanent address of this revision").click()
    assert page.url == f"{address}standards/asme/eval/2026-11-29/r1/index.html"
    assert page.get_by_role("heading", level=1).inner_text() == "American Society of Mechanical Engineers"
    with page.expect_download() as download:
        page.get_by_role("link", name="scores.csv").click()
    assert Path(download.value.path()).read_bytes().count(b"\r\n") == 417
    page.context.close()


def test_a_claim_part_opens_by_keyboard_alone(browser: Browser, address: str) -> None:
    page = opened(browser, "light", 768)
    page.goto(f"{address}standards/asme/eval/")
    part = page.locator(".verdict details")
    assert not part.locator("pre").is_visible()
    part.locator("summary").focus()
    page.keyboard.press("Enter")
    assert part.locator("pre").is_visible()
    page.context.close()
