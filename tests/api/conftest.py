"""A ledger with a history of every kind, served over real HTTP on both databases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from harness.errors import UsageError
from harness.sla.ledger import record_event
from harness.sla.model import EventDraft, LedgerEvent
from harness.sla.settlement import draft_clock, draft_events, fold
from harness.sla.windows import night_window
from harness.store.ledger import Ledger
from harness.store.terms import use_terms
from tests.api.server import Caller, serving, token_for
from tests.clock import FakeClock
from tests.sla.factories import NIGHT, NOW, SETTINGS, evaluated, terms
from tests.store.journals import ledger_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A ledger, its server, the clock that both have, and a caller with both scopes."""

    ledger: Ledger
    clock: FakeClock
    url: str
    caller: Caller

    def assess(self, good: int, nights: int = 0, slug: str = "asme", days: int = 30) -> None:
        """Assess a society's night, so many after the first, by that many good of 200."""
        under = terms(dispute_days=days)
        window = night_window(NIGHT + timedelta(days=nights))
        evaluation = evaluated(good, under=under, slug=slug, window=window)
        append(
            self.ledger,
            evaluation.subject,
            self.clock.now(),
            lambda now, history: draft_events(fold(history), evaluation, now),
        )

    def close(self) -> None:
        """Finalize what is due."""

        def due(now: datetime, history: Sequence[LedgerEvent]) -> Sequence[EventDraft]:
            settlement = fold(history)
            if settlement is None:
                raise UsageError("no such settlement")
            return draft_clock(settlement, now)

        for subject in sorted(self.ledger.subjects()):
            append(self.ledger, subject, self.clock.now(), due)


def append(ledger: Ledger, subject: str, now: datetime, drafts: object) -> Sequence[LedgerEvent]:
    """Append what `drafts(now, history)` says."""
    assert callable(drafts)

    def decide(history: Sequence[LedgerEvent], last: LedgerEvent | None) -> Sequence[LedgerEvent]:
        events = []
        for draft in drafts(now, history):
            last = record_event(draft, SETTINGS, last, now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
            events.append(last)
        return events

    return ledger.append(subject, decide)


@pytest.fixture
def served(engine: Engine, tmp_path: Path) -> Iterator[Served]:
    """Twelve nights of ASME, of which one is breached and final, and one night of SAE."""
    clock = FakeClock(NOW)
    ledger = ledger_of(engine)
    use_terms(engine, "asme", "ASME", terms(dispute_days=30), NIGHT.isoformat())
    with serving(ledger, clock) as url:
        made = Served(ledger=ledger, clock=clock, url=url, caller=Caller(url=url, token=token_for(engine, clock)))
        for night in range(12):
            made.assess(189 if night == 3 else 200, night)
        clock.advance(31 * 86_400)
        made.close()
        made.assess(150, 0, "sae")
        yield made
