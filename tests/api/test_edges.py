"""What nobody should send, and what should never happen: every answer is a problem, and none gives away more."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
import structlog
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from harness.api.gate import _KEPT, MOST_FAILURES, WINDOW_SECONDS, Failures
from harness.store.engine import open_engine
from harness.store.journal import Journal
from harness.store.ledger import Ledger
from harness.store.migrate import upgrade
from tests.api.conftest import Served
from tests.api.server import Caller, Reply, serving, token_for
from tests.clock import FakeClock
from tests.databases import SERVER, empty_database

PATHS = (
    "/v1/sla/events",
    "/v1/sla/settlements",
    "/v1/sla/settlements.csv",
    "/v1/sla/settlements/slf_asme_citation_correctness_2026-12-02",
    "/v1/sla/periods/2026-11",
)
ACKNOWLEDGE = "/v1/sla/settlements/slf_asme_citation_correctness_2026-12-02/acknowledgements"
BODY = b'{"revision": 2, "invoice_ref": "I-1"}'
SAFE = ("x-content-type-options", "content-security-policy", "referrer-policy", "cache-control")


@dataclass(frozen=True, slots=True)
class FailingLedger(Ledger):
    """A ledger that raises when it is asked what may be served."""

    error: Callable[[], Exception] = RuntimeError

    def journalled(self) -> int:
        raise self.error()


@contextmanager
def failing(served: Served, error: Callable[[], Exception]) -> Iterator[Caller]:
    """A caller of a server whose ledger fails so."""
    ledger = FailingLedger(served.ledger.engine, served.ledger.journal, error)
    with serving(ledger, served.clock) as url:
        yield replace(served.caller, url=url)


def every(caller: Caller) -> list[Reply]:
    """The answers of all the ledger's addresses."""
    return [
        *(caller.get(path) for path in PATHS),
        caller.post(ACKNOWLEDGE, BODY, "k"),
    ]


def test_error_a_misspelt_cursor_does_not_read_from_the_beginning(served: Served) -> None:
    for query in ("afetr=3", "after=3&AFTER=4", "cursor=3", "after[]=3"):
        reply = served.caller.get(f"/v1/sla/events?{query}")
        assert (reply.status, reply.kind) == (422, "invalid-request"), query
        assert "Extra inputs are not permitted" in reply.json["detail"]


def test_error_of_two_values_none_is_taken(served: Served) -> None:
    for path in ("events?after=1&after=2", "settlements?state=open&state=final", "settlements.csv?society=a&society=a"):
        reply = served.caller.get(f"/v1/sla/{path}")
        assert (reply.status, reply.kind) == (422, "invalid-request"), path
        assert reply.json["detail"] == "query: a name comes twice; expected each at most once"


def test_error_a_month_beyond_any_calendar(served: Served) -> None:
    for path in ("periods/{}", "settlements?window_in={}", "settlements.csv?finalized_in={}"):
        for month in ("9999-12", "0000-01", "0001-01", "3000-01", "2026-13", "2026-1", quote("٢٠٢٦-11"), "2026-11%0A"):
            reply = served.caller.get("/v1/sla/" + path.format(month))
            assert (reply.status, reply.kind) == (422, "invalid-request"), (path, month)


def test_what_is_said_of_hostile_names_is_short_and_prints(served: Served) -> None:
    names = ["%1b[31m" + "x" * 500, "%e2%80%ae%00", "%0d%0aSet-Cookie:%20a", *(f"n{number}" for number in range(50))]
    reply = served.caller.get("/v1/sla/settlements?" + "&".join(f"{name}=1" for name in names))
    assert (reply.status, reply.kind) == (422, "invalid-request")
    detail = reply.json["detail"]
    assert detail.isascii() and detail.isprintable()
    assert len(detail) < 5 * 130 and "x" * 41 not in detail
    assert detail.endswith("; and 48 more")
    assert "set-cookie" not in reply.headers


def test_error_a_body_that_does_not_say_it_is_json(served: Served) -> None:
    for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        headers = {"Idempotency-Key": "k"} | ({} if kind is None else {"Content-Type": kind})
        reply = served.caller.call("POST", ACKNOWLEDGE, BODY, headers)
        assert (reply.status, reply.kind) == (415, "not-json"), kind
        assert reply.json["detail"] == "The body must be JSON, with Content-Type: application/json."


def test_a_body_may_say_it_is_json_in_any_way(served: Served) -> None:
    for kind in ("application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"):
        headers = {"Idempotency-Key": "k", "Content-Type": kind}
        assert served.caller.call("POST", ACKNOWLEDGE, BODY, headers).status == 201, kind


def test_error_a_body_that_breaks_a_reader(served: Served) -> None:
    for body in (b"[" * 60_000, b'{"revision": ' + b"1" * 5_000 + b"}", b"\xef\xbb\xbf{}"):
        reply = served.caller.post(ACKNOWLEDGE, body, "k")
        assert (reply.status, reply.kind) in {(400, "bad-request"), (422, "invalid-request")}


@pytest.mark.parametrize("chunked", [False, True])
def test_error_a_body_of_any_size_is_read_up_to_a_limit(served: Served, chunked: bool) -> None:
    reply = _post_much(served.url, served.caller.token, chunked)
    assert (reply.status, reply.kind) == (413, "too-large")
    assert all(name in reply.headers for name in SAFE)
    stranger = _post_much(served.url, None, chunked)
    assert (stranger.status, stranger.kind) == (401, "no-token")


def _post_much(url: str, token: str | None, chunked: bool) -> Reply:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    body: Any = iter([b'{"x": "', *[b"x" * 7_000] * 10, b'"}']) if chunked else b"x" * 70_000
    try:
        connection.request("POST", ACKNOWLEDGE, body, headers, encode_chunked=chunked)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(status=answer.status, headers=found, body=answer.read())
    finally:
        connection.close()


def test_error_a_fault_of_ours_is_logged_and_not_told(served: Served) -> None:
    with (
        structlog.testing.capture_logs() as logs,
        failing(served, lambda: RuntimeError("cht_secret /srv/db")) as caller,
    ):
        replies = every(caller)
    assert {(reply.status, reply.kind) for reply in replies} == {(500, "unexpected")}
    for reply in replies:
        assert "cht_secret" not in reply.body.decode() and "RuntimeError" not in reply.body.decode()
        assert all(name in reply.headers for name in SAFE)
    assert {log["event"] for log in logs} == {"request_failed"}
    assert all("RuntimeError: cht_secret" in log["traceback"] for log in logs)
    assert served.caller.token is not None and served.caller.token not in str(logs)


def test_error_no_connection_free_or_no_disk_is_not_served_now(served: Served) -> None:
    for error in (NoConnectionFree(), OSError(28, "No space left on device", "/srv/db"), PermissionError(13, "x")):
        with failing(served, lambda: error) as caller:  # noqa: B023 - the server is gone with the block
            replies = [*every(caller), caller.get("/readyz")]
        assert {(reply.status, reply.kind) for reply in replies} == {(503, "ledger-unavailable")}
        for reply in replies:
            assert reply.headers["retry-after"] == "30" and "/srv" not in reply.body.decode()


def test_error_no_other_spelling_of_an_address_is_one(served: Served) -> None:
    stranger = Caller(url=served.url)
    for path in ("/v1/", "/v1/sla", "/v1/sla/events/", "/v1/sla/nowhere", "/v1/sla/settlements/a/b"):
        assert (served.caller.get(path).kind, stranger.get(path).kind) == ("not-found", "no-token"), path
    for path in ("/v1", "//v1/sla/events", "/V1/sla/events", "/docs", "/redoc", "/%00", "/.env", "/openapi.json/"):
        assert (served.caller.get(path).kind, stranger.get(path).kind) == ("not-found", "not-found"), path


def test_an_address_says_which_method_it_takes(served: Served) -> None:
    for path, method in [(path, "GET") for path in (*PATHS, "/healthz", "/readyz")] + [(ACKNOWLEDGE, "POST")]:
        for other in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NONSENSE"} - {method}:
            reply = served.caller.call(other, path)
            assert (reply.status, reply.headers["allow"]) == (405, method), (path, other)
            assert other == "HEAD" or reply.kind == "method-not-allowed"


def test_the_addresses_that_failed_least_recently_are_forgotten_first() -> None:
    clock = FakeClock()
    failures = Failures(clock)
    for number in range(_KEPT + 1):
        for _ in range(MOST_FAILURES):
            failures.note((f"10.0.{number}", ""))
    assert failures.wait(("10.0.0", "")) == 0
    assert failures.wait(("10.0.1", "")) == WINDOW_SECONDS
    clock.advance(WINDOW_SECONDS)
    assert failures.wait(("10.0.1", "")) == 0


def test_asking_whether_to_wait_keeps_nothing() -> None:
    failures = Failures(FakeClock())
    for _ in range(MOST_FAILURES):
        failures.note(("first", ""))
    for number in range(2 * _KEPT):
        assert failures.wait((f"10.0.{number}", "")) == 0
    failures.note(("second", ""))
    assert failures.wait(("first", "")) > 0
    assert not re.search(r"10\.0\.", repr(failures.__dict__))


def test_an_unknown_token_is_compared_like_any_other(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[int, int]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("harness.api.gate.hmac.compare_digest", compare)
    known = str(served.caller.token)
    for token in (known, known[:-3] + "xxx", f"cht_{'0' * 12}_{'x' * 43}", "x"):
        Caller(url=served.url, token=token).get("/v1/sla/events")
    assert compared == [(64, 64)] * 4


def test_a_database_server_that_comes_back_is_served_again(tmp_path: Path) -> None:
    clock = FakeClock()
    with empty_database("postgresql", tmp_path) as address:
        engine = open_engine(address)
        upgrade(engine)
        ledger = Ledger(engine, Journal(tmp_path / "ledger.jsonl"))
        with serving(ledger, clock) as url:
            caller = Caller(url=url, token=token_for(engine, clock, "read:sla"))
            assert (caller.get("/readyz").status, caller.get("/v1/sla/events").json) == (200, [])
            with _refusing(str(engine.url.database)):
                replies = [caller.get(path) for path in ("/readyz", *PATHS)]
                assert {(reply.status, reply.kind) for reply in replies} == {(503, "ledger-unavailable")}
                assert Caller(url=url).get("/v1/sla/events").status == 401
                assert caller.get("/healthz").status == 200
            assert (caller.get("/readyz").status, caller.get("/v1/sla/events").json) == (200, [])
        engine.dispose()


@contextmanager
def _refusing(database: str) -> Iterator[None]:
    """The database takes no connection, and those that there were are cut."""
    with closing(psycopg.connect(SERVER, autocommit=True)) as server:
        server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false".encode())
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database,))
        try:
            yield
        finally:
            server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true".encode())
