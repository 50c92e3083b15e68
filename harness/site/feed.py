"""What a society's readers subscribe to and embed: the Atom feed and the badge. Both print night, revision and counts
and lead to the revision's own address (publishing.md, Freshness)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.site.eval_json import HEADLINE, SocietyEntry
from harness.site.history import HistoryEntry, HistoryMeasure
from harness.site.render import render
from harness.site.views import percent_of, percent_shown
from harness.site.words import REASONS, STATUSES, StatusWords, day_text, status_words

MOST_ENTRIES: Final = 40
"""Entries of a feed, the newest; history.csv has all."""

_CHARACTER: Final = 6.7
"""Width of a character of a badge at 11 px, on the safe side; the text is fitted into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    id: str
    href: str
    title: str
    updated: str
    summary: str


def feed_of(society: SocietyEntry, entries: Sequence[HistoryEntry], base_url: str, *, sample: bool) -> bytes:
    """The feed of a society's revisions, the one published last first. Addresses are relative without a base_url."""
    told = [_entry(society, entry, base_url) for entry in reversed(entries[-MOST_ENTRIES:])]
    return render(
        "feed.atom.j2",
        society=society,
        entries=told,
        updated=max(entry.updated for entry in told),
        address=_address(base_url, society, ""),
        sample=sample,
    ).encode("utf-8")


def badge_of(society: SocietyEntry, entry: HistoryEntry, base_url: str, *, sample: bool) -> bytes:
    """The badge of a revision: society, counts, share and status, night and revision."""
    words = status_words(entry.status)
    parts = [
        f"{society.id} exact citation" + (", sample" if sample else ""),
        f"{_counts(entry)}, {words.word.lower()}",
        f"{entry.night} r{entry.revision}",
    ]
    widths = [round(len(part) * _CHARACTER) + 12 for part in parts]
    return render(
        "badge.svg.j2",
        parts=[
            {"text": part, "x": sum(widths[:number]), "width": width}
            for number, (part, width) in enumerate(zip(parts, widths, strict=True))
        ],
        width=sum(widths),
        says=", ".join(parts),
        status=entry.status if entry.status in STATUSES else "no_floor",
        href=_address(base_url, society, f"{entry.night}/r{entry.revision}/"),
    ).encode("utf-8")


def _entry(society: SocietyEntry, entry: HistoryEntry, base_url: str) -> FeedEntry:
    words = status_words(entry.status)
    updated = entry.scored_at or entry.finished_at
    return FeedEntry(
        id=f"urn:citehouse:eval:{society.slug}:{entry.run}:r{entry.revision}",
        href=_address(base_url, society, f"{entry.night}/r{entry.revision}/"),
        title=f"{society.id}, {_night(entry)}, revision {entry.revision}: {words.word}, {_counts(entry)}",
        updated=updated,
        summary=_summary(entry, words),
    )


def _night(entry: HistoryEntry) -> str:
    return f"{'nights' if entry.pooled else 'night'} of {day_text(entry.night)} (UTC)"


def _summary(entry: HistoryEntry, words: StatusWords) -> str:
    sentences = [words.says]
    if entry.revision > 1:
        why = "" if entry.reason is None else f": {REASONS.get(entry.reason, entry.reason)}"
        sentences.append(f"Revision {entry.revision} replaces revision {entry.revision - 1}{why}.")
    for measure in entry.measures:
        if measure.floor is not None and measure.floor_status is not None:
            status = status_words(measure.floor_status).word.lower()
            sentences.append(f"{measure.name}: {_counted(measure)}, floor {percent_of(measure.floor)} %, {status}.")
    if not entry.official:
        sentences.append("Not the official run of its night.")
    return " ".join(sentences)


def _counts(entry: HistoryEntry) -> str:
    headline = entry.measure(HEADLINE)
    return "no data" if headline is None else _counted(headline)


def _counted(measure: HistoryMeasure) -> str:
    if measure.value is None:
        return "no data"
    return f"{measure.good}/{measure.valid} ({percent_shown(measure.value)} %)"


def _address(base_url: str, society: SocietyEntry, below: str) -> str:
    return f"{base_url.rstrip('/')}/standards/{society.slug}/eval/{below}" if base_url else below or "index.html"
