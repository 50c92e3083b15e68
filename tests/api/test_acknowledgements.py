"""Acknowledgements: recorded once for each key, however often and from wherever they are sent."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness.store.acknowledgements import find_acknowledgements
from tests.api.conftest import Served

SUBJECT = "slf_asme_citation_correctness_2026-12-02"
PATH = f"/v1/sla/settlements/{SUBJECT}/acknowledgements"
BODY = {"revision": 2, "invoice_ref": "2026-12-0017"}


def _recorded(served: Served) -> int:
    return len(find_acknowledgements(served.ledger.engine, SUBJECT))


def test_the_same_key_and_body_is_answered_the_same(served: Served) -> None:
    first = served.caller.post(PATH, BODY, "key-1")
    served.clock.advance(3600)
    again = served.caller.post(PATH, BODY, "key-1")
    assert (first.status, again.status, first.body) == (201, 201, again.body)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert first.json == {"subject": SUBJECT, **BODY, "recorded_at": first.json["recorded_at"]}
    assert _recorded(served) == 1


def test_white_space_and_order_of_the_body_do_not_matter(served: Served) -> None:
    first = served.caller.post(PATH, BODY, "key-1")
    again = served.caller.post(PATH, b'{"invoice_ref":  "2026-12-0017",\n"revision": 2}', "key-1")
    assert (again.status, again.body) == (201, first.body)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PATH, {"revision": 1, "invoice_ref": "2026-12-0017"}),
        (PATH, {"revision": 2, "invoice_ref": "2026-12-0018"}),
        (PATH.replace("2026-12-02", "2026-12-03"), BODY),
    ],
)
def test_error_a_key_that_stands_for_something_else(served: Served, path: str, body: Any) -> None:
    served.caller.post(PATH, BODY, "key-1")
    reply = served.caller.post(path, body, "key-1")
    assert (reply.status, reply.kind) == (422, "idempotency-key-reused")
    assert _recorded(served) == 1


def test_many_at_once_with_one_key_are_one(served: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: served.caller.post(PATH, BODY, "key-1"), range(16)))
    assert {reply.status for reply in replies} == {201}
    assert len({reply.body for reply in replies}) == 1
    assert sum("idempotency-replayed" not in reply.headers for reply in replies) == 1
    assert _recorded(served) == 1


def test_error_without_a_key(served: Served) -> None:
    reply = served.caller.post(PATH, BODY)
    assert (reply.status, reply.kind) == (400, "idempotency-key-missing")


def test_error_a_revision_that_does_not_exist(served: Served) -> None:
    reply = served.caller.post(PATH, {**BODY, "revision": 3}, "key-1")
    assert (reply.status, reply.kind) == (422, "unknown-revision")
    assert served.caller.post(PATH, BODY, "key-1").status == 201  # the key was not used up


def test_error_a_settlement_that_does_not_exist(served: Served) -> None:
    assert served.caller.post("/v1/sla/settlements/slf_x/acknowledgements", BODY, "key-1").status == 404


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"revision": 2}',
        b'{"revision": "2", "invoice_ref": "x"}',
        b'{"revision": true, "invoice_ref": "x"}',
        b'{"revision": 2.0, "invoice_ref": "x"}',
        b'{"revision": 0, "invoice_ref": "x"}',
        b'{"revision": 99999999999999999999, "invoice_ref": "x"}',
        b'{"revision": 2, "invoice_ref": ""}',
        b'{"revision": 2, "invoice_ref": "a\\u0000b"}',
        b'{"revision": 2, "invoice_ref": "\\ud800"}',
        b'{"revision": 2, "invoice_ref": "<script>\\u202e"}',
        b'{"revision": 2, "invoice_ref": "' + b"x" * 201 + b'"}',
        b'{"revision": 2, "invoice_ref": "x", "amount": 100}',
        b"\xff\xfe",
    ],
)
def test_error_a_hostile_body_is_refused(served: Served, body: bytes) -> None:
    reply = served.caller.post(PATH, body, "key-1")
    assert (reply.status, reply.kind) == (422, "invalid-request")
    assert _recorded(served) == 0
    assert b"script" not in reply.body


def test_error_a_body_that_no_acknowledgement_needs(served: Served) -> None:
    assert served.caller.post(PATH, b'{"x": "' + b"x" * 70_000 + b'"}', "key-1").status == 413


@pytest.mark.parametrize("key", ["a b", "x" * 256, "\t"])
def test_error_a_key_that_no_header_should_hold(served: Served, key: str) -> None:
    assert served.caller.post(PATH, BODY, key).status in (400, 422)
    assert _recorded(served) == 0
