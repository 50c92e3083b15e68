"""The client against the reference gateway: each of its faults arrives as the reason it should be."""

import asyncio
from pathlib import Path

import pytest

from harness.clock import SystemClock
from harness.gateway.answer import Answer, Question, Reason
from harness.gateway.rest import RestClient, RestSettings
from harness.reference.faults import Fault
from harness.reference.ledger import Ledger, digest_of
from tests.clock import FakeClock
from tests.gateway.servers import ask_at, ask_patiently
from tests.reference.library import KEY, gateway, write_library

QUESTION = Question(corpus="acme-p100", society="ACME", query="ovality after forming", max_tokens=1200)

REASONS = {
    Fault.TRUNCATED_JSON: Reason.NOT_JSON,
    Fault.HTML_PAGE: Reason.NOT_JSON,
    Fault.OVERSIZED: Reason.TOO_LARGE,
    Fault.HANG: Reason.TIMEOUT,
    Fault.SLOW_DRIP: Reason.TIMEOUT,
    Fault.UNLICENSED: Reason.FORBIDDEN,
    Fault.RATE_LIMIT_BURST: Reason.RATE_LIMITED,
    Fault.HTTP_500: Reason.HTTP_5XX,
    Fault.HTTP_503: Reason.HTTP_5XX,
    Fault.HTTP_503_ONCE: Reason.HTTP_5XX,
}


@pytest.fixture(scope="module")
def testsets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("testsets"))


@pytest.mark.parametrize("fault", [None, *Fault])
def test_a_fault_is_a_reason_or_an_answer_to_be_scored(testsets: Path, fault: Fault | None) -> None:
    reason = None if fault is None else REASONS.get(fault)
    timeout = 0.3 if reason is Reason.TIMEOUT else 60.0
    with gateway(testsets, faults=fault or "none", keys={"secret-key-of-the-tests": None}) as caller:
        answer = asyncio.run(ask_at(caller.url, QUESTION, call_timeout=timeout))
    assert answer.reason is reason
    if reason is None:
        assert len(answer.passages) == (
            0 if fault is Fault.EMPTY_PASSAGES else 3 if fault is Fault.OTHER_SOCIETY else 1
        )
        assert (answer.ledger_entry_id is None) is (fault is Fault.DROPPED_LEDGER_ID)
        assert answer.tokens_returned is not None


@pytest.mark.parametrize(("key", "reason"), [(None, Reason.UNAUTHORIZED), ("limited", Reason.FORBIDDEN), (KEY, None)])
def test_keys(testsets: Path, key: str | None, reason: Reason | None) -> None:
    async def run(url: str) -> Answer:
        client = RestClient(RestSettings(url=url, key=key), SystemClock())
        answer = await client.ask_once(QUESTION)
        await client.aclose()
        return answer

    with gateway(testsets, keys={KEY: None, "limited": ("bolt-9",)}) as caller:
        assert asyncio.run(run(caller.url)).reason is reason


@pytest.mark.parametrize(
    ("profile", "reasons"),
    [
        ("none", [None]),
        ("http_503_once", [Reason.HTTP_5XX, None]),
        ("rate_limit_burst", [Reason.RATE_LIMITED, None]),
        ("http_503", [Reason.HTTP_5XX] * 4),
        ("http_500", [Reason.HTTP_5XX]),
        ("unlicensed", [Reason.FORBIDDEN]),
    ],
)
def test_each_attempt_is_one_call_in_the_gateways_ledger(
    testsets: Path, tmp_path: Path, profile: str, reasons: list[Reason | None]
) -> None:
    file = tmp_path / "ledger.db"
    with gateway(testsets, faults=profile, ledger=file) as caller:
        answer = asyncio.run(ask_patiently(caller.url, QUESTION, FakeClock(), KEY))
    assert [each.reason for each in answer.attempts] == reasons
    ledger = Ledger(file)
    assert ledger.asked() == {digest_of(QUESTION.query): len(reasons)}
    known = [ledger.find(each.ledger_entry_id or "", digest_of(KEY)) for each in answer.attempts]
    assert [call is not None and call.status for call in known] == [each.http_status for each in answer.attempts]
    ledger.close()
