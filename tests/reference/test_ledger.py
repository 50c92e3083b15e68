"""The gateway's own record of calls, and its rate limit."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reference.ledger import Call, Ledger, digest_of, new_entry_id
from harness.reference.limit import RateLimit
from tests.clock import FakeClock


def call(entry: str, question: str | None = "a?", key: str = "k") -> Call:
    return Call(
        id=entry,
        at="2026-03-01T02:17:00.000000Z",
        key_sha256=digest_of(key),
        operation="query_standard",
        corpus="acme-p100",
        question_sha256=None if question is None else digest_of(question),
        status=200,
        tokens_returned=7,
        latency_ms=1,
    )


def test_a_written_call_is_found_by_its_key_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.write(call("le_1"))
    assert ledger.find("le_1", digest_of("k")) == call("le_1")
    assert ledger.find("le_1", digest_of("another")) is None
    assert ledger.find("le_2", digest_of("k")) is None
    ledger.close()


def test_calls_survive_and_are_counted_by_question(tmp_path: Path) -> None:
    first = Ledger(tmp_path / "ledger.db")
    for number, question in enumerate(["a?", "b?", "a?", None]):
        first.write(call(f"le_{number}", question))
    beside = Ledger(tmp_path / "ledger.db")  # a reader while the gateway runs
    assert beside.count() == 4
    first.close()
    assert beside.asked() == {digest_of("a?"): 2, digest_of("b?"): 1}
    beside.close()


@pytest.mark.parametrize(
    ("name", "why"), [("no/such/ledger.db", "unable to open database file"), ("text.db", "file is not a database")]
)
def test_error_ledger_that_cannot_be_opened(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "text.db").write_text("this is not a database, however long one reads on\n" * 40, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        Ledger(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: cannot open the gateway's ledger: {why}"


def test_audit_tells_no_key() -> None:
    assert call("le_1").wire() == {
        "ledger_entry_id": "le_1",
        "at": "2026-03-01T02:17:00.000000Z",
        "operation": "query_standard",
        "corpus": "acme-p100",
        "question_sha256": digest_of("a?"),
        "status": 200,
        "tokens_returned": 7,
        "latency_ms": 1,
    }


def test_entry_ids_are_their_own() -> None:
    entries = {new_entry_id() for _ in range(1000)}
    assert len(entries) == 1000
    assert all(entry.startswith("le_") and len(entry) == 27 for entry in entries)


@pytest.mark.parametrize(
    ("rate", "taken"),
    [
        (None, [None] * 6),
        (2.0, [None, None, 1, 1, 1, 1]),
        (0.25, [None, 4, 4, 4, 4, 4]),
    ],
)
def test_rate_limit_at_one_moment(rate: float | None, taken: list[int | None]) -> None:
    limit = RateLimit(FakeClock(), rate)
    assert [limit.take("k") for _ in range(6)] == taken


def test_rate_limit_refills_by_key() -> None:
    clock = FakeClock()
    limit = RateLimit(clock, 0.25)
    assert (limit.take("k"), limit.take("other"), limit.take("k")) == (None, None, 4)
    clock.advance(3)
    assert limit.take("k") == 1
    clock.advance(1)
    assert (limit.take("k"), limit.take("k")) == (None, 4)
    clock.advance(1_000)
    assert (limit.take("k"), limit.take("k")) == (None, 4)
