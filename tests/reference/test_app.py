"""The contract over real HTTP: routes, keys, refusals, metering."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.reference.ledger import Ledger, digest_of
from tests.clock import FakeClock
from tests.reference.library import KEY, Caller, Response, gateway

LIMITED = "key-for-bolt-only"
WALL = "How thick is the wall of straight pipe?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    root = tmp_path_factory.mktemp("testsets")
    with gateway(root, keys={KEY: None, LIMITED: ("bolt-9",)}, clock=FakeClock()) as caller:
        yield caller


@pytest.fixture
def limited(served: Caller) -> Caller:
    return Caller(url=served.url, key=LIMITED)


def without_entry(body: dict[str, Any]) -> dict[str, Any]:
    """The body less its ledger entry, which is looked at here."""
    entry = body.pop("ledger_entry_id")
    assert entry.startswith("le_")
    return body


def test_a_query_gives_the_passages_of_the_contract(served: Caller) -> None:
    got = served.query("Ovality after forming")
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert without_entry(got.json) == {
        "passages": [
            {
                "society": "ACME",
                "standard": "P-100",
                "section": "§1.3.1",
                "text": "Ovality of bends after forming.",
                "citation": "[ACME P-100:2018 §1.3.1]",
                "edition_year": 2018,
                "section_path": ["1", "3", "1"],
            }
        ],
        "tokens_returned": 5,
        "latency_ms": 0,
    }


@pytest.mark.parametrize(
    ("members", "citations"),
    [
        ({}, ["[ACME P-100:2018 §1.2]", "[ACME P-100:2018 §1.3]"]),  # pinned by the terms
        ({"editions": None, "society_filter": None, "max_tokens": None}, 2),
        ({"editions": []}, 2),
        ({"unknown": "key"}, 2),
        ({"editions": ["2022"]}, ["[ACME P-100:2022 §1.2]", "[ACME P-100:2022 §1.4]"]),
        ({"editions": ["2018", "2022"]}, 4),
        ({"editions": ["1999"]}, []),
        ({"society_filter": ["ACME"]}, 2),
        ({"society_filter": ["BOLT"]}, []),
        ({"max_tokens": 14}, 1),  # 7 and 8 words
        ({"max_tokens": 15}, 2),
        ({"max_tokens": 1}, 1),  # one passage always
    ],
)
def test_what_a_query_may_say(served: Caller, members: dict[str, Any], citations: list[str] | int) -> None:
    got = served.query(WALL, **members)
    assert got.status == 200
    if isinstance(citations, int):
        assert len(got.citations) == citations
    else:
        assert got.citations == citations
    assert got.json["tokens_returned"] == sum(len(each["text"].split()) for each in got.json["passages"])


def test_an_undated_standard_has_no_year(served: Caller) -> None:
    assert [passage["edition_year"] for passage in served.query("preload", "bolt-9").json["passages"]] == [None]


def test_corpora(served: Caller, limited: Caller) -> None:
    bolt = {"id": "bolt-9", "societies": ["BOLT"], "standards": {"9": []}}
    assert without_entry(served.call("GET", "/api/v1/corpora").json)["corpora"] == [
        {"id": "acme-p100", "societies": ["ACME"], "standards": {"P-100": [2018]}},
        {"id": "acme-q7", "societies": ["ACME"], "standards": {"Q7": [2005]}},
        bolt,
    ]
    assert limited.call("GET", "/api/v1/corpora").json["corpora"] == [bolt]


@pytest.mark.parametrize(
    ("path", "citations"),
    [
        ("P-100/sections/%C2%A71.3", ["[ACME P-100:2018 §1.3]"]),
        ("P-100/sections/Table%201-1", ["[ACME P-100:2018 Table 1-1]"]),
        ("Q7/sections/%C2%A75", ["[ACME Q7:2005 §5]"]),
    ],
)
def test_look_up_a_section(served: Caller, path: str, citations: list[str]) -> None:
    got = served.call("GET", f"/api/v1/standards/{path}")
    assert (got.status, got.citations) == (200, citations)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "detail"),
    [
        ("GET", "/api/v1/nothing", None, 404, "There is nothing at this address."),
        ("GET", "/", None, 404, "There is nothing at this address."),
        ("POST", "/api/v1/corpora/other/query", {"question": "a"}, 404, "There is no such corpus."),
        ("POST", "/api/v1/corpora/a%2Fb/query", {"question": "a"}, 404, "There is no such corpus."),
        ("GET", "/api/v1/corpora/acme-q7/query", None, 405, "Only POST is answered here."),
        ("DELETE", "/api/v1/corpora", None, 405, "Only GET is answered here."),
        ("POST", "/api/v1/calls/le_1", None, 405, "Only GET is answered here."),
        ("POST", "/api/v1/standards/9/sections/1", None, 405, "Only GET is answered here."),
        ("GET", "/api/v1/calls/le_1", None, 404, "This key made no such call."),
        (
            "GET",
            "/api/v1/standards/P-100/sections/%C2%A71.4",  # only in 2022
            None,
            404,
            "There is no such section in a contracted edition.",
        ),
        ("POST", "/api/v1/corpora/acme-q7/query", b"x" * 65_537, 413, "A body has at most 65536 bytes."),
    ],
)
def test_error_refusals(served: Caller, method: str, path: str, body: Any, status: int, detail: str) -> None:
    got = served.call(method, path, body)
    assert (got.status, got.headers["content-type"]) == (status, "application/problem+json")
    titles = {404: "Not Found", 405: "Method Not Allowed", 413: "Request Entity Too Large"}
    told = {key: value for key, value in got.json.items() if key != "ledger_entry_id"}
    assert told == {"type": "about:blank", "title": titles[status], "status": status, "detail": detail}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"\xff",
        b"{}",
        b'{"question": null}',
        b'{"question": 7}',
        b'{"question": ""}',
        b'{"question": " \\n"}',
        b'{"question": "\\ud800"}',
        b'{"question": "a", "max_tokens": 0}',
        b'{"question": "a", "max_tokens": "12"}',
        b'{"question": "a", "max_tokens": 1.5}',
        b'{"question": "a", "editions": [2018]}',
        b'{"question": "a", "editions": "2018"}',
        b'{"question": "a", "society_filter": "ACME"}',
        b'{"question": "' + b"x" * 20_001 + b'"}',
    ],
)
def test_a_body_that_is_no_query_is_refused_and_not_echoed(served: Caller, body: bytes) -> None:
    got = served.call("POST", "/api/v1/corpora/acme-q7/query", body)
    assert (got.status, got.json["status"], got.json["title"]) == (422, 422, "Unprocessable Entity")
    assert got.json["detail"].startswith("The body is not a query: ")
    assert "ACME" not in got.json["detail"]
    assert served.call("GET", f"/api/v1/calls/{got.json['ledger_entry_id']}").json["status"] == 422


@pytest.mark.parametrize("key", [None, "", "wrong", KEY.upper()])
@pytest.mark.parametrize("path", ["/api/v1/corpora", "/api/v1/calls/le_1", "/nothing"])
def test_without_a_known_key_there_is_nothing(served: Caller, key: str | None, path: str) -> None:
    got = Caller(url=served.url, key=key).call("GET", path)
    assert (got.status, got.headers["www-authenticate"]) == (401, "Bearer")
    assert got.json["detail"] == "The key is missing or unknown."


def test_a_key_may_be_limited_to_corpora(limited: Caller) -> None:
    assert limited.query("preload", "bolt-9").status == 200
    refused = limited.query("wall")
    assert (refused.status, refused.json["detail"]) == (403, "This key has no licence for the corpus.")
    assert limited.call("GET", "/api/v1/standards/9/sections/%C2%A71").status == 200
    refused = limited.call("GET", "/api/v1/standards/Q7/sections/%C2%A75")
    assert (refused.status, refused.json["detail"]) == (403, "This key has no licence for the corpus of the section.")


def test_a_call_is_audited_for_its_own_key(served: Caller, limited: Caller) -> None:
    got = served.query("Ovality after forming").json
    path = f"/api/v1/calls/{got['ledger_entry_id']}"
    assert served.call("GET", path).json == {
        "ledger_entry_id": got["ledger_entry_id"],
        "at": "2026-03-01T02:17:00.000000Z",
        "operation": "query_standard",
        "corpus": "acme-p100",
        "question_sha256": digest_of("Ovality after forming"),
        "status": 200,
        "tokens_returned": 5,
        "latency_ms": 0,
    }
    assert limited.call("GET", path).status == 404


def test_every_call_is_in_the_ledger_before_its_response(tmp_path: Path) -> None:
    """The ledger is read from outside while the gateway runs; it never holds a question's text."""
    (tmp_path / "testsets").mkdir()
    file = tmp_path / "ledger.db"
    with gateway(tmp_path / "testsets", ledger=file) as caller:
        ledger = Ledger(file)
        asks: list[Callable[[], Response]] = [
            lambda: caller.query(WALL),
            lambda: caller.query(WALL),
            lambda: caller.query("Ovality"),
            lambda: caller.query(WALL, "no-such"),
            lambda: caller.call("GET", "/api/v1/corpora"),
        ]
        for number, ask in enumerate(asks, 1):
            entry = ask().json["ledger_entry_id"]
            found = ledger.find(entry, digest_of(KEY))
            assert (ledger.count(), found is not None) == (number, True)
        caller.call("GET", "/nothing")
        Caller(url=caller.url, key="wrong").query(WALL)
        assert ledger.count() == 5
        assert ledger.asked() == {digest_of(WALL): 3, digest_of("Ovality"): 1}
        ledger.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("ledger.db*"))
    assert b"straight" not in stored
    assert KEY.encode() not in stored


def test_too_many_calls_are_refused_until_they_may_come_again(tmp_path: Path) -> None:
    clock = FakeClock()
    with gateway(tmp_path, rate=0.5, clock=clock) as caller:
        assert caller.query(WALL).status == 200
        refused = caller.query(WALL)
        assert (refused.status, refused.headers["retry-after"]) == (429, "2")
        assert caller.call("GET", f"/api/v1/calls/{refused.json['ledger_entry_id']}").json["status"] == 429
        clock.advance(2)
        assert caller.query(WALL).status == 200


def test_error_of_the_gateway_itself_is_a_plain_500(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ledger that can no longer be written: nothing is answered unmetered, and the question is not logged."""
    (tmp_path / "testsets").mkdir()
    file = tmp_path / "ledger.db"
    with gateway(tmp_path / "testsets", ledger=file) as caller:
        with closing(sqlite3.connect(file)) as vandal:
            vandal.execute("DROP TABLE call")
        got = caller.query(WALL)
    assert (got.status, got.json["detail"]) == (500, "The gateway failed.")
    logged = capsys.readouterr().out
    assert "OperationalError" in logged
    assert "straight" not in logged
