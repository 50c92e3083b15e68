"""An acknowledgement is recorded once for each key, whoever sends it and however many at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Engine, func, select

from harness.store.acknowledgements import (
    Acknowledgement,
    KeyReused,
    UnknownRevision,
    acknowledge,
    find_acknowledgements,
)
from harness.store.engine import open_engine, reading
from harness.store.schema import ACKNOWLEDGEMENT
from tests.sla.factories import SUBJECT
from tests.store.journals import feed, ledger_of, nights
from tests.store.processes import at_once

OTHER = "slf_asme_citation_correctness_2026-11-30"
OFFERED = Acknowledgement(
    idempotency_key="key-1",
    subject=SUBJECT,
    revision=1,
    invoice_ref="2026-12-0017",
    token_id="0123456789ab",
    request_sha256="a" * 64,
    recorded_at="2026-12-01T12:00:00.000000Z",
)
EACH = 10


@pytest.fixture
def ledger(engine: Engine) -> Iterator[Engine]:
    """A database whose ledger has the first revision of two settlements."""
    feed(ledger_of(engine), nights(2))
    yield engine


def test_what_was_said_comes_back_as_it_was(ledger: Engine) -> None:
    assert acknowledge(ledger, OFFERED) == (OFFERED, True)
    assert find_acknowledgements(ledger, SUBJECT) == [OFFERED]
    assert find_acknowledgements(ledger, OTHER) == []


def test_the_same_request_again_finds_the_first(ledger: Engine) -> None:
    acknowledge(ledger, OFFERED)
    later = replace(OFFERED, token_id="f" * 12, recorded_at="2026-12-02T12:00:00.000000Z")
    assert acknowledge(ledger, later) == (OFFERED, False)
    assert find_acknowledgements(ledger, SUBJECT) == [OFFERED]


def test_another_key_says_it_again(ledger: Engine) -> None:
    acknowledge(ledger, OFFERED)
    second = replace(OFFERED, idempotency_key="key-0", recorded_at="2026-12-02T12:00:00.000000Z")
    assert acknowledge(ledger, second) == (second, True)
    assert find_acknowledgements(ledger, SUBJECT) == [OFFERED, second]


def test_error_a_key_that_stands_for_another_request(ledger: Engine) -> None:
    acknowledge(ledger, OFFERED)
    with pytest.raises(KeyReused, match="came before with another subject or body"):
        acknowledge(ledger, replace(OFFERED, subject=OTHER, request_sha256="b" * 64))
    assert find_acknowledgements(ledger, OTHER) == []


@pytest.mark.parametrize(("subject", "revision"), [(SUBJECT, 2), (SUBJECT, 0), ("slf_x", 1)])
def test_error_a_revision_that_was_never_written(ledger: Engine, subject: str, revision: int) -> None:
    with pytest.raises(UnknownRevision, match=rf"revision {revision} of this settlement does not exist"):
        acknowledge(ledger, replace(OFFERED, subject=subject, revision=revision))
    assert acknowledge(ledger, OFFERED) == (OFFERED, True)  # the key was not used up


def _said(url: str, number: int) -> list[tuple[str, bool]]:
    """Say each thing that all say, and one of one's own; what was answered."""
    engine = open_engine(url)
    try:
        shared = [replace(OFFERED, idempotency_key=f"shared-{each}", token_id=f"{number:012}") for each in range(EACH)]
        own = replace(OFFERED, idempotency_key=f"own-{number}", token_id=f"{number:012}")
        answers = [acknowledge(engine, each) for each in (*shared, own)]
        return [(recorded.token_id, new) for recorded, new in answers]
    finally:
        engine.dispose()


def _threads(url: str) -> list[list[tuple[str, bool]]]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda number: _said(url, number), range(4)))


def _processes(url: str) -> list[list[tuple[str, bool]]]:
    return at_once(4, _said, url)


@pytest.mark.parametrize("callers", [_threads, _processes], ids=["threads", "processes"])
def test_many_at_once_with_one_key_are_one(
    ledger: Engine, database_url: str, callers: Callable[[str], list[list[tuple[str, bool]]]]
) -> None:
    answers = callers(database_url)
    for each in range(EACH):
        assert len({answer[each][0] for answer in answers}) == 1
        assert sum(answer[each][1] for answer in answers) == 1
    assert all(answer[EACH] == (f"{number:012}", True) for number, answer in enumerate(answers))
    with reading(ledger) as connection:
        assert connection.execute(select(func.count()).select_from(ACKNOWLEDGEMENT)).scalar_one() == EACH + 4
