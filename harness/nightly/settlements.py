"""What a person does to a settlement, by name and with a note, as events of the ledger (sla.md, Settlements)."""

from collections.abc import Callable, Sequence
from datetime import datetime

from harness.errors import UsageError
from harness.nightly.emit import Emitter, append
from harness.sla.acts import draft_dispute, draft_rejected, draft_upheld, draft_void
from harness.sla.evaluation import ReasonCode
from harness.sla.model import EventDraft, LedgerEvent, Settlement
from harness.sla.settlement import after_draft, draft_clock
from harness.store.ledger import Act

Decision = Callable[[Settlement, datetime], EventDraft]


def dispute(emitter: Emitter, subject: str, act: Act) -> Sequence[LedgerEvent]:
    """Open a dispute; the events written. Raises UsageError as `sla.acts` says, and for an unknown subject."""
    return _act(emitter, subject, act, draft_dispute)


def uphold(emitter: Emitter, subject: str, act: Act, target_percent: str) -> Sequence[LedgerEvent]:
    """Decide a dispute for who disputed, with a new target."""
    return _act(emitter, subject, act, lambda settlement, now: draft_upheld(settlement, target_percent, now))


def reject(emitter: Emitter, subject: str, act: Act) -> Sequence[LedgerEvent]:
    """Decide a dispute against who disputed: the target stands."""
    return _act(emitter, subject, act, lambda settlement, _now: draft_rejected(settlement))


def void(emitter: Emitter, subject: str, act: Act, reason: ReasonCode) -> Sequence[LedgerEvent]:
    """Take the credit off an open settlement."""
    return _act(emitter, subject, act, lambda settlement, now: draft_void(settlement, reason, now))


def _act(emitter: Emitter, subject: str, act: Act, decision: Decision) -> Sequence[LedgerEvent]:
    """What the clock has done by now comes first, then the decision, then what the clock does at once."""

    def drafts(settlement: Settlement | None, now: datetime) -> Sequence[EventDraft]:
        if settlement is None:
            raise UsageError(f"settlement {subject[:200]!r}: not in this ledger; `harness flags list --all` lists them")
        before = draft_clock(settlement, now)
        decided = decision(after_draft(before[-1]) if before else settlement, now)
        return (*before, decided, *draft_clock(after_draft(decided), now))

    return append(emitter, subject, drafts, act)
