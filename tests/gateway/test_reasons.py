"""Each reason that a REST call can end with arises from what a server does, and from nothing else (law 6)."""

import asyncio
import gzip
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gateway.answer import Answer, Reason
from harness.gateway.rest import SIZE_LIMIT
from tests.gateway.servers import (
    KEY,
    Respond,
    ask,
    ask_at,
    dripping,
    hanging,
    replying,
    resetting,
    self_signed,
    sending,
    serving,
)

GOOD = b'{"passages": [{"citation": "[ACME P-100 1]"}], "tokens_returned": 3, "ledger_entry_id": "le_1"}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
LARGE = b'{"passages": [], "x": "' + b"x" * SIZE_LIMIT + b'"}'

SERVERS: list[tuple[str, Reason | None, Respond]] = [
    ("good", None, replying(GOOD, Content_Type="application/json")),
    ("no content type", None, replying(GOOD)),
    ("wrong content type, right body", None, replying(GOOD, Content_Type="text/plain; charset=UTF-8")),
    ("chunked", None, sending(HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD))),
    ("compressed", None, replying(gzip.compress(GOOD), Content_Encoding="gzip")),
    ("until the end", None, sending(HEAD + b"\r\n" + GOOD)),
    ("empty passages", None, replying(b'{"passages": []}')),
    ("just within the limit", None, replying(b'{"passages": []}'.ljust(SIZE_LIMIT))),
    ("hang", Reason.TIMEOUT, hanging),
    ("drip of head", Reason.TIMEOUT, dripping(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n")),
    ("drip of body", Reason.TIMEOUT, dripping(HEAD + b"\r\n", b" ")),
    ("reset", Reason.DISCONNECTED, resetting),
    ("nothing", Reason.DISCONNECTED, sending(b"")),
    ("half a head", Reason.DISCONNECTED, sending(b"HTTP/1.1 200 OK\r\nContent-")),
    ("half a body", Reason.DISCONNECTED, sending(HEAD + b"Content-Length: 999\r\n\r\n" + GOOD)),
    ("half a chunk", Reason.DISCONNECTED, sending(HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{")),
    ("no HTTP", Reason.DISCONNECTED, sending(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")),
    ("bad status line", Reason.DISCONNECTED, sending(b"HTTP/1.1 abc\r\n\r\n")),
    ("bad length", Reason.DISCONNECTED, sending(HEAD + b"Content-Length: x\r\n\r\n" + GOOD)),
    ("bad chunk size", Reason.DISCONNECTED, sending(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")),
    ("not what is compressed", Reason.DISCONNECTED, replying(GOOD, Content_Encoding="gzip")),
    ("endless header", Reason.DISCONNECTED, sending(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")),
    ("401", Reason.UNAUTHORIZED, replying(status="401 Unauthorized")),
    ("403", Reason.FORBIDDEN, replying(status="403 Forbidden")),
    ("400", Reason.HTTP_4XX, replying(status="400 Bad Request")),
    ("404", Reason.HTTP_4XX, replying(status="404 Not Found")),
    ("408", Reason.HTTP_4XX, replying(status="408 Request Timeout")),
    ("422", Reason.HTTP_4XX, replying(status="422 Unprocessable Content")),
    ("500 with a good body", Reason.HTTP_5XX, replying(GOOD, status="500 Internal Server Error")),
    ("503", Reason.HTTP_5XX, replying(status="503 Service Unavailable")),
    ("599", Reason.HTTP_5XX, replying(status="599 Odd")),
    ("301", Reason.REDIRECTED, replying(status="301 Moved Permanently", Location="/elsewhere")),
    ("304", Reason.REDIRECTED, replying(status="304 Not Modified")),
    ("429", Reason.RATE_LIMITED, replying(status="429 Too Many Requests")),
    ("html", Reason.NOT_JSON, replying(b"<!doctype html>", Content_Type="text/html")),
    ("empty body", Reason.NOT_JSON, replying()),
    ("truncated", Reason.NOT_JSON, replying(GOOD[:40])),
    ("latin-1 charset", Reason.NOT_JSON, replying(GOOD, Content_Type="application/json; charset=iso-8859-1")),
    ("utf-16", Reason.NOT_JSON, replying(GOOD.decode().encode("utf-16"))),
    ("byte order mark", Reason.NOT_JSON, replying(b"\xef\xbb\xbf" + GOOD)),
    ("not UTF-8", Reason.NOT_JSON, replying(b'{"passages": [], "x": "\xa7"}')),
    ("key twice", Reason.NOT_JSON, replying(b'{"passages": [], "passages": []}')),
    ("NaN", Reason.NOT_JSON, replying(b'{"passages": [{"edition_year": NaN}]}')),
    ("infinite", Reason.NOT_JSON, replying(b'{"passages": [{"edition_year": 1e999}]}')),
    ("lone surrogate", Reason.NOT_JSON, replying(b'{"passages": [{"citation": "\\ud800"}]}')),
    ("very deep", Reason.NOT_JSON, replying(b"[" * 100_000)),
    ("array", Reason.BAD_SHAPE, replying(b"[]")),
    ("no passages", Reason.BAD_SHAPE, replying(b"{}")),
    ("null passages", Reason.BAD_SHAPE, replying(b'{"passages": null}')),
    ("passages by name", Reason.BAD_SHAPE, replying(b'{"passages": {"1": {}}}')),
    ("passage no object", Reason.BAD_SHAPE, replying(b'{"passages": [{}, "[ACME P-100 1]"]}')),
    ("201", Reason.BAD_SHAPE, replying(GOOD, status="201 Created")),
    ("204", Reason.BAD_SHAPE, sending(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")),
    ("too large", Reason.TOO_LARGE, replying(LARGE)),
    ("too large without a length", Reason.TOO_LARGE, sending(HEAD + b"\r\n" + LARGE)),
    ("too large once unpacked", Reason.TOO_LARGE, replying(gzip.compress(LARGE), Content_Encoding="gzip")),
    ("endless", Reason.TOO_LARGE, dripping(HEAD + b"\r\n", b"x" * 1_000_000)),
    ("large error page", Reason.TOO_LARGE, replying(LARGE, status="500 Internal Server Error")),
]
ELSEWHERE = {Reason.CONNECT, Reason.DNS, Reason.TLS}
OTHER_TRANSPORTS = {Reason.TOOL_ERROR, Reason.TASK_FAILED}


def only_attempt(answer: Answer) -> Answer:
    """The answer, which has the one attempt that says the same as it, and no passages unless it is usable."""
    (attempt,) = answer.attempts
    assert (attempt.reason, attempt.ledger_entry_id) == (answer.reason, answer.ledger_entry_id)
    assert attempt.elapsed_ms >= 0
    assert answer.usable or not answer.passages
    assert (answer.transport, answer.protocol_version) == ("rest", "v1")
    return answer


@pytest.mark.parametrize(("reason", "respond"), [pytest.param(*row[1:], id=row[0]) for row in SERVERS])
def test_what_a_server_does_is_the_reason(reason: Reason | None, respond: Respond) -> None:
    slow = reason is Reason.TIMEOUT
    answer = only_attempt(ask(respond, call_timeout=0.2 if slow else 60.0))
    assert answer.reason is reason


def test_every_reason_is_met_by_a_server_here() -> None:
    met = {reason for _, reason, _ in SERVERS if reason is not None}
    assert met | ELSEWHERE | OTHER_TRANSPORTS == set(Reason)
    assert met.isdisjoint(ELSEWHERE | OTHER_TRANSPORTS)
    assert len({name for name, _, _ in SERVERS}) == len(SERVERS)


def test_nobody_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        answer = only_attempt(asyncio.run(ask_at(f"http://127.0.0.1:{port}")))
    assert answer.reason is Reason.CONNECT
    assert answer.attempts[0].http_status is None


def test_no_such_name() -> None:
    answer = only_attempt(asyncio.run(ask_at("http://gateway.invalid")))
    assert answer.reason is Reason.DNS


def test_no_time_at_all() -> None:
    assert only_attempt(ask(replying(GOOD), call_timeout=0)).reason is Reason.TIMEOUT


Names = Callable[[Path], Path | None]


@pytest.mark.parametrize(
    ("name", "trusts", "reason"),
    [
        ("IP:127.0.0.1", lambda certificate: certificate, None),
        ("IP:127.0.0.1", lambda _: None, Reason.TLS),  # nobody vouches for it
        ("DNS:another.example", lambda certificate: certificate, Reason.TLS),  # trusted, but for another host
    ],
)
def test_tls_is_verified(tmp_path: Path, name: str, trusts: Names, reason: Reason | None) -> None:
    certificate, context = self_signed(tmp_path, name)

    async def run() -> tuple[Answer, list[bytes]]:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # the server's side of a refused handshake
        async with serving(replying(GOOD), context) as server:
            return await ask_at(server.url, ca_file=trusts(certificate)), server.requests

    answer, requests = asyncio.run(run())
    assert only_attempt(answer).reason is reason
    assert len(requests) == (1 if reason is None else 0)  # the key is not sent where the peer is not known


def test_tls_to_a_server_that_has_none() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run() -> Answer:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            return await ask_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    assert only_attempt(asyncio.run(run())).reason is Reason.TLS


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_and_the_key_stays(status: str) -> None:
    async def run() -> tuple[Answer, list[bytes], list[bytes]]:
        async with serving(replying(GOOD)) as other, serving(replying(status=status, Location=other.url)) as server:
            return await ask_at(server.url), server.requests, other.requests

    answer, here, there = asyncio.run(run())
    assert only_attempt(answer).reason is Reason.REDIRECTED
    assert (len(here), there) == (1, [])
    assert KEY.encode() in here[0]


def test_a_deep_body_with_an_escape_is_read_or_refused() -> None:
    """Whatever nesting the decoder lets through, looking for surrogates must not break on it."""
    for depth in (100, 400, 600, 900, 1000, 5000):
        body = b'{"passages": [], "x": ["\\u0041", ' + b"[" * depth + b"]" * depth + b"]}"
        assert ask(replying(body)).reason in {None, Reason.NOT_JSON}


def test_the_body_of_a_refusal_is_kept_with_its_ledger_entry() -> None:
    body = json.dumps({"title": "Busy", "ledger_entry_id": "le_7"}).encode()
    answer = only_attempt(ask(replying(body, status="503 Busy", Content_Type="application/problem+json")))
    assert (answer.raw, answer.ledger_entry_id) == (body, "le_7")
    assert answer.attempts[0].http_status == 503
