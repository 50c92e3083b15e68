"""Settlement events as the ledger keeps them: CloudEvents in canonical JSON, numbered and chained (sla.md, Ledger)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.sla.model import EventDraft, LedgerEvent
from harness.testset.digest import canonical_json, digest

GENESIS: Final = "0" * 64
"""The chain's link before the first event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSettings:
    """What every event says of its origin: the deployment's URI and the prefix of event types."""

    source: str
    type_prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLink:
    """The first event that is not what was written; `says` tells what differs."""

    seq: int
    subject: str
    says: str


def record_event(
    draft: EventDraft, settings: LedgerSettings, last: LedgerEvent | None, recorded_at: str
) -> LedgerEvent:
    """The event as the next one after `last`; `body` is byte for byte what is served."""
    seq = 1 if last is None else last.seq + 1
    event_id = event_id_of(settings.source, draft.subject, draft.revision)
    envelope = {
        "specversion": "1.0",
        "id": event_id,
        "source": settings.source,
        "type": settings.type_prefix + draft.type,
        "subject": draft.subject,
        "time": draft.time,
        "recordedtime": recorded_at,
        "sequence": f"{seq:020d}",
        "datacontenttype": "application/json",
    }
    return LedgerEvent(
        seq=seq,
        event_id=event_id,
        subject=draft.subject,
        revision=draft.revision,
        type=envelope["type"],
        body=canonical_json({**envelope, "data": draft.data}),
        data_sha256=digest(draft.data),
        prev_sha256=GENESIS if last is None else link_of(last),
        recorded_at=recorded_at,
    )


def event_id_of(source: str, subject: str, revision: int) -> str:
    """The same event always has the same id, whoever writes it."""
    return digest([source, subject, revision])


def link_of(event: LedgerEvent) -> str:
    """The digest that the next event carries: over everything of this one, its own link included."""
    return digest([getattr(event, name) for name in LedgerEvent.__slots__])


def find_broken_link(events: Iterable[LedgerEvent]) -> BrokenLink | None:
    """Walk the ledger in sequence; the first event that does not follow from the one before, None where all do."""
    last: LedgerEvent | None = None
    revisions: dict[str, int] = {}
    for event in events:
        if says := _fault(event, last, revisions.get(event.subject, 0)):
            return BrokenLink(seq=event.seq, subject=event.subject, says=says)
        revisions[event.subject] = event.revision
        last = event
    return None


def _fault(event: LedgerEvent, last: LedgerEvent | None, revision_before: int) -> str:
    due = 1 if last is None else last.seq + 1
    if event.seq != due:
        return f"sequence {event.seq} stands where {due} is due"
    if event.prev_sha256 != (GENESIS if last is None else link_of(last)):
        return "the event before it was altered, or this one's link was"
    if event.revision != revision_before + 1:
        return f"revision {event.revision} of its subject stands where {revision_before + 1} is due"
    try:
        return _body_fault(event, json.loads(event.body))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "its body is no event"


def _body_fault(event: LedgerEvent, body: Mapping[str, Any]) -> str:
    """What of a body, every attribute of it, is not as `record_event` writes it."""
    data = body["data"]
    if digest(data) != event.data_sha256:
        return "its data differs from the digest beside it"
    if canonical_json(body) != event.body:
        return "its body is not in the canonical form"
    if event.event_id != event_id_of(body["source"], event.subject, event.revision):
        return "its id is not that of its source, subject and revision"
    kept = {
        "specversion": "1.0",
        "id": event.event_id,
        "source": body["source"],
        "type": event.type,
        "subject": event.subject,
        "time": data["window"]["end"],
        "recordedtime": event.recorded_at,
        "sequence": f"{event.seq:020d}",
        "datacontenttype": "application/json",
        "data": data,
    }
    if body != kept or (data["subject"], data["revision"]) != (event.subject, event.revision):
        return "its body and its row disagree"
    return ""
