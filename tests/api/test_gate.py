"""Who may call: scopes, expiry, revocation, and how often one may be wrong."""

from datetime import timedelta

import pytest

from harness.api.gate import MOST_FAILURES, WINDOW_SECONDS
from harness.store.tokens import create_token, revoke_token
from tests.api.conftest import Served
from tests.api.server import Caller, token_for

EVENTS = "/v1/sla/events"
ACKNOWLEDGE = "/v1/sla/settlements/slf_asme_citation_correctness_2026-12-02/acknowledgements"
BODY = {"revision": 2, "invoice_ref": "I-1"}


def _with(served: Served, token: str | None) -> Caller:
    return Caller(url=served.url, token=token)


def test_a_token_does_what_its_scopes_say(served: Served) -> None:
    reader = _with(served, token_for(served.ledger.engine, served.clock, "read:sla"))
    writer = _with(served, token_for(served.ledger.engine, served.clock, "write:ack"))
    assert (reader.get(EVENTS).status, writer.post(ACKNOWLEDGE, BODY, "k").status) == (200, 201)
    refused = reader.post(ACKNOWLEDGE, BODY, "k"), writer.get(EVENTS)
    assert [(reply.status, reply.kind) for reply in refused] == [(403, "wrong-scope")] * 2
    assert refused[0].json["detail"] == "The token lacks the scope write:ack."


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "cht_000000000000_" + "x" * 43,
        "cht_<script>_" + "x" * 43,
        "cht_000000000000_" + "x" * 5000,
        "cht_000000000000_" + "x" * 42 + "\xe9",
    ],
)
def test_error_no_such_token(served: Served, token: str) -> None:
    reply = _with(served, token).get(EVENTS)
    assert (reply.status, reply.kind) == (401, "no-token")
    assert b"script" not in reply.body


def test_error_another_scheme(served: Served) -> None:
    reply = Caller(url=served.url).call("GET", EVENTS, headers={"Authorization": f"Basic {served.caller.token}"})
    assert reply.status == 401


def test_error_a_secret_that_differs_in_one_character(served: Served) -> None:
    token = str(served.caller.token)
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    assert _with(served, wrong).get(EVENTS).status == 401
    assert _with(served, token).get(EVENTS).status == 200


def test_a_token_expires_and_can_be_revoked(served: Served) -> None:
    engine, clock = served.ledger.engine, served.clock
    token, text = create_token(engine, "short", ["read:sla"], clock.now(), clock.now() + timedelta(days=1))
    caller = _with(served, text)
    assert caller.get(EVENTS).status == 200
    clock.advance(86_400)
    assert caller.get(EVENTS).status == 401
    other, text = create_token(engine, "revoked", ["read:sla"], clock.now(), None)
    assert _with(served, text).get(EVENTS).status == 200
    revoke_token(engine, other.token_id, clock.now())
    assert _with(served, text).get(EVENTS).status == 401
    assert token.token_id != other.token_id


def test_failed_attempts_are_limited_and_others_are_not_hit(served: Served) -> None:
    token = str(served.caller.token)
    wrong = _with(served, token[:-1] + ("A" if token[-1] != "A" else "B"))
    other = _with(served, token_for(served.ledger.engine, served.clock))
    assert [wrong.get(EVENTS).status for _ in range(MOST_FAILURES)] == [401] * MOST_FAILURES
    limited = wrong.get(EVENTS)
    assert (limited.status, limited.kind) == (429, "too-many-failures")
    assert 0 < int(limited.headers["retry-after"]) <= WINDOW_SECONDS + 1
    assert served.caller.get(EVENTS).status == 429  # the right secret is not told from a lucky guess
    assert other.get(EVENTS).status == 200
    served.clock.advance(WINDOW_SECONDS)
    assert served.caller.get(EVENTS).status == 200


def test_made_up_tokens_are_limited_together(served: Served) -> None:
    replies = [_with(served, f"cht_{number:012x}_{'x' * 43}").get(EVENTS).status for number in range(MOST_FAILURES + 3)]
    assert replies == [401] * MOST_FAILURES + [429] * 3
    assert served.caller.get(EVENTS).status == 200


def test_every_answer_has_the_same_security_headers(served: Served) -> None:
    stranger = Caller(url=served.url)
    for reply in (served.caller.get(EVENTS), stranger.get(EVENTS), stranger.get("/healthz"), stranger.get("/nowhere")):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-security-policy"] == "default-src 'none'"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "cache-control" in reply.headers and "server" not in reply.headers


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "POST"])
def test_error_an_address_takes_its_own_method_only(served: Served, method: str) -> None:
    reply = served.caller.call(method, EVENTS)
    assert (reply.status, reply.headers["allow"]) == (405, "GET")
