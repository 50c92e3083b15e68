"""index.json: every society's latest night in one file, and what the pages of all societies are made of."""

from collections.abc import Sequence
from typing import Final

import msgspec

from harness.site.eval_json import HEADLINE, EvalDocument, FloorEntry, MeasureEntry, SocietyEntry
from harness.site.history import HistoryEntry, shown_nights

SPARK_NIGHTS: Final = 30
"""Nights that the overview's small trends look back."""


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The headline of a night; `value` None without data."""

    night: str
    value: str | None


class StaleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured and refused at publishing, so that older numbers are still shown."""

    night: str
    revision: int


class IndexEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One society of index.json: its latest night with the headline measure, as its eval.json has them.

    `since` is its first night, `trend` its last nights, oldest first; `months` are those pooled and settled.
    """

    society: SocietyEntry
    night: str
    revision: int
    official: bool
    status: str
    floors: list[FloorEntry]
    headline: MeasureEntry | None
    eval: str
    finished_at: str = ""
    since: str = ""
    trend: list[TrendPoint] = []
    months: list[str] = []
    stale: StaleEntry | None = None


class Index(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int
    societies: list[IndexEntry]


_INDEX = msgspec.json.Decoder(Index)


def index_entry(document: EvalDocument, history: Sequence[HistoryEntry]) -> IndexEntry:
    """The entry of a society whose page shows that document; `history` has at least its revision."""
    nights = shown_nights(history)
    headlines = [(entry.night, entry.measure(HEADLINE)) for entry in nights[-SPARK_NIGHTS:]]
    return IndexEntry(
        society=document.society,
        night=document.night,
        revision=document.revision,
        official=document.official,
        status=document.status,
        floors=document.floors,
        headline=document.measure(HEADLINE),
        eval=f"{document.society.slug}/eval/eval.json",
        finished_at=document.run.finished_at,
        since=nights[0].night,
        trend=[
            TrendPoint(night=night, value=None if headline is None else headline.value) for night, headline in headlines
        ],
        months=sorted({entry.night for entry in history if entry.pooled}),
    )


def read_index(content: bytes) -> dict[str, IndexEntry]:
    """The entries of index.json by society slug."""
    return {entry.society.slug: entry for entry in _INDEX.decode(content).societies}


def index_json(entries: Sequence[IndexEntry]) -> bytes:
    """The file's bytes, in the order given."""
    told = msgspec.json.encode(Index(schema_version=1, societies=list(entries)))
    return msgspec.json.format(told, indent=2) + b"\n"
