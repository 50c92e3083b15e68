"""What a person does to a settlement: dispute it, decide the dispute, void it (sla.md, Settlements)."""

import re
from datetime import datetime
from fractions import Fraction
from typing import Final

from harness.errors import UsageError
from harness.sla.evaluation import ReasonCode
from harness.sla.model import EventDraft, Settlement, State
from harness.sla.settlement import DISPUTED, RESOLVED, REVISED, dispute_days, draft_next, new_clock, with_target

VOID_REASONS: Final[tuple[ReasonCode, ...]] = ("voided_duplicate", "harness_fault")
"""What a void may be for; wrong gold or a wrong scorer is rescored, so that the numbers say it."""

_PERCENT: Final = re.compile(r"(?:0|[1-9][0-9]?)(?:\.[0-9]*[1-9])?|100")


def draft_dispute(settlement: Settlement, now: datetime) -> EventDraft:
    """An open settlement becomes disputed; undecided within the contract's days, the dispute ends by itself.

    Raises UsageError for a settlement that is not open: a final one is final, and one dispute runs at a time.
    """
    _require(settlement, State.OPEN, "be disputed")
    decide_by = new_clock(now, dispute_days(settlement))["closes"]
    dispute = {**settlement.data["dispute"], "decide_by": decide_by}
    return draft_next(settlement, DISPUTED, {"state": State.DISPUTED, "reason": None, "dispute": dispute})


def draft_upheld(settlement: Settlement, target_percent: str, now: datetime) -> EventDraft:
    """A dispute is upheld with a new target, which has a dispute clock of its own.

    Raises UsageError where there is no dispute, for a text that is no percent, and for less than what is billable.
    """
    _require(settlement, State.DISPUTED, "have its dispute decided")
    if not _PERCENT.fullmatch(target_percent):
        raise UsageError(
            f"target: found {target_percent[:40]!r}; expected a percent from 0 to 100 in its shortest form, "
            "such as 12.5"
        )
    if Fraction(target_percent) < Fraction(settlement.billable_percent):
        raise UsageError(
            f"target: found {target_percent}; expected at least {settlement.billable_percent}, "
            "which has been final: a final target never falls"
        )
    changes = {
        "state": State.OPEN,
        "reason": "dispute_upheld",
        "dispute": new_clock(now, dispute_days(settlement)),
        **with_target(settlement, target_percent),
    }
    return draft_next(settlement, RESOLVED, changes)


def draft_rejected(settlement: Settlement) -> EventDraft:
    """A dispute is rejected: the target stands, and so does the clock that was running before.

    Raises UsageError where there is no dispute.
    """
    _require(settlement, State.DISPUTED, "have its dispute decided")
    dispute = {**settlement.data["dispute"], "decide_by": None}
    return draft_next(settlement, RESOLVED, {"state": State.OPEN, "reason": "dispute_rejected", "dispute": dispute})


def draft_void(settlement: Settlement, reason: ReasonCode, now: datetime) -> EventDraft:
    """An open settlement loses its credit, down to what has been final before; the other side may dispute that.

    Raises UsageError for a settlement that is not open, one without a credit to void, and any other reason code.
    """
    if reason not in VOID_REASONS:
        raise UsageError(f"reason: found {reason!r}; expected one of {', '.join(VOID_REASONS)}")
    _require(settlement, State.OPEN, "be voided")
    if Fraction(settlement.target_percent) == Fraction(settlement.billable_percent):
        raise UsageError(f"{settlement.subject}: has no credit that could be voided; nothing was written")
    changes = {
        "reason": reason,
        "dispute": new_clock(now, dispute_days(settlement)),
        **with_target(settlement, settlement.billable_percent),
    }
    return draft_next(settlement, REVISED, changes)


def _require(settlement: Settlement, state: State, what: str) -> None:
    if settlement.state is not state:
        raise UsageError(
            f"{settlement.subject}: is {settlement.state}; only a settlement that is {state} can {what}. "
            "Nothing was written."
        )
