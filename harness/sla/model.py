"""Assessments and settlements as values (sla.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.scoring.model import Outcomes
from harness.testset.model import Floor, Tier


class Status(StrEnum):
    """What a society, floor and window came to. `NO_FLOOR` is a page's status only, never a settlement's."""

    BREACHED = "breached"
    NOT_RUN = "not_run"
    INSUFFICIENT_DATA = "insufficient_data"
    MET = "met"
    NO_FLOOR = "no_floor"


class State(StrEnum):
    """Where a settlement stands in its life."""

    OPEN = "open"
    DISPUTED = "disputed"
    FINAL = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counts a floor is decided from: the named measure's good and valid, and all outcomes of the window.

    `calls_sent` is how many calls went out; with none the status is not_run.
    """

    good: int
    valid: int
    outcomes: Outcomes
    calls_sent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """One floor against one window's counts. `target_percent` is the tier's credit as its decimal string, else "0"."""

    floor: Floor
    status: Status
    counted: Counted
    tier: Tier | None
    target_percent: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A settlement event before the ledger numbers it. `data` is JSON-ready with decimals as strings.

    `time` is when it was true (window end), UTC text.
    """

    subject: str
    revision: int
    type: str
    time: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEvent:
    """A settlement event as stored: `body` is the canonical JSON of the CloudEvent, byte for byte what is served."""

    seq: int
    event_id: str
    subject: str
    revision: int
    type: str
    body: str
    data_sha256: str
    prev_sha256: str
    recorded_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The fold of a subject's events: state, assessed status, and percents as decimal strings: the target that stands,
    the one last assessed (a void or a dispute may have set another), and what has been final."""

    subject: str
    revision: int
    state: State
    status: Status
    target_percent: str
    assessed_percent: str
    billable_percent: str
    data: Mapping[str, Any]
