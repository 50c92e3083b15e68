"""The published site beside the API: its caching, its policy, what is negotiated and what is never served."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from harness.clock import SystemClock
from harness.site.publish import publish
from tests.api.server import serving
from tests.site.results import Night, result
from tests.site.serving import EVAL, FOR_EVER, REQUESTS, REVISION, Request, ask, differences
from tests.store.journals import ledger_of


def put(site: Path, *nights: Night) -> None:
    publish(site, map(result, nights), "urn:citehouse:test", base_url="https://a.example")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "reports" / "site"


@pytest.fixture
def url(site: Path, engine: Engine) -> Iterator[str]:
    put(site, Night(), Night(slug="sae"))
    with serving(ledger_of(engine), SystemClock(), site=site) as address:
        yield address


def test_every_address_is_answered_as_by_every_server(url: str) -> None:
    found = {str(request): differences(url, request) for request in REQUESTS}
    assert {request: lines for request, lines in found.items() if lines} == {}


def test_the_two_variants_of_a_folder_have_other_tags(url: str) -> None:
    tags = {
        ask(url, f"{EVAL}/", headers={"Accept": kind}).headers["etag"] for kind in ("text/html", "application/json")
    }
    assert len(tags) == 2


def test_a_part_of_a_table_is_served(url: str) -> None:
    whole = ask(url, f"{REVISION}/scores.csv").body
    part = ask(url, f"{REVISION}/scores.csv", headers={"Range": "bytes=5-9"})
    assert (part.status, part.body, part.headers["cache-control"]) == (206, whole[5:10], FOR_EVER)


def test_an_accept_header_that_cannot_be_read_gets_the_page(url: str) -> None:
    for accept in ("json", "a/b/c;q=x", "," * 2000, ";;;"):
        assert ask(url, f"{EVAL}/", headers={"Accept": accept}).headers["content-type"].startswith("text/html")


def test_what_a_link_leads_to_is_not_served(url: str, site: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    (site / "standards" / "link.json").symlink_to(tmp_path / "secret.json")
    assert ask(url, "/standards/link.json").status == 404


def test_a_publish_is_seen_at_once_and_a_tag_of_before_is_no_longer_good(url: str, site: Path) -> None:
    before = ask(url, f"{EVAL}/eval.json")
    put(site, Night(night="2026-11-30", outcomes="c" * 60))
    after = ask(url, f"{EVAL}/eval.json", headers={"If-None-Match": before.headers["etag"]})
    assert after.status == 200
    assert json.loads(after.body)["night"] == "2026-11-30"


def test_the_api_keeps_its_own_policy(url: str) -> None:
    answer = ask(url, "/healthz")
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    assert "access-control-allow-origin" not in answer.headers
    assert ask(url, "/v1/settlements").status == 401


def test_without_a_site_it_says_how_to_get_one(engine: Engine, tmp_path: Path) -> None:
    with serving(ledger_of(engine), SystemClock(), site=tmp_path / "site") as url:
        answer = ask(url, "/standards/")
    assert answer.status == 404
    assert "harness nightly" in json.loads(answer.body)["detail"]


def test_a_promise_that_is_not_kept_is_seen(url: str) -> None:
    wrong = Request(path=f"{EVAL}/", status=200, headers={"cache-control": "no-store"})
    assert differences(url, wrong) == ["cache-control: 'public, max-age=300', not 'no-store'"]
