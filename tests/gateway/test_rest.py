"""The REST client beside its reasons: Retry-After, timing, the pool, and that no secret or held-out text is shown."""

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import SystemClock
from harness.gateway.answer import Answer, Question, Reason
from harness.gateway.rest import RestClient, RestSettings, _retry_after
from tests.clock import FakeClock
from tests.gateway.servers import (
    KEY,
    QUERY,
    QUESTION,
    Respond,
    ask,
    ask_at,
    ask_patiently,
    hanging,
    replying,
    resetting,
    sending,
    serving,
)

NOW = datetime(2026, 3, 1, 2, 17, tzinfo=UTC)
BUSY = "429 Too Many Requests"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 120 ", 120.0),
        ("999999999", 999_999_999.0),
        ("Sun, 01 Mar 2026 02:18:30 GMT", 90.0),
        ("Sun, 01 Mar 2026 02:18:30 -0000", 90.0),  # whatever the zone of this machine
        ("Sun, 01 Mar 2026 03:18:30 +0100", 90.0),
        ("Sunday, 01-Mar-26 02:18:30 GMT", 90.0),  # the two older forms of a date
        ("Sun Mar  1 02:18:30 2026", 90.0),
        ("Sun, 01 Mar 2026 02:16:59 GMT", 0.0),  # already past
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("1234567890", None),
        ("\u0663", None),
        ("Sun, 32 Mar 2026 02:18:30 GMT", None),
        ("Sun, 01 Mar 20266666666666666666666 00:01:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -2300", None),
        ("Sun, 01 Mar 2026 02:18:30 +99999999999999999999", None),
    ],
)
def test_retry_after(header: str, seconds: float | None) -> None:
    assert _retry_after(header, NOW) == seconds


@given(header=st.text() | st.text("0123456789 :,+-GMTSunMar"))
def test_any_retry_after_is_read_or_taken_for_none(header: str) -> None:
    seconds = _retry_after(header, NOW)
    assert seconds is None or seconds >= 0.0


@pytest.mark.parametrize(
    ("status", "reason"), [(BUSY, Reason.RATE_LIMITED), ("503 Busy", Reason.HTTP_5XX), ("408 Slow", Reason.HTTP_4XX)]
)
@pytest.mark.parametrize("header", ["90", "Sun, 01 Mar 2026 02:18:30 GMT"])
def test_retry_after_comes_with_the_attempt(status: str, reason: Reason, header: str) -> None:
    answer = ask(replying(status=status, Retry_After=header), clock=FakeClock(NOW))
    assert (answer.reason, answer.attempts[0].retry_after_s) == (reason, 90.0)
    assert ask(replying(status=status)).attempts[0].retry_after_s is None


def test_elapsed_is_our_clocks_whole_milliseconds() -> None:
    clock = FakeClock()

    async def respond(writer: asyncio.StreamWriter) -> None:
        clock.advance(0.1236)
        await replying(b'{"passages": []}')(writer)

    answer = ask(respond, clock=clock)
    assert (answer.latency_ms, answer.attempts[0].http_status) == (124, 200)


def test_a_failed_attempt_has_a_duration_too() -> None:
    clock = FakeClock()

    async def respond(writer: asyncio.StreamWriter) -> None:
        clock.advance(2.0)
        await resetting(writer)

    assert ask(respond, clock=clock).latency_ms == 2000


def test_a_cookie_is_not_sent_back() -> None:
    async def run() -> list[bytes]:
        async with serving(replying(b'{"passages": []}', Set_Cookie="a=b; Path=/")) as server:
            client = RestClient(RestSettings(url=server.url), SystemClock())
            for _ in range(2):
                await client.ask_once(QUESTION)
            await client.aclose()
            return server.requests

    requests = asyncio.run(run())
    assert len(requests) == 2
    assert all(b"cookie" not in each.lower() for each in requests)
    assert all(b"authorization" not in each.lower() for each in requests)  # no key, no header


def test_a_base_url_may_have_a_path() -> None:
    async def run() -> bytes:
        async with serving(replying(b'{"passages": []}')) as server:
            await ask_at(f"{server.url}/tenant/a")
            return server.requests[0]

    assert asyncio.run(run()).startswith(b"POST /tenant/a/api/v1/corpora/acme-p100/query HTTP/1.1\r\n")


def test_many_questions_at_once_each_get_their_own_answer() -> None:
    async def run() -> list[Answer]:
        async with serving(replying(b'{"passages": [], "tokens_returned": 1}')) as server:
            client = RestClient(RestSettings(url=server.url, connections=3), SystemClock())
            answers = await asyncio.gather(*(client.ask_once(QUESTION) for _ in range(40)))
            await client.aclose()
            assert len(server.requests) == 40
            return answers

    assert {(each.reason, each.tokens_returned) for each in asyncio.run(run())} == {(None, 1)}


def test_a_cancelled_call_is_cancelled() -> None:
    """Cancelling is ours, no fault of the gateway's: it is not turned into a reason."""

    async def run() -> None:
        asked = asyncio.Event()

        async def respond(writer: asyncio.StreamWriter) -> None:
            asked.set()
            await hanging(writer)

        async with serving(respond) as server:
            call = asyncio.create_task(ask_at(server.url))
            await asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(run())


def test_retries_over_a_real_server_end_in_the_answer() -> None:
    replies = [resetting, replying(status="503 Busy"), replying(b'{"passages": [], "ledger_entry_id": "le_1"}')]

    async def respond(writer: asyncio.StreamWriter) -> None:
        await replies.pop(0)(writer)

    async def run() -> tuple[Answer, int]:
        async with serving(respond) as server:
            return await ask_patiently(server.url, QUESTION, FakeClock()), len(server.requests)

    answer, requests = asyncio.run(run())
    assert [each.reason for each in answer.attempts] == [Reason.DISCONNECTED, Reason.HTTP_5XX, None]
    assert (answer.reason, answer.ledger_entry_id, requests) == (None, "le_1", 3)


SECRETS = (KEY, QUERY, "held-out")


@pytest.mark.parametrize(
    "respond",
    [
        replying(b'{"passages": [{"text": "held-out passage", "citation": "held-out"}]}'),
        replying(b'{"passages": [{"text": "held-out passage"'),
        replying(b'{"detail": "held-out"}', status="422 No"),
        sending(b"held-out garbage\r\n\r\n"),
        resetting,
    ],
)
def test_neither_key_nor_held_out_text_is_shown(
    respond: Respond, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Representations go into tracebacks and logs; both are searched, with every logger wide open."""
    caplog.set_level(logging.DEBUG)

    async def run() -> str:
        asyncio.get_running_loop().set_debug(True)
        async with serving(respond) as server:
            settings = RestSettings(url=server.url, key=KEY)
            client = RestClient(settings, SystemClock())
            answer = await client.ask_once(QUESTION)
            shown = f"{settings!r} {client!r} {client.__dict__!r} {answer!r} {QUESTION!r} {answer.attempts!r}"
            await client.aclose()
            return shown

    shown = asyncio.run(run())
    told = shown + caplog.text + "".join(capsys.readouterr())
    assert [secret for secret in SECRETS if secret in told] == []


def test_a_question_shows_where_it_belongs_and_not_what_it_asks() -> None:
    assert repr(Question(corpus="c", society="S", query=QUERY, max_tokens=1, ref="s/1")) == (
        "Question(corpus='c', society='S', max_tokens=1, editions=None, ref='s/1')"
    )


def test_a_ca_file_that_is_not_there_is_our_error() -> None:
    async def run() -> None:
        RestClient(RestSettings(url="https://gateway.invalid", ca_file=Path("/no/such/file.pem")), SystemClock())

    with pytest.raises(FileNotFoundError):
        asyncio.run(run())
