"""Every revision that came after another, of all societies: what it changed of the headline and why."""

from collections.abc import Sequence

import msgspec

from harness.site.eval_json import HEADLINE, EvalDocument


class RevisedHeadline(msgspec.Struct, frozen=True, kw_only=True):
    status: str
    good: int | str
    valid: int
    value: str | None


class RevisionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A revision beside the one that it came after; `before` None where that one was never published."""

    society: str
    slug: str
    night: str
    revision: int
    reason: str | None
    scored_at: str | None
    before: RevisedHeadline | None
    after: RevisedHeadline


class Revisions(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int
    revisions: list[RevisionEntry]


_REVISIONS = msgspec.json.Decoder(Revisions)


def revision_entry(before: EvalDocument | None, after: EvalDocument) -> RevisionEntry:
    """The entry of a revision."""
    return RevisionEntry(
        society=after.society.id,
        slug=after.society.slug,
        night=after.night,
        revision=after.revision,
        reason=after.reason,
        scored_at=after.scored_at,
        before=None if before is None else _headline(before),
        after=_headline(after),
    )


def read_revisions(content: bytes) -> list[RevisionEntry]:
    """The entries in the order of publishing."""
    return _REVISIONS.decode(content).revisions


def revisions_json(entries: Sequence[RevisionEntry]) -> bytes:
    """The file's bytes."""
    told = msgspec.json.encode(Revisions(schema_version=1, revisions=list(entries)))
    return msgspec.json.format(told, indent=1) + b"\n"


def _headline(document: EvalDocument) -> RevisedHeadline:
    entry = document.measure(HEADLINE)
    return RevisedHeadline(
        status=document.status,
        good=0 if entry is None else entry.good,
        valid=0 if entry is None else entry.valid,
        value=None if entry is None else entry.value,
    )
