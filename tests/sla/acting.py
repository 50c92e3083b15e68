"""Persons acting on the settlement of a ledger, some days after its first event; the default is a breach of 25 %."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from harness.sla.acts import draft_dispute, draft_rejected, draft_upheld, draft_void
from harness.sla.model import LedgerEvent
from tests.sla.factories import NOW, act, breach, extend

Events = list[LedgerEvent]


def after(days: float) -> datetime:
    return NOW + timedelta(days=days)


def dispute(events: Sequence[LedgerEvent], days: float) -> Events:
    return act(events, lambda stands: draft_dispute(stands, after(days)), after(days))


def uphold(events: Sequence[LedgerEvent], days: float, percent: str) -> Events:
    return act(events, lambda stands: draft_upheld(stands, percent, after(days)), after(days))


def reject(events: Sequence[LedgerEvent], days: float) -> Events:
    return act(events, draft_rejected, after(days))


def void(events: Sequence[LedgerEvent], days: float, reason: Any = "voided_duplicate") -> Events:
    return act(events, lambda stands: draft_void(stands, reason, after(days)), after(days))


def opened(percent: str = "25") -> Events:
    """A breach, open for thirty days from NOW."""
    return extend([], breach(percent))


def voided(days: float = 1) -> Events:
    return void(opened(), days)


def upheld(days: float = 1) -> Events:
    return uphold(dispute(opened(), days), days, "12.5")
